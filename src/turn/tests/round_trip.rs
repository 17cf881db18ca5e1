//! A tool's text reaches the model byte for byte, and comes back in the arguments of a model that repeats it.

use toolgraft_testkit::nasty::NASTY;

use super::*;
use crate::conversation::Conversation;
use crate::dialect::{Lang, PromptStyle, write_call};
use crate::message::{Message, NativeCall};
use crate::outcome::{self, break_tokens, control_tokens};
use crate::prompt::Options;
use crate::tools::ToolsMode;

const TAUGHT: [Dialect; 3] = [Dialect::UseMcpTool, Dialect::ToolTag, Dialect::TypeMarker];

fn spoken(dialect: Dialect, style: PromptStyle, lang: Lang, mode: ToolsMode) -> Arc<Setup> {
    let of = |names: &[&str]| {
        let properties: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": properties, "required": names})
    };
    let tools =
        [Tool::new("read").with_schema(of(&["path"])), Tool::new("write").with_schema(of(&["path", "content"]))];
    let catalog = Arc::new(Catalog::from_tools(tools));
    let config = TurnConfig { tools_mode: mode, ..allowing() };
    let options = Options { dialect, style, lang, ..Options::default() };
    let wording = PromptWording::new(catalog.clone(), &options, &config).unwrap();
    Arc::new(Setup::new(config, Arc::new(Validator::new(catalog)), Arc::new(wording)))
}

fn calls_tool(turn: &mut Turn, setup: &Setup, tool: &str, arguments: &Value) -> Vec<Action> {
    let arguments = arguments.as_object().unwrap();
    match setup.config.tools_mode {
        ToolsMode::Native => {
            let call = NativeCall::new(format!("native_{tool}"), tool, arguments);
            turn.handle(Input::Model(ModelEvent::Call(NativeCall { id: None, ..call }))).unwrap();
        }
        _ => drop(says(turn, &write_call(setup.wording().dialect(), None, tool, arguments))),
    }
    ends(turn)
}

fn request(actions: &[Action]) -> &[Message] {
    let sent = actions.iter().find_map(|action| match action {
        Action::Send(request) => Some(&request.messages),
        _ => None,
    });
    sent.unwrap_or_else(|| panic!("{actions:?}"))
}

/// Returns the text in the only result's frame of a message.
fn framed(message: &str) -> Option<&str> {
    let after = message.split_once(" end=\"")?.1;
    let (code, after) = after.split_once("\">\n")?;
    Some(after.split_once(&format!("\n</tool_result {code}>"))?.0)
}

/// Returns a result as the model is shown it, and the arguments of a model that repeats this text.
fn comes_back(setup: &Arc<Setup>, text: &str) -> (String, String) {
    let mut turn = Turn::new(setup.clone(), "Copy a.".into(), Granted::new()).unwrap();
    actions(&mut turn);
    calls_tool(&mut turn, setup, "read", &json!({"path": "a"}));
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result(text) }).unwrap();
    let sent = actions(&mut turn);
    let told = &request(&sent).last().unwrap().content;
    let shown = match setup.config.tools_mode {
        ToolsMode::Native => told.clone(),
        _ => match framed(told) {
            Some(shown) => shown.to_owned(),
            // One line of the compact style; nothing at all.
            None => told
                .split_once("Result: ")
                .map(|(_, after)| after.split("\n\nI asked: ").next().unwrap_or_default().to_owned())
                .unwrap_or_default(),
        },
    };
    let done = calls_tool(&mut turn, setup, "write", &json!({"path": "b", "content": shown}));
    let written = done.iter().find_map(|action| match action {
        Action::Call(call) => Some(call.arguments["content"].as_str().unwrap().to_owned()),
        _ => None,
    });
    (shown, written.unwrap_or_else(|| panic!("{text:?}: {done:?}")))
}

#[test]
fn a_result_that_is_repeated_is_the_argument() {
    assert!(NASTY.len() >= 140, "{}", NASTY.len());
    let mut wrong = Vec::new();
    for dialect in TAUGHT {
        for (style, lang, mode) in [
            (PromptStyle::Full, Lang::En, ToolsMode::Prompt),
            (PromptStyle::Full, Lang::Zh, ToolsMode::Prompt),
            (PromptStyle::Compact, Lang::En, ToolsMode::Prompt),
            (PromptStyle::Full, Lang::En, ToolsMode::Native),
        ] {
            let setup = spoken(dialect, style, lang, mode);
            for text in NASTY {
                let (shown, written) = comes_back(&setup, text);
                if shown != *break_tokens(text) || written != *text {
                    wrong.push(format!("{dialect} {style:?} {mode:?} {text:?}: {shown:?}, {written:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns a strategy for texts made of pieces of the table `NASTY` and of delimiters.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => prop::sample::select(NASTY).prop_map(str::to_owned),
        1 => "[<\\[\\]|>/a\u{2060}\n &;{}\"'`\\\\=!-]{0,6}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_result_that_is_repeated_is_the_argument(text in texts(), at in 0..3_usize, native in any::<bool>()) {
        let mode = if native { ToolsMode::Native } else { ToolsMode::Prompt };
        let setup = spoken(TAUGHT[at], PromptStyle::Full, Lang::En, mode);
        let (shown, written) = comes_back(&setup, &text);
        prop_assert_eq!(&shown, &*break_tokens(&text));
        prop_assert_eq!(written, text);
    }
}

#[test]
fn what_was_sent_before_a_round_is_sent_again() {
    for dialect in TAUGHT {
        let setup = spoken(dialect, PromptStyle::Full, Lang::En, ToolsMode::Prompt);
        let mut turn = Turn::new(setup.clone(), "Copy <|im_end|>.".into(), Granted::new()).unwrap();
        let mut before = request(&actions(&mut turn)).to_vec();
        for (n, text) in ["<|im_start|>x\n", "two\n\nlines", ""].into_iter().enumerate() {
            calls_tool(&mut turn, &setup, "read", &json!({"path": format!("{n}<|im_end|>")}));
            let id = format!("call_{}", n + 1);
            turn.handle(Input::Outcome { id, outcome: Outcome::result(text) }).unwrap();
            let sent = actions(&mut turn);
            let now = request(&sent).to_vec();
            let (last, same) = before.split_last().unwrap();
            assert_eq!(same, &now[..same.len()]);
            // Of the last one what is said for now is left out, at its end.
            let kept = &now[same.len()].content;
            assert!(last.content.starts_with(kept.as_str()), "{}\n---\n{kept}", last.content);
            assert!(now.iter().all(|message| !message.content.contains("<|im_")), "{now:#?}");
            before = now;
        }
    }
}

#[test]
fn an_answer_that_repeats_a_token_is_whole() {
    let setup = spoken(Dialect::UseMcpTool, PromptStyle::Full, Lang::En, ToolsMode::Prompt);
    let mut turn = Turn::new(setup, Conversation::from_user("What?"), Granted::new()).unwrap();
    actions(&mut turn);
    let mut told = String::new();
    let mut hear = |actions: &[Action]| {
        for action in actions {
            if let Action::Emit(AgentEvent::Text { text }) = action {
                told.push_str(text);
            }
        }
    };
    for piece in ["It ends with <", "\u{2060}", "|im_", "end|> and \u{2060}[\u{2060}INST", "]."] {
        hear(&says(&mut turn, piece));
    }
    let end = ends(&mut turn);
    hear(&end);
    let whole = "It ends with <|im_end|> and \u{2060}[INST].";
    assert_eq!(told, whole);
    let finished = end.into_iter().find_map(|action| match action {
        Action::Finish(finished) => Some(finished),
        _ => None,
    });
    assert_eq!(finished.unwrap().answer, whole);
}

/// Returns texts that together contain every control token, each with at most 40 of them.
fn hostile() -> Vec<String> {
    let tokens: Vec<&str> = control_tokens().collect();
    tokens.chunks(40).map(|some| some.join(" x ")).collect()
}

/// Returns a server with these words in all its texts.
fn hostile_server(words: &str) -> Server {
    let schema = json!({"type": "object", "title": words, "description": words, "properties": {
        words: {"type": "string", "title": words, "description": words, "enum": [words], "default": words},
        "list": {"type": "array", "description": words, "items": {"type": "string", "enum": [words], "examples": [words]}},
        "nested": {"type": "object", "properties": {words: {"type": "string", "const": words, "pattern": words}}},
    }});
    let mut tool = Tool::new(words).with_description(words).with_schema(schema.clone());
    tool.title = Some(words.to_owned());
    let resource = Resource {
        uri: format!("a://{words}"),
        name: words.into(),
        description: Some(words.into()),
        mime_type: Some(words.into()),
        ..Resource::default()
    };
    let mut read = Tool::new("read").with_schema(json!({"type": "object", "properties": {"path": {"type": "string"}}}));
    read.annotations = Some(Annotations::default().with_read_only_hint(true));
    Server {
        name: Some(format!("s {words}")),
        instructions: Some(words.to_owned()),
        tools: vec![tool, Tool::new("titled").with_schema(schema), read],
        resources: vec![resource],
        ..Server::default()
    }
}

#[test]
fn no_foreign_text_holds_a_whole_control_token() {
    use crate::prompt::Listing;

    for words in hostile() {
        let catalog = Arc::new(Catalog::new([hostile_server(&words)]));
        for mode in [ToolsMode::Prompt, ToolsMode::Native] {
            for (dialect, listing) in TAUGHT.into_iter().zip([Listing::Signature, Listing::Schema, Listing::Index]) {
                let config = TurnConfig { tools_mode: mode, ..allowing() };
                for style in [PromptStyle::Full, PromptStyle::Compact] {
                    if mode == ToolsMode::Native && style == PromptStyle::Compact {
                        continue;
                    }
                    let options = Options { dialect, listing, style, ..Options::default() };
                    let wording = PromptWording::new(catalog.clone(), &options, &config).unwrap();
                    let setup = Arc::new(Setup::new(
                        config.clone(),
                        Arc::new(Validator::new(catalog.clone())),
                        Arc::new(wording),
                    ));
                    let said =
                        format!("{words}\n{}", outcome::framed("file", &format!(" name={}", json!(words)), "", &words));
                    let mut turn = Turn::new(setup.clone(), said.as_str().into(), Granted::new()).unwrap();
                    let mut sent = actions(&mut turn);
                    for id in ["call_1", "call_2"] {
                        calls_tool(&mut turn, &setup, "read", &json!({"path": words}));
                        turn.handle(Input::Outcome { id: id.into(), outcome: Outcome::error(words.as_str()) }).unwrap();
                        sent.extend(actions(&mut turn));
                    }
                    // A call in vain, told again with what was wrong.
                    calls_tool(&mut turn, &setup, "gone", &json!({"path": words}));
                    sent.extend(actions(&mut turn));
                    let mut broken = 0;
                    for action in &sent {
                        let Action::Send(request) = action else { continue };
                        let tools = serde_json::to_string(&request.tools).unwrap();
                        let texts = request.messages.iter().flat_map(|message| {
                            let calls = message.calls.iter().map(|call| call.arguments.as_str());
                            calls.chain([message.content.as_str()]).collect::<Vec<_>>()
                        });
                        for text in texts.chain([tools.as_str()]) {
                            let whole = control_tokens().find(|token| text.contains(token));
                            broken += text.matches(outcome::BREAK).count();
                            assert_eq!(whole, None, "{mode:?} {dialect} {listing:?} {style:?}: {text}");
                        }
                    }
                    assert!(broken > 300, "they are there: {broken}");
                }
            }
        }
    }
}
