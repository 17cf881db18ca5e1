//! The requests after results, by what is left of a job.

use super::*;
use crate::constrain::{Constrained, Way};
use crate::model::{Request, TokenChoice};

mod changes;
mod lookups;

/// Test of a job with tools of a calendar, of files and of time zones, whose model is constrained to calls.
struct Job {
    turn: Turn,
    /// The actions since the last message.
    done: Vec<Action>,
}

impl Job {
    fn of(question: &str) -> Self {
        let tool = |name: &str, members: &[&str]| {
            let properties: serde_json::Map<_, _> = members
                .iter()
                .map(|member| (member.trim_end_matches('?').to_owned(), json!({"type": "string"})))
                .collect();
            let required: Vec<_> = members.iter().filter(|member| !member.ends_with('?')).collect();
            Tool::new(name).with_schema(json!({"type": "object", "properties": properties, "required": required}))
        };
        let zone = json!({"type": "string", "description": "IANA timezone name"});
        let tools = [
            tool("find_contact", &["name"]),
            tool("list_events", &["date?"]),
            tool("invite", &["event_id", "contact_id"]),
            tool("create_event", &["title", "date"]),
            tool("list_orders", &["customer_id"]),
            tool("get_order", &["order_id"]),
            tool("cancel_order", &["order_id"]),
            tool("read_file", &["path"]),
            tool("read_text", &["path"]),
            tool("search_files", &["pattern"]).with_description("Finds files by a glob"),
            tool("write_file", &["path", "content"]),
            Tool::new("set_light").with_schema(json!({
                "properties": {"device_id": {"type": "string"}, "on": {"type": "boolean"}}, "required": ["device_id", "on"]
            })),
            Tool::new("get_time").with_schema(json!({"properties": {"zone": zone}, "required": ["zone"]})),
        ];
        Job::with(question, tools)
    }

    /// Creates a job with tools that take numbers.
    fn counting(question: &str) -> Self {
        let tool = |name: &str, properties: serde_json::Value| {
            let required: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
            Tool::new(name).with_schema(json!({"properties": properties, "required": required}))
        };
        let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
        let tools = [
            tool("list_day", json!({"date": text})),
            tool("find_gap", json!({"date": text, "minutes": number})),
            tool("read_part", json!({"path": text, "offset": number})),
        ];
        Job::with(question, tools)
    }

    /// Creates a job with tools whose identifiers are numbers, or have other names in results.
    fn numbered(question: &str) -> Self {
        let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
        let tools = [
            ("list_issues", json!({}), json!([])),
            ("update_issue", json!({"issue_number": number, "assignee": text}), json!(["issue_number"])),
            ("flight_status", json!({"flight_number": text}), json!(["flight_number"])),
            ("find_booking", json!({"booking_reference": text}), json!(["booking_reference"])),
            ("get_accounts", json!({}), json!([])),
            (
                "transfer",
                json!({"from_account_id": text, "to_account_id": text, "amount": number}),
                json!(["from_account_id", "to_account_id", "amount"]),
            ),
            ("convert", json!({"amount": number, "currency": text}), json!(["amount", "currency"])),
        ];
        let tool = |(name, properties, required)| {
            let schema = json!({"type": "object", "properties": properties, "required": required});
            Tool::new(name).with_description("Status of one thing, or all of them").with_schema(schema)
        };
        Job::with(question, tools.map(tool))
    }

    fn with(question: &str, tools: impl IntoIterator<Item = Tool>) -> Self {
        let config = TurnConfig { way: Way::Measured, call_threshold: Some(-2.0), ..allowing() };
        let catalog = Arc::new(Catalog::from_tools(tools));
        let setup = Arc::new(Setup::new(config, Arc::new(Validator::new(catalog)), Arc::new(Plain)));
        let mut turn = Turn::new(setup, question.into(), Granted::new()).unwrap();
        actions(&mut turn);
        let likely = TokenChoice::new("<use", -0.1).or("<use", -0.1).or("It", -2.4);
        turn.handle(Input::Model(ModelEvent::Tokens(vec![likely]))).unwrap();
        actions(&mut turn);
        Job { turn, done: Vec::new() }
    }

    /// Writes a call as the model. Returns `true` if the call runs.
    fn calls(&mut self, tool: &str, arguments: serde_json::Value) -> bool {
        let call = format!("<tool_name>{tool}</tool_name>\n<arguments>\n{arguments}\n</arguments>");
        says(&mut self.turn, &format!("<use_mcp_tool>\n{call}\n</use_mcp_tool>"));
        self.done = ends(&mut self.turn);
        !calls(&self.done).is_empty()
    }

    /// Writes a call as the model, which must run, and reports this outcome of its tool.
    fn gives(&mut self, tool: &str, arguments: serde_json::Value, outcome: Outcome) {
        assert!(self.calls(tool, arguments), "{:?}", self.done);
        let id = calls(&self.done)[0].to_owned();
        self.turn.handle(Input::Outcome { id, outcome }).unwrap();
        self.done = actions(&mut self.turn);
    }

    fn request(&self) -> &Request {
        let sent = self.done.iter().find_map(|action| match action {
            Action::Send(request) => Some(request),
            _ => None,
        });
        sent.unwrap_or_else(|| panic!("{:?}", self.done))
    }

    fn asks_for_the_answer(&self) -> bool {
        self.request().constraint.as_ref().unwrap().of == Constrained::Prose && !self.grammar().contains("```")
    }

    /// Returns the only call that the last request allows.
    fn only(&self) -> String {
        self.request().constraint.as_ref().and_then(|held| held.only.clone()).unwrap()
    }

    /// Returns the grammar that the last request's answer is constrained to.
    fn grammar(&self) -> String {
        self.request().constraint.as_ref().and_then(|held| held.grammar.clone()).unwrap()
    }
}

const CONTACT: &str = r#"[{"contact_id": "P-08", "name": "Tom Okafor"}]"#;
const EVENTS: &str = r#"[{"event_id": "E-31", "title": "Dentist"}, {"event_id": "E-34", "title": "Planning"}]"#;

/// Creates a job with tools of a cluster and of a shop, all of whose calls but the first name several objects.
fn of_a_cluster(question: &str) -> Job {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let tool = |name: &str, description: &str, properties: serde_json::Value, required: &[&str]| {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        Tool::new(name).with_description(description).with_schema(schema)
    };
    let pod = json!({"pod_name": text, "namespace": text});
    let tools = [
        tool("list_pods", "List the pods", json!({"namespace": text, "limit": number}), &["namespace"]),
        tool("get_pod_logs", "Get the logs of a pod", pod.clone(), &["pod_name", "namespace"]),
        tool("delete_pod", "Delete a pod", pod, &["pod_name", "namespace"]),
        tool("scale", "Scale a deployment", json!({"name": text, "replicas": number}), &["name", "replicas"]),
        tool("get_order", "Get an order", json!({"order_id": text}), &["order_id"]),
        tool("refund", "Refund an order", json!({"order_id": text, "amount": number}), &["order_id"]),
        tool("find_customer", "Find a customer", json!({"query": text}), &["query"]),
        tool("list_orders", "List the orders of a customer", json!({"customer": text}), &["customer"]),
        tool("track", "Track a shipment", json!({"tracking_number": text}), &["tracking_number"]),
    ];
    Job::with(question, tools)
}

const PODS: &str = "pay-7d9f-x2k  CrashLoopBackOff\ncart-55c-aa1  Running";
