//! Why something that looks like a call was flushed as text.
//!
//! The parser notes what looked like a call and is none, with its reason; here that is
//! worded. What the parser has no cause to look at (names of tools, marker lines in the
//! middle of a line, dialects that are not read) is found in the stream's text.

mod candidates;
mod context;
mod rules;
mod words;

use std::ops::Range;

use serde::Serialize;

use super::play::Played;
use crate::base::input::place;
use context::Context;
use toolgraft::event::{OwnedEvent, Region, RejectedKind};
use toolgraft::parse::Config;

pub(super) use rules::Rule;
use rules::Verdict;

/// A text that looked like a call and was flushed as text, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct GivenBack {
    /// The opening delimiter or name, as written.
    pub(super) found: String,
    /// Byte offset of the candidate in the round's text.
    pub(super) offset: usize,
    /// Line number in the round's text, from 1.
    pub(super) line: usize,
    /// Column of the candidate in its line, in bytes from 1.
    pub(super) column: usize,
    /// The region in which the candidate is shown (answer or reasoning).
    pub(super) region: Region,
    /// The rule by which the candidate is text.
    pub(super) rule: Rule,
    /// Reason of the rule, as a sentence.
    pub(super) why: String,
    /// Advice on making the candidate a call.
    pub(super) remedy: String,
}

impl GivenBack {
    /// Creates the entry for a candidate, given as its text and byte offset, with the verdict on it.
    fn new(text: &str, (found, offset): (String, usize), region: Region, verdict: Verdict) -> Self {
        let (line, column) = place(text.as_bytes(), offset);
        let Verdict { rule, why, remedy } = verdict;
        GivenBack { found, offset, line, column, region, rule, why, remedy }
    }
}

/// Lists the candidates of a round that were flushed as text or rejected, by offset. `ended` is `true` if the answer
/// ended normally.
pub(super) fn explain(played: &Played, config: &Config, ended: bool) -> Vec<GivenBack> {
    let context = Context { text: &played.stream, config, ended };
    let regions = regions(&played.events, played.assembled.answer_in_reasoning);
    let mut list: Vec<GivenBack> = candidates::find(&context, &played.not_calls)
        .into_iter()
        .filter_map(|candidate| {
            // What is inside a call or a special token is no text.
            let region = region_at(&regions, candidate.span.start)?;
            let found = (candidate.found(context.text), candidate.span.start);
            Some(GivenBack::new(context.text, found, region, words::judge(&context, &candidate, region)))
        })
        .collect();
    // For a near call, the rule that made it text says more.
    let is_told = |entry: &GivenBack| {
        entry.rule == Rule::Rejected(RejectedKind::NearCall) && list.iter().any(|told| told.line == entry.line)
    };
    let mut rejected = rejected(played, &context);
    rejected.retain(|entry| !is_told(entry));
    list.extend(rejected);
    list.sort_by_key(|entry| entry.offset);
    list
}

/// Returns entries for the calls that were recognized and rejected.
fn rejected(played: &Played, context: &Context<'_>) -> Vec<GivenBack> {
    let mut start = None;
    let mut list = Vec::new();
    for event in &played.events {
        match event {
            OwnedEvent::CallStart { span, .. } => start = Some(span.start),
            OwnedEvent::CallEnd { rejected, span, index, .. } => {
                let offset = usize::try_from(start.take().unwrap_or(span.start)).unwrap_or(usize::MAX);
                let entry = played.assembled.entries.iter().find(|e| e.index == *index);
                // What seemed to be a draft may be a call after all, or wrong in itself.
                let (Some(_), Some(Err(rejected))) = (rejected, entry.map(|e| &e.result)) else { continue };
                // A near call is told at the end; its text is where it was written.
                let written = || context.text.find(rejected.raw.lines().next().unwrap_or_default());
                let is_near = rejected.kind == RejectedKind::NearCall;
                let offset = is_near.then(written).flatten().unwrap_or(offset);
                let verdict = rules::of_kind(rejected.kind, rejected.quoted_in, context);
                let verdict = Verdict { why: rejected.message.clone(), ..verdict };
                let region =
                    if rejected.kind == RejectedKind::InReasoning { Region::Reasoning } else { Region::Content };
                list.push(GivenBack::new(context.text, (opener(&rejected.raw), offset), region, verdict));
            }
            _ => {}
        }
    }
    list
}

/// Returns the beginning of a call's text: its first tag or line, at most 40 characters.
fn opener(raw: &str) -> String {
    let end = raw.find(['>', '\n']).map_or(raw.len(), |at| at + usize::from(raw[at..].starts_with('>')));
    raw[..end].chars().take(40).collect()
}

/// Returns the spans that are shown as text, in order, each with its final region.
fn regions(events: &[OwnedEvent], answer_in_reasoning: bool) -> Vec<(Range<usize>, Region)> {
    let mut list: Vec<(Range<usize>, Region)> = Vec::new();
    for event in events {
        let (span, region) = match event {
            OwnedEvent::Text { span, .. } => (span, Region::Content),
            OwnedEvent::Reasoning { span, .. } => (span, Region::Reasoning),
            OwnedEvent::Moved { to, .. } => {
                let to = to.region();
                // A late `</think>` classifies all that came before it.
                list.iter_mut().for_each(|(_, region)| *region = to.unwrap_or(*region));
                continue;
            }
            _ => continue,
        };
        let region = if answer_in_reasoning { Region::Content } else { region };
        let clamp = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        list.push((clamp(span.start)..clamp(span.end), region));
    }
    list
}

fn region_at(regions: &[(Range<usize>, Region)], at: usize) -> Option<Region> {
    let next = regions.partition_point(|(span, _)| span.end <= at);
    regions.get(next).filter(|(span, _)| span.contains(&at)).map(|(_, region)| *region)
}

#[cfg(test)]
mod tests;
