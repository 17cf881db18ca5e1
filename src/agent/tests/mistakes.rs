//! The model's mistakes, and how often it is told of them.

use super::*;

#[tokio::test]
async fn an_unknown_tool_is_corrected_with_the_nearest_names() {
    let rounds = [call("wether", &json!({"city": "Paris"})), weather("Paris"), "Sunny.".into()];
    let played = Scene::new(rounds).play().await;
    assert!(played.told(2).starts_with("unknown_tool"), "{}", played.told(2));
    assert!(played.told(2).ends_with("[\"weather\"]"), "{}", played.told(2));
    assert_eq!((played.ran, played.finished.answer.as_str()), (1, "Sunny."));
}

#[tokio::test]
async fn wrong_arguments_are_corrected_with_the_place() {
    let rounds = [call("weather", &json!({"town": "Paris"})), weather("Paris"), "Sunny.".into()];
    let played = Scene::new(rounds).play().await;
    assert!(played.told(2).starts_with("invalid_arguments") && played.told(2).contains("city"), "{}", played.told(2));
    assert_eq!(played.ran, 1);
}

#[tokio::test]
async fn arguments_are_coerced_before_they_run() {
    let played = Scene::new([call("wait", &json!({"ms": "1"})), "Done.".into()]).play().await;
    assert_eq!(played.told(2), "call_1 Result: waited 1");
}

#[tokio::test]
async fn corrections_are_capped() {
    let wrong = || call("wether", &json!({}));
    let played = Scene::new([wrong(), wrong(), wrong(), "never asked".into()]).play().await;
    assert_eq!(played.sent.len(), 3);
    let StopReason::CorrectionsUsedUp { corrections: 2, message } = &played.finished.reason else {
        panic!("{:?}", played.finished.reason)
    };
    assert!(message.contains("wether"), "{message}");
}

#[tokio::test]
async fn a_good_call_resets_the_corrections() {
    let wrong = || call("wether", &json!({}));
    let rounds = [wrong(), wrong(), weather("Paris"), wrong(), wrong(), "Sunny.".into()];
    assert_eq!(Scene::new(rounds).play().await.finished.answer, "Sunny.");
}

#[tokio::test]
async fn a_mistake_beside_a_good_call_goes_back_with_the_result() {
    let played =
        Scene::new([format!("{}\n{}", weather("Paris"), call("wether", &json!({}))), "Sunny.".into()]).play().await;
    let told: Vec<&str> = played.told(2).lines().collect();
    assert_eq!(told[0], "call_1 Result: sunny in Paris");
    assert!(told[1].starts_with("unknown_tool"));
}

#[tokio::test]
async fn a_call_cut_off_by_the_output_limit_is_told_so() {
    let half = Round::text(&weather("Paris")[..60]).with_finish(Finish::new(FinishReason::Length));
    let played = Scene::new([half, Round::text(weather("Paris")), Round::text("Sunny.")]).play().await;
    assert!(played.told(2).starts_with("truncated: the output limit was hit"), "{}", played.told(2));
    assert_eq!(played.ran, 1);
}

#[tokio::test]
async fn an_answer_cut_off_by_the_output_limit_says_so() {
    let half = Round::text("It is sun").with_finish(Finish::new(FinishReason::Length));
    let played = Scene::new([half]).play().await;
    assert_eq!((played.finished.reason, played.finished.answer.as_str()), (StopReason::OutputLimit, "It is sun"));
    assert!(played.finished.conversation.messages().next().unwrap().cut_off);
}

#[tokio::test]
async fn a_quoted_call_is_corrected_once() {
    let quoted = || format!("Try this:\n```\n{}\n```\nIt shows the weather.", weather("Paris"));
    let played = Scene::new([quoted(), quoted()]).play().await;
    assert!(played.told(2).starts_with("quoted"), "{}", played.told(2));
    assert_eq!((played.sent.len(), played.ran), (2, 0));
    assert_eq!(played.finished.reason, StopReason::Answered);
    assert_eq!(played.finished.answer, quoted());
}
