mod display;
mod output;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::event::AskReason;
use super::read::{Judge, READ_ON};
use super::warning::CallerWarning;
use super::*;
use crate::conversation::{Answered, Replies};
use crate::dialect::Dialect;
use crate::event::{Call, Entry, Provenance, Rejected, RejectedKind};
use crate::message::{Delta, DeltaKind, ReasoningCalls, ReasoningMode};
use crate::model::{ModelEvent, Usage};
use crate::route::Invocation;
use crate::tools::{Annotations, Catalog, Decision, Definition, Policy, Resource, Server, Tool};
use crate::validate::Validator;

mod announced;
mod approval;
mod carry;
mod constrain;
mod context;
mod due;
mod invented;
mod left;
mod loops;
mod media;
mod native;
mod order;
mod origin;
mod provenance;
mod round_trip;
mod rounds;
mod stale;
mod suspend;
mod untagged;
mod ways;

/// Wording that only lists results, rejections and notes.
pub(crate) struct Plain;

impl Wording for Plain {
    fn system(&self, choice: &ToolChoice) -> String {
        format!("tools: {choice}")
    }

    fn replies(&self, replies: &Replies<'_>) -> Result<String, WordingError> {
        let mut lines: Vec<String> = Vec::new();
        lines.extend(replies.answered.iter().map(|a| format!("{} {:?}: {}", a.id, a.outcome.status, a.outcome.text)));
        lines.extend(replies.rejected.iter().map(|r| format!("{}: {} {:?}", r.kind, r.message, r.nearest)));
        lines.extend(replies.notes.iter().map(|n| (*n).to_owned()));
        Ok(lines.join("\n"))
    }

    fn note(&self, note: ModelNote<'_>) -> String {
        format!("{note:?}")
    }

    fn alone(
        &self,
        request: &str,
        made: &[Answered<'_>],
        _changes: bool,
        expected: Expected<'_>,
    ) -> Option<(Option<String>, String)> {
        let Expected::Text { of } = expected else { return None };
        let results: String = made.iter().map(|answered| format!("{}\n", answered.outcome.text)).collect();
        Some((None, format!("{results}{request} The text of {of}:")))
    }
}

pub(crate) fn call(tool: &str, arguments: &Value) -> String {
    format!(
        "<use_mcp_tool><server_name>demo</server_name><tool_name>{tool}</tool_name><arguments>{arguments}</arguments></use_mcp_tool>"
    )
}

pub(crate) fn setup(config: TurnConfig) -> Arc<Setup> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let reading = Annotations::default().with_read_only_hint(true);
    let tool = |name| Tool { annotations: Some(reading.clone()), ..Tool::new(name).with_schema(schema.clone()) };
    let tools = ["weather", "time"].map(tool);
    // In what order calls begin is a matter of `order` alone.
    let demo = Server::new("demo").with_tools(tools).with_parallel(true);
    let validator = Arc::new(Validator::new(Arc::new(Catalog::new([demo]))));
    Arc::new(Setup::new(config, validator, Arc::new(Plain)))
}

pub(crate) fn allowing() -> TurnConfig {
    TurnConfig { policy: Policy::new(Decision::Allow), reasons: Some(false), ..TurnConfig::default() }
}

/// Returns a turn whose first request was sent.
pub(crate) fn started(config: TurnConfig) -> Turn {
    let mut turn = Turn::new(setup(config), "Weather?".into(), Granted::new()).unwrap();
    let actions = actions(&mut turn);
    assert!(matches!(actions[..], [Action::Send(_), Action::Emit(AgentEvent::RoundStarted { round: 1, model: None })]));
    turn
}

/// Returns the actions of a turn whose endpoint reports nothing about its context.
pub(crate) fn actions(turn: &mut Turn) -> Vec<Action> {
    let mut all = Vec::new();
    while let Some(action) = turn.action() {
        match action {
            Action::AskContext(_) => turn.handle(Input::ContextWindow(None)).unwrap(),
            action => all.push(action),
        }
    }
    all
}

pub(crate) fn says(turn: &mut Turn, text: &str) -> Vec<Action> {
    turn.handle(Input::Model(ModelEvent::Delta(Delta { kind: DeltaKind::Content, text: text.into() }))).unwrap();
    actions(turn)
}

pub(crate) fn ends(turn: &mut Turn) -> Vec<Action> {
    turn.handle(Input::Model(ModelEvent::Finish(FinishReason::Stop))).unwrap();
    actions(turn)
}

pub(crate) fn paris() -> String {
    call("weather", &json!({"city": "Paris"}))
}

pub(crate) fn calls(actions: &[Action]) -> Vec<&str> {
    let mut ids = Vec::new();
    for action in actions {
        if let Action::Call(invocation) = action {
            ids.push(invocation.id.as_str());
        }
    }
    ids
}

fn cancels(actions: &[Action]) -> bool {
    actions.contains(&Action::CancelStream)
}

fn entry(index: u32, result: Result<(), RejectedKind>) -> Entry {
    let call = Call {
        server: Some("demo".into()),
        tool: "weather".into(),
        arguments: json!({"city": "Paris"}),
        raw_arguments: String::new(),
        dialect: Dialect::UseMcpTool,
        repairs: Vec::new(),
        provenance: crate::event::Provenance::Plain,
    };
    let result = match result {
        Ok(()) => Ok(call),
        Err(kind) => Err(Rejected {
            kind,
            raw: "raw".into(),
            message: "wrong".into(),
            server: None,
            tool: Some("weather".into()),
            nearest: Vec::new(),
            dialect: Dialect::UseMcpTool,
            call: None,
            quoted_in: None,
            in_text: false,
        }),
    };
    Entry { index, result, raw: "raw".into(), deltas: String::new(), restated: false, place: Provenance::Plain }
}

/// Returns the consequence of a message with one rejected call, `corrections` after the first mistake.
fn after_one(kind: RejectedKind, corrections: u32) -> Next {
    let shared = Shared { round: 1, corrections, ..Shared::new(setup(allowing()), Conversation::new(), None) };
    let message = message([entry(0, Err(kind))]);
    judge(&shared, &message, corrections > 0).next()
}

fn message(entries: impl IntoIterator<Item = Entry>) -> EndedMessage {
    let mut message = EndedMessage::default();
    message.entries.extend(entries);
    message
}

fn judge<'a>(shared: &'a Shared, message: &'a EndedMessage, told_once: bool) -> Judge<'a> {
    let finish = &FinishReason::Stop;
    Judge { shared, message, finish, blank: false, told_once, forged: None, announced: None }
}

#[test]
fn every_kind_has_its_row_and_each_row_holds() {
    use RejectedKind::*;
    let answered = Next::Finish(StopReason::Answered);
    let used_up = Next::Finish(StopReason::CorrectionsUsedUp { corrections: 2, message: "wrong".into() });
    let rows = [
        (InReasoning, answered.clone(), answered.clone()),
        (Invented, Next::Correct, answered.clone()),
        (Quoted, Next::Correct, answered.clone()),
        (AfterDamage, Next::Correct, used_up.clone()),
        (Limit, Next::Correct, used_up.clone()),
        (Truncated, Next::Correct, used_up.clone()),
        (Malformed, Next::Correct, used_up.clone()),
        (UnknownTool, Next::Correct, used_up.clone()),
        (InvalidArguments, Next::Correct, used_up),
        (NearCall, Next::Correct, answered),
    ];
    for (kind, first, later) in rows {
        assert_eq!(after_one(kind, 0), first, "{kind} at first");
        assert_eq!(after_one(kind, 2), later, "{kind} after two corrections");
    }
}

#[test]
fn a_quoted_call_is_corrected_only_alone_and_only_of_a_known_tool() {
    let shared = Shared { round: 1, ..Shared::new(setup(allowing()), Conversation::new(), None) };
    let next = |entries: Vec<Entry>| judge(&shared, &message(entries), false).next();
    let quoted = || entry(0, Err(RejectedKind::Quoted));
    let draft = entry(1, Err(RejectedKind::InReasoning));
    assert_eq!(next(vec![quoted(), draft]), Next::Correct);
    let two = vec![quoted(), entry(1, Err(RejectedKind::Quoted))];
    assert_eq!(next(two), Next::Finish(StopReason::Answered));
    let mut unknown = quoted();
    unknown.result.as_mut().unwrap_err().tool = Some("nothing".into());
    assert_eq!(next(vec![unknown]), Next::Finish(StopReason::Answered));
    let beside_a_call = message([quoted(), entry(1, Ok(()))]);
    let judge = judge(&shared, &beside_a_call, false);
    assert_eq!(judge.next(), Next::Run);
    assert!(!judge.corrects(&beside_a_call.entries[0]));
}

#[test]
fn a_near_call_is_corrected_once_and_stays_in_the_answer() {
    let mut turn = started(allowing());
    let near = "Let me look.\n<tol_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>";
    says(&mut turn, near);
    let actions = ends(&mut turn);
    let told = actions.iter().any(|action| {
        matches!(action, Action::Emit(AgentEvent::Correcting { kind: Some(RejectedKind::NearCall), .. }))
    });
    assert!(told, "{actions:?}");
    let request = actions.iter().find_map(|action| match action {
        Action::Send(request) => Some(request),
        _ => None,
    });
    let messages = &request.unwrap().messages;
    assert_eq!(messages[messages.len() - 2].content, near, "the history has it once");
    says(&mut turn, near);
    let actions = ends(&mut turn);
    let finished = actions.iter().find_map(|action| match action {
        Action::Finish(finished) => Some(finished),
        _ => None,
    });
    let finished = finished.unwrap();
    assert_eq!((&finished.reason, finished.answer.as_str()), (&StopReason::Answered, near));
}

#[test]
fn nothing_runs_before_the_message_is_over() {
    let mut turn = started(allowing());
    let streamed = says(&mut turn, &paris());
    assert!(calls(&streamed).is_empty());
    assert!(!cancels(&streamed));
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);
}

#[test]
fn further_calls_are_awaited_and_the_first_other_text_cancels() {
    let mut turn = started(allowing());
    assert!(!cancels(&says(&mut turn, &paris())));
    assert!(!cancels(&says(&mut turn, "\n\n")));
    assert!(!cancels(&says(&mut turn, &paris())));
    // What closes the first of several once more may follow: so much is read, and not shown.
    let after = says(&mut turn, "\nThe weather is ");
    assert!(!cancels(&after));
    let actions = says(&mut turn, &"sunny ".repeat(READ_ON / 6));
    assert!(cancels(&actions));
    assert_eq!(calls(&actions), ["call_1", "call_2"]);
    let actions = [after, actions].concat();
    let shown = |a: &Action| matches!(a, Action::Emit(AgentEvent::Text { text }) if text.contains("weather"));
    assert!(!actions.iter().any(shown));
}

#[test]
fn calls_that_may_be_text_of_the_first_are_withdrawn_while_more_is_read() {
    let mut turn = started(allowing());
    let cut_short = "<weather><city>Paris\n</city>\n</weather>";
    assert!(!cancels(&says(&mut turn, &format!("{cut_short}\n{}\nend of the page\n", paris()))));
    let withdrawn = says(&mut turn, "</city>\n</weather>");
    let is_withdrawn = |a: &&Action| matches!(a, Action::Emit(AgentEvent::CallRejected { rejected, .. }) if rejected.kind == RejectedKind::AfterDamage);
    assert_eq!(withdrawn.iter().filter(is_withdrawn).count(), 2);
    let ended = ends(&mut turn);
    assert_eq!(calls(&ended), [""; 0]);
    let corrects =
        |a: &Action| matches!(a, Action::Emit(AgentEvent::Correcting { kind: Some(RejectedKind::AfterDamage), .. }));
    assert!(ended.iter().any(corrects), "{ended:?}");
}

#[test]
fn calls_after_text_wait_for_the_next_round() {
    let mut turn = started(allowing());
    let actions = says(&mut turn, &format!("{} and {}", paris(), paris()));
    assert!(cancels(&actions));
    assert_eq!(calls(&actions), ["call_1"]);
}

#[test]
fn drained_messages_run_all_their_calls() {
    let mut turn = started(TurnConfig { after_call: AfterCall::Drain, ..allowing() });
    assert!(!cancels(&says(&mut turn, &format!("{} and then:\n{} and so on.", paris(), paris()))));
    assert_eq!(calls(&ends(&mut turn)), ["call_1", "call_2"]);
    assert!(!turn.shared.conversation.messages().next().unwrap().written().contains("so on"));
}

#[test]
fn a_model_that_may_reason_is_not_cancelled_before_a_think_tag() {
    let config = || TurnConfig { reasons: None, ..allowing() };
    let mut turn = started(config());
    assert!(!cancels(&says(&mut turn, &format!("{} Hm, let me think.", paris()))));
    // The tag makes a draft of the call.
    let actions = says(&mut turn, "</think>\nNo call is needed.");
    let reclassified = actions
        .iter()
        .any(|a| matches!(a, Action::Emit(AgentEvent::Reclassified { to: crate::event::Region::Reasoning })));
    assert!(reclassified);
    let actions = ends(&mut turn);
    let [.., Action::Finish(finished)] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!((finished.reason.clone(), finished.answer.as_str()), (StopReason::Answered, "No call is needed."));

    // Without a tag the message is cut all the same, only later.
    let mut turn = started(config());
    says(&mut turn, &format!("{} It is sunny. {}", paris(), paris()));
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);

    let mut turn = started(config());
    assert!(cancels(&says(&mut turn, &format!("<think>Hm.</think>{} It is sunny.", paris()))));
    let mut turn = started(TurnConfig { reasoning: ReasoningMode::Open, reasons: Some(true), ..allowing() });
    assert!(cancels(&says(&mut turn, &format!("Hm.</think>{} It is sunny.", paris()))));
}

#[test]
fn a_call_in_an_undecided_fence_is_not_cancelled() {
    let mut turn = started(allowing());
    let actions = says(&mut turn, &format!("```xml\n{}\n```\n", paris()));
    assert!(!cancels(&actions));
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);
}

#[test]
fn a_mistake_that_will_be_corrected_ends_the_message_too() {
    let mut turn = started(allowing());
    let wrong = call("wether", &json!({}));
    assert!(!cancels(&says(&mut turn, &wrong)));
    let actions = says(&mut turn, "The weather is fine.");
    assert!(cancels(&actions));
    let [.., Action::Send(request), _] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(request.messages[2].content, wrong);
    assert!(request.messages[3].content.contains("weather"), "{:?}", request.messages[3]);
}

#[test]
fn cancelling_tells_what_never_began_apart() {
    let mut turn = started(TurnConfig { policy: Policy::new(Decision::Ask), ..allowing() });
    says(&mut turn, &paris());
    assert!(ends(&mut turn).iter().any(|action| matches!(action, Action::Ask(_))));
    turn.handle(Input::Cancel).unwrap();
    let actions = actions(&mut turn);
    let outcome = actions.iter().find_map(|action| match action {
        Action::Emit(AgentEvent::Outcome { outcome, .. }) => Some((outcome.status, outcome.text.as_str())),
        _ => None,
    });
    assert_eq!(outcome, Some((Status::Cancelled, "NotBegun")));
}

#[test]
fn cancelling_answers_what_runs_and_keeps_what_was_said() {
    let mut turn = started(allowing());
    says(&mut turn, &paris());
    ends(&mut turn);
    turn.handle(Input::Cancel).unwrap();
    let actions = actions(&mut turn);
    let [Action::Emit(AgentEvent::Outcome { id, outcome }), Action::Finish(finished)] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert_eq!((id.as_str(), outcome.status), ("call_1", Status::Cancelled));
    assert_eq!(outcome.text, "Cancelled");
    assert_eq!(finished.reason, StopReason::Cancelled);
    assert!(finished.conversation.pending().next().is_none());
    assert_eq!(turn.handle(Input::Cancel).unwrap_err(), TurnError::Over);
}

#[test]
fn cancelling_in_mid_message_runs_nothing() {
    let mut turn = started(allowing());
    says(&mut turn, &format!("Let me look. {}", paris()));
    says(&mut turn, "<use_mcp_tool><server_name>demo</ser");
    turn.handle(Input::Cancel).unwrap();
    let actions = actions(&mut turn);
    assert!(cancels(&actions));
    assert!(calls(&actions).is_empty());
    let Some(Action::Finish(finished)) = actions.last() else { panic!("{actions:?}") };
    assert_eq!(finished.answer, "Let me look.");
    let message = finished.conversation.messages().next().unwrap();
    assert!(message.cut_off);
    assert_eq!(message.calls().count(), 1);
    assert!(finished.conversation.pending().next().is_none());
}

#[test]
fn input_that_was_not_asked_for_is_refused() {
    let mut turn = started(allowing());
    let outcome = || Input::Outcome { id: "call_1".into(), outcome: Outcome::result("x") };
    assert!(matches!(turn.handle(outcome()).unwrap_err(), TurnError::OutOfOrder { .. }));
    says(&mut turn, &format!("{}{}", paris(), paris()));
    ends(&mut turn);
    let late = Input::Model(ModelEvent::Finish(FinishReason::Stop));
    assert!(matches!(turn.handle(late).unwrap_err(), TurnError::OutOfOrder { .. }));
    turn.handle(outcome()).unwrap();
    assert_eq!(turn.handle(outcome()).unwrap_err(), TurnError::NotRunning { id: "call_1".into() });
    let nothing = Turn::new(setup(allowing()), Conversation::new(), Granted::new());
    assert_eq!(nothing.unwrap_err(), TurnError::NothingToAnswer);
}

#[test]
fn events_survive_json() {
    let mut turn = started(allowing());
    let mut seen = says(&mut turn, &format!("<think>Hm.</think>Look:\n{}{}", paris(), call("wether", &json!({}))));
    seen.extend(ends(&mut turn));
    let events: Vec<AgentEvent> = seen
        .into_iter()
        .filter_map(|action| match action {
            Action::Emit(event) => Some(event),
            _ => None,
        })
        .collect();
    assert!(events.len() > 6, "{events:?}");
    let text = serde_json::to_string(&events).unwrap();
    assert_eq!(serde_json::from_str::<Vec<AgentEvent>>(&text).unwrap(), events);
    assert!(text.contains(r#"{"type":"call_running","id":"call_1","server":"demo","tool":"weather""#), "{text}");
}

#[test]
fn notices_survive_json_and_end_with_a_remedy() {
    let notices = [
        CallerWarning::PromptCut { sent: 11_289, read: 4_096 },
        CallerWarning::HistoryLeftOut { rounds: 3, questions: 1, results: 0, context: 8_192, remedy: None },
    ];
    for notice in notices {
        let event = AgentEvent::Notice { notice: notice.clone() };
        let text = serde_json::to_string(&event).unwrap();
        assert!(text.starts_with(r#"{"type":"notice","notice":{"kind":""#), "{text}");
        assert_eq!(serde_json::from_str::<AgentEvent>(&text).unwrap(), event);
        assert!(notice.to_string().contains("in fewer tokens"), "{notice}");
    }
    let left_out =
        CallerWarning::HistoryLeftOut { rounds: 1, questions: 0, results: 2, context: 100, remedy: None }.to_string();
    assert!(left_out.contains("1 message of the model, 2 results were left out"), "{left_out}");
}

/// Returns the state after a first message: history, calls that run, the reason why the turn ended.
fn left(config: &TurnConfig, deltas: &[&str]) -> (String, Vec<Invocation>, Option<(StopReason, String)>) {
    let mut turn = started(config.clone());
    let mut seen = Vec::new();
    for text in deltas {
        seen.extend(says(&mut turn, text));
        if cancels(&seen) {
            break;
        }
    }
    if !cancels(&seen) {
        seen.extend(ends(&mut turn));
    }
    let mut calls = Vec::new();
    let mut over = None;
    let mut history = serde_json::to_string(&turn.shared.conversation).unwrap();
    for action in seen {
        match action {
            Action::Call(call) => calls.push(call),
            Action::Finish(finished) => {
                history = serde_json::to_string(&finished.conversation).unwrap();
                over = Some((finished.reason, finished.answer));
            }
            _ => {}
        }
    }
    (history, calls, over)
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "<think>",
        "</think>",
        "\n",
        " ",
        "It is sunny.",
        "天气很好。",
        "```xml\n",
        "```\n",
        "TYPE: MCP\n",
        "TYPE: ANSWER\n",
        "{\"tool_name\": \"time\", \"parameters\": {\"city\": \"Rome\"}}\n",
        "<weather><city>Oslo</city></weather>",
        "<use_mcp_tool>",
        "</use_mcp_tool>",
    ];
    let calls = [paris(), call("wether", &json!({})), call("time", &json!({"city": 5})), call("time", &json!([]))];
    proptest::sample::select(fixed.map(str::to_owned).into_iter().chain(calls).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_turn_does_not_depend_on_how_its_message_is_cut(
        pieces in proptest::collection::vec(piece(), 1..10),
        size in 1_usize..20,
        mode in proptest::sample::select(vec![ReasoningMode::Auto, ReasoningMode::Open, ReasoningMode::Off]),
        policy in proptest::sample::select(vec![
            ReasoningCalls::Ignore, ReasoningCalls::LastResort, ReasoningCalls::Allow,
        ]),
        reasons in proptest::sample::select(vec![None, Some(true), Some(false)]),
        drain in any::<bool>(),
    ) {
        let after_call = if drain { AfterCall::Drain } else { AfterCall::Cancel };
        let config = TurnConfig { reasoning: mode, reasoning_calls: policy, reasons, after_call, ..allowing() };
        let text = pieces.concat();
        let chars: Vec<String> = text.chars().map(String::from).collect();
        let cut: Vec<String> = chars.chunks(size).map(<[String]>::concat).collect();
        let cut: Vec<&str> = cut.iter().map(String::as_str).collect();
        prop_assert_eq!(left(&config, &[&text]), left(&config, &cut));
    }
}
