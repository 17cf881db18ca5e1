//! Structured output from the prompt to the value.

use super::*;
use crate::dialect::{Dialect, Lang};
use crate::prompt::Options;
use crate::validate::OutputSchema;

fn schema() -> OutputSchema {
    let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "properties": {"city": {"type": "string"}, "degrees": {"type": "number"}}, "required": ["city", "degrees"]});
    OutputSchema::new(schema).unwrap()
}

#[tokio::test]
async fn the_prompt_shows_schema_and_example_and_the_value_comes_back_in_every_taught_dialect() {
    for dialect in Dialect::taught() {
        for (lang, form, wrong, problem) in [
            (Lang::En, "# Form of the answer", "was not accepted", "there is no JSON value in the answer"),
            (Lang::Zh, "# 回答的格式", "没有被接受", "回答中没有 JSON 值"),
        ] {
            let mark = if dialect == Dialect::TypeMarker { "TYPE: ANSWER\n" } else { "" };
            let rounds = ["It is warm.", "{\"city\": \"Oslo\", \"degrees\": 21}"];
            let model = Arc::new(Recorded::new(rounds.map(|text| Round::text(format!("{mark}{text}")))));
            let options = Options { dialect, lang, ..Options::default() };
            let agent = Agent::builder(model.clone(), tools().0).prompt(options).output(schema()).build();
            let finished = agent.run("Weather?").unwrap().finish().await;
            assert_eq!(finished.output, Some(json!({"city": "Oslo", "degrees": 21})), "{dialect} {lang}");
            let requests = model.requests();
            let system = &requests[0].messages[0].content;
            assert!(system.contains(form) && system.contains(r#"{"type":"object","properties""#), "{system}");
            assert!(!system.contains("$schema") && system.contains(r#"{"city":"city-1","degrees":"#), "{system}");
            let told = &requests[1].messages.last().unwrap().content;
            assert!(told.contains(wrong) && told.contains(problem), "{told}");
        }
    }
}

#[tokio::test]
async fn one_turn_may_have_a_schema_of_its_own() {
    let model = Recorded::new(["Hello!", "7", "[1]"].map(Round::text));
    let agent = Agent::builder(model, Functions::unnamed()).build();
    let run = |options| agent.run_with("Hi", options).unwrap().finish();
    assert_eq!(run(RunOptions::default()).await.output, None);
    let wanted = |kind: &str| RunOptions::default().output(OutputSchema::new(json!({"type": kind})).unwrap());
    assert_eq!(run(wanted("integer")).await.output_as::<u8>().unwrap(), 7);
    assert_eq!(run(wanted("array")).await.output_as::<Vec<u8>>().unwrap(), [1]);
}
