//! The result of a tool, on its way to the model and back.
//!
//! A tool returns the text; the model reads it and copies it into the arguments of its next call.
//! The model reads the text itself, except that control tokens of chat templates are defused; the
//! argument must be the original text. The first byte selects the syntax of calls, the second the
//! cuts of the model's messages.

#![cfg_attr(fuzzing, no_main)]

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};
use toolgraft::dialect::write_call;
use toolgraft::message::{Delta, FinishReason, NativeCall};
use toolgraft::model::ModelEvent;
use toolgraft::outcome::{break_tokens, restore_tokens};
use toolgraft::prompt::Options;
use toolgraft::tools::{Decision, ToolsMode};
use toolgraft::turn::{Action, Granted, Input, PromptWording, Setup, Turn, TurnConfig};
use toolgraft::validate::Validator;
use toolgraft::{Catalog, Dialect, Outcome, Policy, Tool};

/// Longer inputs only cost the fuzzer time.
const LONGEST: usize = 1 << 10;

/// The syntax of calls; `None` for a separate field.
const WRITTEN: [Option<Dialect>; 4] =
    [Some(Dialect::UseMcpTool), Some(Dialect::ToolTag), Some(Dialect::TypeMarker), None];

static SETUPS: LazyLock<Vec<Arc<Setup>>> = LazyLock::new(|| WRITTEN.map(setup).to_vec());

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz(data));

/// Tests one input.
pub(crate) fn fuzz(data: &[u8]) {
    let [written, seed, text @ ..] = data else { return };
    let at = usize::from(*written) % WRITTEN.len();
    let text = String::from_utf8_lossy(&text[..text.len().min(LONGEST)]);
    assert_eq!(restore_tokens(&break_tokens(&text)), text);
    let mut model = Model {
        turn: Turn::new(SETUPS[at].clone(), "Copy a.".into(), Granted::new()).expect("there is a question"),
        dialect: WRITTEN[at],
        piece: 1 + usize::from(*seed),
    };
    model.actions();
    let asked = model.calls("read", json!({"path": "a"}));
    assert!(asked.iter().any(|action| matches!(action, Action::Call(_))), "{asked:?}");
    let said = Input::Outcome { id: "call_1".into(), outcome: Outcome::result(&*text) };
    model.turn.handle(said).expect("the call runs");
    let shown = shown(&model.actions(), model.dialect.is_some());
    assert_eq!(shown, break_tokens(&text), "what the model is shown");
    let called = model.calls("write", json!({"path": "b", "content": shown}));
    let copied = called.iter().find_map(|action| match action {
        Action::Call(call) => call.arguments.get("content"),
        _ => None,
    });
    assert_eq!(copied.and_then(Value::as_str), Some(&*text), "what the model copies: {called:?}");
}

fn setup(dialect: Option<Dialect>) -> Arc<Setup> {
    let of = |names: &[&str]| {
        let properties: Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": properties, "required": names})
    };
    let tools =
        [Tool::new("read").with_schema(of(&["path"])), Tool::new("write").with_schema(of(&["path", "content"]))];
    let catalog = Arc::new(Catalog::from_tools(tools));
    let mut config = TurnConfig::default().with_policy(Policy::new(Decision::Allow));
    config.reasons = Some(false);
    config.tools_mode = if dialect.is_some() { ToolsMode::Prompt } else { ToolsMode::Native };
    let mut options = Options::default();
    options.dialect = dialect.unwrap_or(options.dialect);
    let wording = PromptWording::new(catalog.clone(), &options, &config).expect("the tools can be described");
    Arc::new(Setup::new(config, Arc::new(Validator::new(catalog)), Arc::new(wording)))
}

/// A turn and its model.
struct Model {
    turn: Turn,
    dialect: Option<Dialect>,
    /// Approximate length of a chunk of its messages, in bytes.
    piece: usize,
}

impl Model {
    fn actions(&mut self) -> Vec<Action> {
        let mut all = Vec::new();
        while let Some(action) = self.turn.action() {
            match action {
                Action::AskContext(_) => self.hears(Input::ContextWindow(None)),
                action => all.push(action),
            }
        }
        all
    }

    fn hears(&mut self, input: Input) {
        self.turn.handle(input).expect("the turn waits for it");
    }

    /// Sends a message that is one call, to its end.
    fn calls(&mut self, tool: &str, arguments: Value) -> Vec<Action> {
        let arguments = arguments.as_object().expect("arguments are an object");
        match self.dialect {
            None => {
                let mut call = NativeCall::new("", tool, arguments);
                call.id = None;
                self.hears(Input::Model(ModelEvent::Call(call)));
            }
            Some(dialect) => {
                let message = write_call(dialect, None, tool, arguments);
                let mut rest = message.as_str();
                while !rest.is_empty() {
                    let end = (self.piece.min(rest.len())..rest.len())
                        .find(|at| rest.is_char_boundary(*at))
                        .unwrap_or(rest.len());
                    self.hears(Input::Model(ModelEvent::Delta(Delta::content(&rest[..end]))));
                    rest = &rest[end..];
                }
            }
        }
        let mut actions = self.actions();
        self.hears(Input::Model(ModelEvent::Finish(FinishReason::Stop)));
        actions.extend(self.actions());
        actions
    }
}

/// Returns the text of the only result in the last message.
fn shown(actions: &[Action], is_framed: bool) -> String {
    let told = actions.iter().find_map(|action| match action {
        Action::Send(request) => request.messages.last().map(|message| message.content.clone()),
        _ => None,
    });
    let told = told.unwrap_or_else(|| panic!("nothing is sent: {actions:?}"));
    if !is_framed {
        return told;
    }
    let framed = || {
        let (code, rest) = told.split_once(" end=\"")?.1.split_once("\">\n")?;
        let (text, _) = rest.split_once(&format!("</tool_result {code}>"))?;
        // An empty result has no line.
        Some(text.strip_suffix('\n').unwrap_or_default().to_owned())
    };
    framed().unwrap_or_else(|| panic!("no frame: {told}"))
}
