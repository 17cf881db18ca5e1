//! A conversation whose context is full goes on: a recorded one, and those of the command.

use crate::process::{Place, Run};
use serde_json::{Value, json};
use toolgraft::agent::StopReason;
use toolgraft::message::{DeltaKind, Role};
use toolgraft::prompt::Options;
use toolgraft::transcript::{self, Recording};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, Conversation, Functions, OpenAi};
use toolgraft_testkit::endpoint::{Endpoint, Reply, Seen, says, stops, usage};

/// Tokens of the recorded server's context.
const CONTEXT: u64 = 2048;

/// llama.cpp's refusal.
fn refuses(prompt: u64, context: u64) -> Reply {
    let message =
        format!("request ({prompt} tokens) exceeds the available context size ({context} tokens), try increasing it");
    let error = json!({"code": 400, "message": message, "type": "exceed_context_size_error",
        "n_prompt_tokens": prompt, "n_ctx": context});
    Reply::new(400, &json!({ "error": error }).to_string())
}

fn messages(seen: &Seen) -> Vec<(String, String)> {
    let text = |m: &Value, key: &str| m[key].as_str().unwrap().to_owned();
    let messages = seen.body["messages"].as_array().unwrap().iter();
    messages.map(|m| (text(m, "role"), text(m, "content"))).collect()
}

/// The recorded session: the system prompt, questions to the server, its answers, and their tokens.
struct Recorded {
    system: String,
    questions: Vec<String>,
    answers: Vec<String>,
    /// Texts and their tokens.
    tokens: Vec<(String, u64)>,
}

impl Recorded {
    fn read(recording: &Recording) -> Self {
        let said = |role: Role| {
            let of_role = recording.rounds.iter().flat_map(|r| &r.messages).filter(move |m| m.role == role);
            of_role.map(|m| m.content.clone())
        };
        let system = said(Role::System).next().unwrap();
        let questions: Vec<String> = said(Role::User).collect();
        let answered = recording.rounds.iter().filter(|round| round.usage.is_some());
        let answers: Vec<String> = answered
            .clone()
            .map(|r| r.deltas.iter().filter(|d| d.kind == DeltaKind::Content).map(|d| d.text.as_str()).collect())
            .collect();
        let counted: Vec<_> = answered.map(|r| r.usage.unwrap()).collect();
        let mut tokens = vec![(system.clone(), counted[0].prompt_tokens - 20), (questions[0].clone(), 20)];
        // Each prompt is the one before with an answer and a question more; the refusals say how
        // long those were that nobody answered.
        let prompts = counted.iter().map(|u| u.prompt_tokens).chain([2_067]).collect::<Vec<_>>();
        for (n, answer) in answers.iter().enumerate() {
            tokens.push((answer.clone(), counted[n].completion_tokens));
            tokens.push((questions[n + 1].clone(), prompts[n + 1] - prompts[n] - counted[n].completion_tokens));
        }
        tokens.push((questions.last().unwrap().clone(), tokens.last().unwrap().1 + 2_059 - 2_067));
        Recorded { system, questions, answers, tokens }
    }

    /// Tokens of a request, as the recorded server counted them.
    fn count(&self, seen: &Seen) -> u64 {
        let known = |text: &str| self.tokens.iter().find(|(known, _)| known.trim() == text.trim()).map(|(_, n)| *n);
        let of = |text: &String| known(text).unwrap_or(text.len() as u64 / 3 + 10);
        messages(seen).iter().map(|(_, text)| of(text)).sum()
    }
}

#[tokio::test]
async fn the_recorded_session_goes_on_where_it_was_stuck() {
    let recording =
        transcript::parse(include_str!("../../../fixtures/streams/context-overflow.recording.jsonl")).unwrap();
    let recorded = Recorded::read(&recording);
    let (system, questions) = (recorded.system.clone(), recorded.questions.clone());
    assert_eq!(questions.len(), 6);
    let mut refused = Vec::new();
    let mut answered = 0;
    let (tell, told) = std::sync::mpsc::channel();
    let endpoint = Endpoint::answer(move |seen, _| {
        let prompt = recorded.count(seen);
        if prompt > CONTEXT {
            refused.push(prompt);
            tell.send(prompt).unwrap();
            return refuses(prompt, CONTEXT);
        }
        answered += 1;
        match recorded.answers.get(answered - 1) {
            Some(answer) => Reply::events(&[says(answer), stops("length"), usage(prompt, 256)]).done(),
            None => Reply::events(&[says("Once upon a time."), stops("stop"), usage(prompt, 6)]).done(),
        }
    });
    let mut config = TurnConfig::default();
    config.max_tokens = Some(256);
    // Its answers repeat themselves, and here they are to fill the context.
    config.max_repeats = 0;
    let options = Options::default().with_system(system);
    let model = OpenAi::new(endpoint.url(), "SmolLM2-135M-Instruct").unwrap();
    let agent = Agent::builder(model, Functions::unnamed()).config(config).prompt(options).build();

    let mut conversation = Conversation::new();
    for (n, question) in questions.iter().enumerate() {
        conversation.push_user(question.as_str()).unwrap();
        let finished = agent.run(conversation).unwrap().finish().await;
        let expected = if n < 4 { StopReason::OutputLimit } else { StopReason::Answered };
        assert_eq!(finished.reason, expected, "{question}");
        conversation = finished.conversation;
    }
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [2_067], "refused once as it was, and never again");
    let seen = endpoint.seen();
    let last = messages(&seen[seen.len() - 1]);
    assert!(last[0].1.contains("# Tools") && last.last().unwrap().1 == "hi", "{last:?}");
    assert!(!last.iter().any(|(_, text)| text.contains("a cat, a dog")), "the oldest went first: {last:?}");
}

/// An answer of 1,500 bytes that does not repeat itself.
fn long_answer() -> String {
    (0..100).map(|n| format!("Word {n:03} of it ")).collect()
}

/// A model that gives a long answer, on a server that counts a token for four bytes.
fn small_server(context: u64) -> Endpoint {
    Endpoint::answer(move |seen, _| {
        let prompt = messages(seen).iter().map(|(_, text)| text.len() as u64 / 4 + 4).sum();
        match prompt > context {
            true => refuses(prompt, context),
            false => Reply::text(&long_answer()),
        }
    })
}

struct Home(Place);

impl Home {
    fn ask(&self, endpoint: &Endpoint, question: &str, flags: &[&str]) -> Run {
        let url = endpoint.url();
        let args = ["chat", question, "--base-url", &url, "--model", "m"];
        self.0.run_with(&[&args, flags].concat(), |command| {
            command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL")
        })
    }
}

#[test]
fn a_conversation_of_the_command_is_never_stuck() {
    let (home, endpoint) = (Home(Place::new()), small_server(1_200));
    home.ask(&endpoint, "Question 0?", &[]).ok();
    let mut left_out = 0;
    for n in 1..6 {
        let done = home.ask(&endpoint, &format!("Question {n}?"), &["--continue"]).ok();
        left_out += usize::from(done.err.contains("the context of 1200 tokens is full"));
    }
    assert_eq!(left_out, 2, "the first four fit");
    assert_eq!(endpoint.requests(), 6 + 2, "each of the others is refused once and passes then");
    let last = messages(&endpoint.seen()[7]);
    assert!(last.last().unwrap().1 == "Question 5?" && !last.iter().any(|(_, text)| text.contains("Question 0?")));
}

#[test]
fn a_question_that_is_too_long_is_refused_with_both_numbers_and_the_next_one_is_answered() {
    let (home, endpoint) = (Home(Place::new()), small_server(1_200));
    home.ask(&endpoint, "Question 0?", &[]).ok();
    let long = "word ".repeat(2_000);
    let done = home.ask(&endpoint, &long, &["--continue"]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    for part in ["1200 tokens", "start llama-server with a longer context (-c)", "--set max_tokens=N"] {
        assert!(done.err.contains(part), "{part}: {}", done.err);
    }
    let sent: u64 = messages(&endpoint.seen()[1]).iter().map(|(_, text)| text.len() as u64 / 4 + 4).sum();
    assert!(done.err.contains(&format!("{sent} tokens")), "{sent}: {}", done.err);
    home.ask(&endpoint, "Question 1?", &["--continue"]).ok();
}

#[test]
fn an_overflow_that_comes_in_the_stream_is_cut_too() {
    let home = Home(Place::new());
    let error = json!({"error": {"message": "This model's maximum context length is 600 tokens. However, your messages \
        resulted in 700 tokens.", "code": "context_length_exceeded"}});
    let answers = [Reply::text(&long_answer()), Reply::events(&[error]), Reply::text("Fine.")];
    let endpoint = Endpoint::start(answers);
    home.ask(&endpoint, "Question 0?", &[]).ok();
    let done = home.ask(&endpoint, "Question 1?", &["--continue"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "Fine.\n"), "{}", done.err);
    assert!(messages(&endpoint.seen()[2]).len() < messages(&endpoint.seen()[1]).len());
}
