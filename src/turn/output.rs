//! An answer that has to match a schema: found in its text, checked, corrected.

use serde_json::Value;

use super::event::AgentEvent;
use super::judge::Next;
use super::stop::StopReason;
use super::voice::{Remark, VoiceError};
use super::{Turn, TurnError};
use crate::call::Repair;
use crate::conversation::Replies;
use crate::message::FinishReason;
use crate::outcome::Status;
use crate::parse::{FoundValue, find_values};
use crate::validate::OutputSchema;

/// The value that an answer stands for, and what was done to read it.
pub(super) type Output = (Value, Vec<Repair>);

/// Finds the value of an answer: the first that the schema accepts, those in
/// code fences before others.
///
/// # Errors
/// Why there is none, for the model.
pub(super) fn find(schema: &OutputSchema, answer: &str) -> Result<Output, String> {
    let found = find_values(answer);
    let (fenced, bare): (Vec<_>, Vec<_>) = found.values.into_iter().partition(|value| value.fenced);
    let mut refused: Option<(usize, String)> = None;
    for value in fenced.into_iter().chain(bare) {
        let length = value.range.len();
        match schema.check(&value.value, &answer[value.range.clone()]) {
            Ok((checked, coerced)) => {
                let mut repairs = around(&value, answer);
                repairs.extend(value.repairs);
                repairs.extend(coerced);
                return Ok((checked, repairs));
            }
            // What was meant is rather the long one.
            Err(problem) if refused.as_ref().is_none_or(|(longest, _)| *longest < length) => {
                refused = Some((length, problem));
            }
            Err(_) => {}
        }
    }
    let refused_length = refused.as_ref().map_or(0, |(length, _)| *length);
    Err(match (found.broken, refused) {
        (Some(broken), _) if broken.range.len() > refused_length => match broken.unfinished {
            true => format!("the JSON is not complete: {}", broken.message),
            false => format!("the JSON cannot be read: {}", broken.message),
        },
        (_, Some((_, problem))) => problem,
        _ => "there is no JSON value in the answer".to_owned(),
    })
}

/// What was taken off around a value.
fn around(value: &FoundValue, answer: &str) -> Vec<Repair> {
    let (mut before, mut after) = (answer[..value.range.start].trim_end(), answer[value.range.end..].trim_start());
    let mut repairs = Vec::new();
    if value.fenced {
        repairs.push(Repair::Fence);
        before = before.rsplit_once('\n').map_or("", |(before, _)| before);
        after = after.split_once('\n').map_or("", |(_, after)| after);
    }
    if !before.trim().is_empty() || !after.trim().is_empty() {
        repairs.push(Repair::Prose);
    }
    repairs
}

impl Turn {
    /// The system text, with the form of the answer behind it.
    pub(super) fn system_text(&self) -> Result<String, VoiceError> {
        let mut text = self.system();
        if let Some(schema) = &self.output {
            let form = self.setup.voice.output(schema)?;
            text = [text.as_str(), &form].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join("\n\n");
        }
        Ok(text)
    }

    /// What the model is told after one of its messages. Results are far from the
    /// system text, so they are followed by a line about the answer's form.
    pub(super) fn replies(&self, replies: &Replies<'_>) -> Result<String, VoiceError> {
        let text = self.setup.voice.replies(replies)?;
        let results = replies.answered.iter().any(|a| a.outcome.status != Status::Displayed);
        Ok(match self.output {
            Some(_) if results => format!("{text}\n\n{}", self.setup.voice.remark(Remark::OutputDue)),
            _ => text,
        })
    }

    /// Follows a judgement; an answer that has to match a schema is read first.
    pub(super) fn conclude(&mut self, next: Next, finish: &FinishReason) -> Result<(), TurnError> {
        let (Some(schema), Next::Finish(StopReason::Answered | StopReason::OutputLimit)) = (&self.output, &next) else {
            return self.follow(next);
        };
        let problem = match find(schema, &self.answer) {
            Ok((value, repairs)) => {
                self.emit(AgentEvent::Output { value: value.clone(), repairs: repairs.clone() });
                self.found = Some((value, repairs));
                return self.finish(StopReason::Answered);
            }
            Err(problem) if *finish == FinishReason::Length => format!("the output limit was hit; {problem}"),
            Err(problem) => problem,
        };
        if !self.judge(finish, false, &[]).may_correct() {
            return self.finish(match *finish {
                FinishReason::Length => StopReason::OutputLimit,
                _ => StopReason::OutputMismatch { corrections: self.corrections, message: problem },
            });
        }
        let note = self.setup.voice.remark(Remark::OutputMismatch(&problem));
        self.emit(AgentEvent::Correcting { kind: None, message: problem });
        self.conversation.push_note(note)?;
        self.corrections += 1;
        self.send()
    }
}
