//! A history as the messages of a request that carries tools.

use std::collections::HashSet;

use super::media;
use super::render::{Layout, Replies, Shown, results};
use super::shape::push;
use super::{Assistant, Conversation, Part, push_bounded};
use crate::event::{Rejected, RejectedKind};
use crate::message::{Message, NativeCall};
use crate::outcome::{break_tokens, rebreak_tokens};

impl Conversation {
    /// Renders the history as the messages of a request that carries tools: the model's messages hold their calls under
    /// their [`wire_name`](crate::wire::wire_name)s, and a message of the role `tool` answers each, whatever syntax the
    /// calls were once written in. `words` writes the text of such an answer, from one call.
    ///
    /// A rejected call that came natively is one of these calls too, answered by
    /// its correction; arguments that are no JSON object are left out of it, since
    /// endpoints refuse such a history. One that was written as text stays text.
    /// Its correction and the program's notes follow the last result, because
    /// some chat templates want the model to speak next; without a result they
    /// are a user message.
    ///
    /// # Errors
    /// The errors that `words` returns.
    pub fn render_native<E>(
        &self,
        layout: &Layout,
        mut words: impl FnMut(&Replies<'_>) -> Result<String, E>,
    ) -> Result<Vec<Message>, E> {
        let mut messages = layout.before();
        let shown = self.shown(&layout.trim);
        let media = media::of(&results(&shown), layout.reads);
        let current = shown.iter().rposition(|s| matches!(s, Shown::User(_))).unwrap_or(0);
        let mut ids = HashSet::new();
        for (at, (shown, media)) in shown.iter().zip(media).enumerate() {
            match shown {
                Shown::User(said) => push(&mut messages, said.as_message()),
                Shown::Assistant(message, told) => {
                    let mut round =
                        NativeRound { conversation: self, ids: &mut ids, calls: Vec::new(), results: Vec::new() };
                    let corrections = round.take(message, told, &mut words)?;
                    let NativeRound { calls, mut results, .. } = round;
                    // Endpoints that ask for it (DeepSeek's thinking mode) need that of the current question
                    // only.
                    let reasoning = (at > current && !calls.is_empty()).then(|| message.reasoning.trim().to_owned());
                    let said = Message::assistant(said(message)).with_calls(calls);
                    push(&mut messages, Message { reasoning: reasoning.filter(|r| !r.is_empty()), ..said });
                    match results.last_mut() {
                        Some(last) if !corrections.is_empty() => {
                            last.content = format!("{}\n\n{corrections}", last.content);
                        }
                        Some(_) => {}
                        None => push(&mut messages, Message::user(corrections)),
                    }
                    results.into_iter().for_each(|result| push(&mut messages, result));
                    // In OpenAI's API a message of the role `tool` holds only text.
                    media.go_with(&mut messages);
                }
            }
        }
        layout.place(&mut messages);
        Ok(messages)
    }
}

/// The native calls of one message and the messages that answer them.
struct NativeRound<'a> {
    conversation: &'a Conversation,
    /// Identifiers that rejected calls of the rendered messages have.
    ids: &'a mut HashSet<String>,
    calls: Vec<NativeCall>,
    results: Vec<Message>,
}

impl NativeRound<'_> {
    /// Collects the calls of a message and their results in order. Returns the corrections and notes that follow them.
    fn take<E>(
        &mut self,
        message: &Assistant,
        told: &Replies<'_>,
        words: &mut impl FnMut(&Replies<'_>) -> Result<String, E>,
    ) -> Result<String, E> {
        let mut beside = Vec::new();
        for part in &message.parts {
            match part {
                Part::Call(call) => {
                    let Some(answered) = told.answered.iter().find(|a| a.id == call.id) else { continue };
                    let result_bytes = told.result_bytes;
                    let reply = Replies { answered: vec![*answered], result_bytes, ..Replies::default() };
                    let mut told_again = NativeCall::from(call);
                    told_again.arguments = break_tokens(&told_again.arguments).into_owned();
                    self.push(told_again, words(&reply)?);
                }
                Part::Rejected { rejected, feedback: true, native: Some(native) } => {
                    let call = self.repeatable(native);
                    self.push(call, words(&correction(rejected))?);
                }
                Part::Rejected { rejected, feedback: true, native: None } => {
                    beside.push(words(&correction(rejected))?);
                }
                Part::Rejected { .. } | Part::Text { .. } | Part::Marker { .. } => {}
            }
        }
        beside.extend(told.notes.iter().map(|note| (*note).to_owned()));
        Ok(beside.join("\n\n"))
    }

    fn push(&mut self, call: NativeCall, result: String) {
        self.results.push(Message::tool(call.id.clone().unwrap_or_default(), result));
        self.calls.push(call);
    }

    /// Returns a rejected call in a form that endpoints accept in a history: with a free id, object arguments and a
    /// valid name.
    fn repeatable(&mut self, native: &NativeCall) -> NativeCall {
        let taken = |id: &String| self.ids.contains(id) || self.conversation.has_id(id);
        let own = native.id.clone().filter(|id| !id.is_empty() && !taken(id));
        let id = own.or_else(|| (1..).map(|n| format!("rejected_{n}")).find(|id| !taken(id)));
        let id = id.expect("the numbers do not end");
        self.ids.insert(id.clone());
        let arguments = native.object().unwrap_or_default();
        let mut call = NativeCall::new(id, repeatable_name(&native.name), &arguments);
        call.arguments = rebreak_tokens(&call.arguments).into_owned();
        call
    }
}

/// Returns replies with only this rejected call, from which its correction is written.
fn correction(rejected: &Rejected) -> Replies<'_> {
    Replies { rejected: vec![rejected], ..Replies::default() }
}

/// Returns a tool's name with invalid characters replaced by `_`, cut to 64: OpenAI's API accepts only
/// `[a-zA-Z0-9_-]{1,64}`, and refuses every request whose history has another name.
fn repeatable_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).take(64).collect();
    // A name in Chinese would become a row of these.
    if name.bytes().all(|b| b == b'_') { "unknown".to_owned() } else { name }
}

/// Returns the text of a message without its calls: the text that the user saw, and rejected calls that were written as
/// text.
fn said(message: &Assistant) -> String {
    let mut said = String::new();
    for part in &message.parts {
        match part {
            Part::Text { text } => said.push_str(&rebreak_tokens(text)),
            Part::Rejected { rejected, .. } if rejected.kind == RejectedKind::Quoted => said.push_str(&rejected.raw),
            // The text of a near call is in the message's text already.
            Part::Rejected { rejected, .. } if rejected.kind == RejectedKind::NearCall => {}
            Part::Rejected { rejected, feedback: true, native: None } => push_bounded(&mut said, &rejected.raw),
            Part::Rejected { .. } | Part::Marker { .. } | Part::Call(_) => {}
        }
    }
    said.trim().to_owned()
}
