//! Tools listed by name only, and the built-in tool that describes them: the whole way through an
//! agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use serde_json::{Map, Value, json};
use toolgraft::agent::{AgentBuilder, Finished, StopReason};
use toolgraft::dialect::{Lang, write_call};
use toolgraft::outcome::Status;
use toolgraft::prompt::{Listing, Options, Prompt};
use toolgraft::route::Toolboxes;
use toolgraft::tools::{BuiltIn, Decision, ToolChoice};
use toolgraft::transcript::{Recorded, Round};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, AgentEvent, Catalog, Dialect, Functions, Outcome, Policy, Tool};

fn call(dialect: Dialect, server: Option<&str>, tool: &str, arguments: &Value) -> String {
    write_call(dialect, server, tool, arguments.as_object().unwrap())
}

/// Returns `send_mail(to, subject?)` of the server `mail`, which counts its runs in `ran`.
fn mail(ran: &Arc<AtomicUsize>) -> Functions {
    let schema = json!({
        "type": "object", "required": ["to"],
        "properties": {"to": {"type": "string", "description": "An address that we know."}, "subject": {"type": "string"}},
    });
    let tool = Tool::new("send_mail").with_description("Sends a letter. It cannot be called back.").with_schema(schema);
    let ran = ran.clone();
    Functions::new("mail").with(tool, move |_: Map<String, Value>| {
        ran.fetch_add(1, Ordering::Relaxed);
        async { Ok::<_, String>("sent") }
    })
}

struct Scene {
    model: Arc<Recorded>,
    ran: Arc<AtomicUsize>,
    builder: AgentBuilder,
}

struct Played {
    model: Arc<Recorded>,
    events: Vec<AgentEvent>,
    finished: Finished,
    ran: usize,
}

impl Scene {
    fn new(dialect: Dialect, rounds: &[String]) -> Self {
        Scene::in_lang(dialect, Lang::En, rounds)
    }

    fn in_lang(dialect: Dialect, lang: Lang, rounds: &[String]) -> Self {
        let model = Arc::new(Recorded::new(rounds.iter().map(|text| Round::text(text.as_str()))));
        let ran = Arc::new(AtomicUsize::new(0));
        let options = Options::default().with_dialect(dialect).with_lang(lang).with_listing(Listing::Index);
        let config = TurnConfig::default().with_policy(Policy::new(Decision::Deny).allow("mail/*"));
        let builder = Agent::builder(model.clone(), mail(&ran)).config(config).prompt(options);
        Scene { model, ran, builder }
    }

    fn policy(mut self, policy: Policy) -> Self {
        self.builder = self.builder.policy(policy);
        self
    }

    async fn play(self) -> Played {
        let events: Vec<AgentEvent> = self.builder.build().run("Write to Ann.").unwrap().collect().await;
        let Some(AgentEvent::Finished(finished)) = events.last().cloned() else { panic!("{events:?}") };
        Played { model: self.model, events, finished: *finished, ran: self.ran.load(Ordering::Relaxed) }
    }
}

impl Played {
    /// Returns the last message before round `n`, from 1.
    fn told(&self, n: usize) -> String {
        self.model.requests()[n - 1].messages.last().unwrap().content.clone()
    }

    fn system(&self) -> String {
        self.model.requests()[0].messages[0].content.clone()
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let outcome = |event: &AgentEvent| match event {
            AgentEvent::Outcome { outcome, .. } => Some(outcome.clone()),
            _ => None,
        };
        self.events.iter().filter_map(outcome).collect()
    }
}

fn answer(dialect: Dialect) -> String {
    match dialect {
        Dialect::TypeMarker => "TYPE: ANSWER\nDone.".to_owned(),
        _ => "Done.".to_owned(),
    }
}

fn server(dialect: Dialect) -> Option<&'static str> {
    (dialect == Dialect::UseMcpTool).then_some("mail")
}

#[tokio::test]
async fn a_tool_is_looked_up_and_then_called_in_every_dialect() {
    for (dialect, lang) in Dialect::taught().flat_map(|d| Lang::ALL.iter().map(move |l| (d, *l))) {
        let ask = call(dialect, None, "describe_tool", &json!({"tool": "send_mail"}));
        let send = call(dialect, server(dialect), "send_mail", &json!({"to": "ann@example.com"}));
        // Only the taught tool is used: the policy does not know built-in tools and denies unknown
        // ones.
        let played = Scene::in_lang(dialect, lang, &[ask.clone(), send, answer(dialect)]).play().await;
        let system = played.system();
        assert!(system.contains("- send_mail") && !system.contains("subject"), "{system}");
        assert!(system.contains(&ask), "the prompt shows this very call: {system}");
        let told = played.told(2);
        assert!(told.contains("send_mail(to: string, subject?: string)"), "{dialect}: {told}");
        assert!(told.contains("It cannot be called back.") && told.contains("An address that we know."), "{told}");
        assert!(!told.contains("\\send_mail"), "{told}");
        assert!(played.told(3).contains("sent"));
        assert_eq!((played.ran, played.finished.calls), (1, 2), "{dialect}");
        assert_eq!(played.finished.reason, StopReason::Answered);
        assert_eq!(played.outcomes().iter().map(|o| o.status).collect::<Vec<_>>(), [Status::Result; 2]);
        assert!(
            !played.events.iter().any(|e| matches!(e, AgentEvent::ApprovalAsked(_) | AgentEvent::CallRejected { .. }))
        );
    }
}

#[tokio::test]
async fn a_budget_brings_the_look_up_where_it_shortens_the_list() {
    let dialect = Dialect::UseMcpTool;
    let ask = call(dialect, None, "describe_tool", &json!({"tool": "send_mail"}));
    for (budget, index) in [(20, true), (10_000, false)] {
        let mut scene = Scene::new(dialect, &[ask.clone(), answer(dialect)]);
        let options = Options::default().with_tool_budget(budget).with_listing(Listing::Schema);
        scene.builder = scene.builder.prompt(options);
        let played = scene.play().await;
        let system = played.system();
        assert_eq!((system.contains("- send_mail"), system.contains("describe_tool")), (index, index), "{system}");
        assert!(played.told(2).contains("Input schema: {\"type\":\"object\""), "{}", played.told(2));
    }
}

#[tokio::test]
async fn the_look_up_is_told_as_other_calls_are() {
    let dialect = Dialect::UseMcpTool;
    let ask = call(dialect, None, "describe_tool", &json!({"tool": "send_mail"}));
    let played = Scene::new(dialect, &[ask, answer(dialect)]).play().await;
    let kind = |event: &AgentEvent| serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned();
    let calls: Vec<String> =
        played.events.iter().map(kind).filter(|k| k.starts_with("call_") || k == "outcome").collect();
    assert_eq!(calls, ["call_started", "call_ended", "call_running", "outcome"]);
    assert!(played.finished.conversation.answered().iter().any(|a| a.call.tool == "describe_tool"));
}

#[tokio::test]
async fn a_misspelt_name_is_answered_with_the_nearest() {
    for dialect in Dialect::taught() {
        let ask = call(dialect, None, "describe_tool", &json!({"tool": "send_mial"}));
        let played = Scene::new(dialect, &[ask, answer(dialect)]).play().await;
        assert_eq!(played.outcomes()[0].status, Status::ToolError);
        let told = played.told(2);
        assert!(told.contains("There is no tool send_mial. Nearest tools: send_mail"), "{told}");
    }
}

#[tokio::test]
async fn the_built_in_tools_own_name_and_parameters_are_corrected_too() {
    let dialect = Dialect::UseMcpTool;
    let misspelt = call(dialect, None, "describe_tol", &json!({"tool": "send_mail"}));
    let wrong = call(dialect, None, "describe_tool", &json!({"tool_name": "send_mail"}));
    let played = Scene::new(dialect, &[misspelt, wrong, answer(dialect)]).play().await;
    assert!(played.told(2).contains("Nearest tools: describe_tool"), "{}", played.told(2));
    let told = played.told(3);
    assert!(told.contains("missing required property \"tool\""), "{told}");
    assert!(told.contains("<tool_name>describe_tool</tool_name>"), "a correct call is shown: {told}");
}

#[tokio::test]
async fn the_server_in_front_of_the_built_in_tool_does_not_matter() {
    let dialect = Dialect::UseMcpTool;
    for server in ["mail", "toolgraft"] {
        let ask = call(dialect, Some(server), "describe_tool", &json!({"tool": "mail.send_mail"}));
        let played = Scene::new(dialect, &[ask, answer(dialect)]).play().await;
        assert!(played.told(2).contains("send_mail(to: string"), "{}", played.told(2));
    }
}

#[tokio::test]
async fn a_listed_tool_may_be_called_without_a_look_up() {
    for dialect in Dialect::taught() {
        let guess = call(dialect, server(dialect), "send_mail", &json!({"subject": "Hi"}));
        let right = call(dialect, server(dialect), "send_mail", &json!({"to": "ann@example.com"}));
        let played = Scene::new(dialect, &[guess, right, answer(dialect)]).play().await;
        let told = played.told(2);
        assert!(told.contains("missing required property \"to\""), "{told}");
        assert!(told.contains("A correct call looks like this"), "{told}");
        assert_eq!(played.ran, 1);
    }
}

#[tokio::test]
async fn a_servers_tool_of_that_name_stays_its_own() {
    let dialect = Dialect::ToolTag;
    let ran = Arc::new(AtomicUsize::new(0));
    let own = Functions::new("shop")
        .with(Tool::new("describe_tool").with_description("Tells of hammers."), |_| async {
            Ok::<_, String>("a hammer")
        });
    let rounds = [
        call(dialect, None, "describe_tool", &json!({})),
        call(dialect, None, "describe_listed_tool", &json!({"tool": "describe_tool"})),
        answer(dialect),
    ];
    let model = Arc::new(Recorded::new(rounds.iter().map(|text| Round::text(text.as_str()))));
    let options = Options::default().with_dialect(dialect).with_listing(Listing::Index);
    let agent = Agent::builder(model.clone(), Toolboxes::new().with(own).with(mail(&ran)))
        .policy(Policy::new(Decision::Allow))
        .prompt(options)
        .build();
    let finished = agent.run("Tell me.").unwrap().finish().await;
    let told = |n: usize| model.requests()[n].messages.last().unwrap().content.clone();
    assert!(told(1).contains("a hammer"), "{}", told(1));
    assert!(told(2).contains("Server shop: describe_tool(…)\n  Tells of hammers."), "{}", told(2));
    assert_eq!(finished.calls, 2);
}

#[tokio::test]
async fn a_look_up_is_not_the_call_that_is_required() {
    let dialect = Dialect::UseMcpTool;
    let ask = call(dialect, None, "describe_tool", &json!({"tool": "send_mail"}));
    let send = call(dialect, Some("mail"), "send_mail", &json!({"to": "ann@example.com"}));
    let mut scene = Scene::new(dialect, &[ask, answer(dialect), send, answer(dialect)]);
    let mut config = TurnConfig::default().with_policy(Policy::new(Decision::Allow));
    config.tool_choice = ToolChoice::Required;
    scene.builder = scene.builder.config(config);
    let played = scene.play().await;
    assert!(played.told(3).contains("had to call a tool"), "{}", played.told(3));
    assert_eq!((played.ran, played.finished.reason), (1, StopReason::Answered));
}

#[tokio::test]
async fn nobody_is_asked_about_a_look_up_beside_a_call_that_is_denied() {
    let dialect = Dialect::TypeMarker;
    let both = "TYPE: MCP\n{\"tool_name\": \"describe_tool\", \"parameters\": {\"tool\": \"send_mail\"}}\n\
                {\"tool_name\": \"send_mail\", \"parameters\": {\"to\": \"ann@example.com\"}}";
    let played = Scene::new(dialect, &[both.to_owned(), answer(dialect)]).policy(Policy::default()).play().await;
    let statuses: Vec<Status> = played.outcomes().iter().map(|o| o.status).collect();
    assert_eq!((statuses.as_slice(), played.ran), (&[Status::Result, Status::Denied][..], 0));
}

#[test]
fn words_for_what_is_wanted_are_answered_with_the_likeliest_tools() {
    let tool = |name: &str, does: &str| Tool::new(name).with_server("s").with_description(does);
    let tools = [
        tool("get_forecast", "Gets the weather of the next days."),
        tool("send_mail", "Sends an email."),
        tool("list_notes", "Lists notes."),
    ];
    let catalog = Catalog::from_tools(tools).with_built_in(BuiltIn::Describe);
    let prompt = Prompt::new(Options::default()).unwrap();
    let told = prompt.describe(&catalog, "what will the weather be").unwrap();
    assert!(told.text.contains("get_forecast") && !told.text.contains("send_mail"), "{}", told.text);
    assert_eq!(told.status, Status::Result);
    let told = prompt.describe(&catalog, "play chess with me").unwrap();
    assert_eq!(told.status, Status::ToolError, "{}", told.text);
    assert!(told.text.contains("Tools that exist: get_forecast"), "{}", told.text);
}
