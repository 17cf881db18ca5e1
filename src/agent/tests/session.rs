use super::*;

/// Number of calls of the test session.
const STEPS: usize = 40;

/// Returns the arguments of a command of the session, and its output of one or ten lines.
fn step(at: usize) -> (Value, String) {
    let command = match at % 2 {
        0 => format!("cd /home/user/project && cargo test --test parser case_{at} 2>&1 | tail -n 5"),
        _ => format!("sed -n '{},{}p' src/parser/rule_{at}.rs", at * 10, at * 10 + 12),
    };
    let line = |n: usize| format!("    let value_{n} = rule_{at}(&text[{n}..]).unwrap_or_default();\n");
    (json!({"command": command}), (0..1 + at % 2 * 9).map(line).collect())
}

/// Returns the number of characters of the messages from the task on, after the tools and the examples of calls.
fn characters(messages: &[Message], task: &str) -> usize {
    messages.iter().skip_while(|m| m.content != task).map(|m| m.content.chars().count()).sum()
}

/// Tests that each request repeats the previous one up to its last message, and that the texts beside calls and
/// results are short.
#[tokio::test]
async fn a_long_session_is_told_once() {
    for style in [crate::dialect::PromptStyle::Full, crate::dialect::PromptStyle::Compact] {
        let texts: Vec<String> = (0..STEPS).map(|at| call("bash", &step(at).0)).chain(["Done.".to_owned()]).collect();
        let model = Arc::new(Recorded::new(texts.iter().map(|text| Round::text(text.as_str()))));
        let at = Arc::new(AtomicUsize::new(0));
        let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]});
        let tools = Functions::new("shell").with(Tool::new("bash").with_schema(schema), move |_| {
            let said = step(at.fetch_add(1, Ordering::Relaxed)).1;
            async move { Ok::<_, String>(said) }
        });
        let mut config = TurnConfig { policy: Policy::new(Decision::Allow), ..TurnConfig::default() };
        config.max_rounds = STEPS as u32 + 1;
        let prompt = crate::prompt::Options::default().with_style(style);
        let agent = Agent::builder(model.clone(), tools).config(config).prompt(prompt).build();
        let task = "Make the tests of the parser pass.";
        let events: Vec<AgentEvent> = agent.run(task).unwrap().collect().await;
        assert!(matches!(events.last(), Some(AgentEvent::Finished(_))));
        let sent: Vec<Vec<Message>> = model.requests().iter().map(|request| request.messages.clone()).collect();
        assert_eq!(sent.len(), STEPS + 1);
        let mut own = 0;
        let mut said = task.len();
        for (at, messages) in sent.iter().enumerate() {
            own += said;
            said += texts[at].chars().count() + step(at).1.chars().count();
            if let Some(before) = at.checked_sub(1).map(|at| &sent[at][..sent[at].len() - 1]) {
                assert_eq!(messages[..before.len()], *before, "{at}");
            }
        }
        let all: usize = sent.iter().map(|messages| characters(messages, task)).sum();
        assert!(all * 100 <= own * 130, "{style:?}: {all} characters for {own}");
    }
}
