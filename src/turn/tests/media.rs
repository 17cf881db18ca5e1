//! Media in the results of tools, and the models that are shown them.

use super::*;
use crate::message::{Audio, Image, Message, NativeCall, Reads, Role};
use crate::outcome::{MEDIA_EVENT, MODEL_MEDIA, MODEL_MEDIUM_BYTES};
use crate::tools::ToolsMode;

fn png(bytes: usize) -> Image {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    png.resize(bytes.max(8), 7);
    Image::new(&png).unwrap()
}

fn messages(actions: &[Action]) -> Vec<Message> {
    let sent = actions.iter().find_map(|action| match action {
        Action::Send(request) => Some(request.messages.clone()),
        _ => None,
    });
    sent.expect("a request is sent")
}

/// Returns the messages of the request after calls with these outcomes.
fn shown(config: TurnConfig, outcomes: Vec<Outcome>) -> Vec<Message> {
    let native = config.tools_mode == ToolsMode::Native;
    let mut turn = started(config);
    if native {
        for n in 0..outcomes.len() {
            let call = NativeCall::new(
                format!("call_{}", n + 1),
                "demo__weather",
                json!({"city": n.to_string()}).as_object().unwrap(),
            );
            turn.handle(Input::Model(ModelEvent::Call(call))).unwrap();
        }
    } else {
        let calls: String = (0..outcomes.len()).map(|n| call("weather", &json!({"city": n.to_string()}))).collect();
        says(&mut turn, &calls);
    }
    let begun = ends(&mut turn);
    let ids: Vec<String> = calls(&begun).into_iter().map(str::to_owned).collect();
    assert_eq!(ids.len(), outcomes.len());
    let mut last = Vec::new();
    for (id, outcome) in ids.into_iter().zip(outcomes) {
        turn.handle(Input::Outcome { id, outcome }).unwrap();
        last = actions(&mut turn);
    }
    messages(&last)
}

fn reading() -> TurnConfig {
    TurnConfig { reads: Reads::default().with_images(true), ..allowing() }
}

fn natively(config: TurnConfig) -> TurnConfig {
    TurnConfig { tools_mode: ToolsMode::Native, ..config }
}

#[test]
fn a_picture_goes_to_a_model_that_reads_pictures_in_the_prompt_and_natively() {
    let image = png(100);
    let outcome = || vec![Outcome::result("a dot").with_image(&image)];
    let told = shown(reading(), outcome());
    let last = told.last().unwrap();
    assert_eq!((last.role, &last.images), (Role::User, &vec![image.clone()]));
    assert!(last.content.contains("a dot"));

    let told = shown(natively(reading()), outcome());
    let [.., result, picture] = &told[..] else { panic!("{told:?}") };
    assert_eq!((result.role, result.content.contains("a dot"), result.images.len()), (Role::Tool, true, 0));
    assert_eq!((picture.role, &picture.images), (Role::User, &vec![image.clone()]));
    assert_eq!(picture.content, "[image image/png, 100 B]");

    for config in [allowing(), natively(allowing())] {
        let told = shown(config, outcome());
        assert!(told.iter().all(|message| message.images.is_empty()), "nothing says that the model reads them");
        assert!(told.last().unwrap().content.contains("a dot"));
    }
}

#[test]
fn sound_goes_to_a_model_that_hears() {
    let audio = Audio::new(b"ID3\x04\x00").unwrap();
    let event = json!({"kind": "audio", "mimeType": "audio/mpeg", "data": audio.base64()});
    let outcome = || vec![Outcome::result("a bird").with_event(MEDIA_EVENT, event.clone())];
    let hears = TurnConfig { reads: Reads::default().with_audio(true), ..allowing() };
    assert_eq!(shown(hears, outcome()).last().unwrap().audio, vec![audio]);
    assert!(shown(reading(), outcome()).last().unwrap().audio.is_empty());
}

#[test]
fn a_request_shows_the_newest_within_its_budget_in_their_order() {
    let images: Vec<Image> = (0..MODEL_MEDIA + 3).map(|n| png(100 + n)).collect();
    let outcomes = images.iter().map(|image| Outcome::result("one").with_image(image)).collect();
    assert_eq!(shown(reading(), outcomes).last().unwrap().images, images[3..]);
    // Five of five megabytes are more than a request may hold.
    let large: Vec<Image> = (0..5).map(|_| png(MODEL_MEDIUM_BYTES)).collect();
    let outcomes = large.iter().map(|image| Outcome::result("one").with_image(image)).collect();
    assert_eq!(shown(reading(), outcomes).last().unwrap().images.len(), 4);
    let outcome = Outcome::result("huge").with_image(&png(MODEL_MEDIUM_BYTES + 1));
    assert!(shown(reading(), vec![outcome]).last().unwrap().images.is_empty());
}

#[test]
fn a_result_that_breaks_its_tool_s_output_schema_is_a_notice() {
    let schema = json!({"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]});
    let tool = Tool { output_schema: Some(schema), ..Tool::new("weather") };
    let catalog = Arc::new(Catalog::new([Server::new("demo").with_tools([tool])]));
    for (outcome, said) in [
        (Outcome::result("").with_structured(json!({"size": 3})), None),
        (Outcome::error("gone"), None),
        (Outcome::result("").with_structured(json!({"size": "big"})), Some("/size: expected integer")),
        (Outcome::result("").with_structured(json!({"size": "3"})), Some("coerced:/size")),
        (Outcome::result("3"), Some("there is no structured content")),
    ] {
        let setup = Arc::new(Setup::new(allowing(), Arc::new(Validator::new(catalog.clone())), Arc::new(Plain)));
        let mut turn = Turn::new(setup, "Size?".into(), Granted::new()).unwrap();
        actions(&mut turn);
        says(&mut turn, &call("weather", &json!({})));
        ends(&mut turn);
        turn.handle(Input::Outcome { id: "call_1".into(), outcome: outcome.clone() }).unwrap();
        let told = actions(&mut turn).into_iter().find_map(|action| match action {
            Action::Emit(AgentEvent::Notice { notice: notice @ CallerWarning::ResultMismatch { .. } }) => {
                Some(notice.to_string())
            }
            _ => None,
        });
        assert_eq!(told.is_some(), said.is_some(), "{outcome:?}: {told:?}");
        if let (Some(told), Some(said)) = (told, said) {
            assert!(told.contains("the result of demo.weather does not match") && told.contains(said), "{told}");
        }
    }
}
