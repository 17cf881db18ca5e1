//! Finds out what is left of a job after results: things that the request names and no call has used, a failed call
//! that can be corrected, a change that was not asked for.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::decide::{self, Mentions, Used};
use super::guard::Made;
use super::shared::Shared;
use crate::constrain::{Narrowed, is_alike, kind_of_id, required};
use crate::conversation::HistoryEntry;
use crate::event::Call;
use crate::tools::{LIKELIEST, Tool, changes_nothing, looks_up, may_change};

mod next;

/// Number of lookups with one tool after which a further one with values that were not mentioned is a variation: a
/// small model tries one day or number after another.
const MAX_VARIATIONS: usize = 2;

/// Words in the names of parameters that set the position at which a lookup begins.
const POSITIONS: &[&str] = &["after", "before", "cursor", "end", "from", "line", "offset", "page", "skip", "start"];

/// Words in the names of parameters that exclude something from a lookup.
const LEAVES_OUT: &[&str] = &["exclu", "ignore", "omit"];

/// Maximum length of a text that begins with "No" and reports that nothing was found; a longer one is a result.
const MAX_NOTHING: usize = 80;

impl Shared {
    /// Returns the text of the user's last message.
    pub(super) fn request(&self) -> Option<&str> {
        self.conversation.entries().iter().rev().find_map(|entry| match entry {
            HistoryEntry::User(user) => Some(user.text.as_str()),
            _ => None,
        })
    }

    fn mentions(&self) -> Mentions {
        Mentions::of(self.request().unwrap_or_default())
    }

    pub(super) fn used(&self) -> Used {
        let made = self.made();
        // What a lookup did not find is still to be looked up, unless a later one with the same tool found something.
        let finds = |made: &Made<'_>| made.succeeded() && !(self.looks_up(made.call) && is_vain(made));
        let found =
            |at: &usize| made[*at..].iter().any(|later| name(later.call) == name(made[*at].call) && finds(later));
        let succeeded = (0..made.len()).filter(|at| made[*at].succeeded());
        let arguments = succeeded.filter(found).map(|at| &made[at].call.arguments);
        Used::of(arguments, self.results().map(|(_, text)| text))
    }

    /// Returns the objects that the request names and no call has used.
    pub(super) fn unused(&self) -> Vec<String> {
        self.mentions().unused(&self.used()).into_iter().map(str::to_owned).collect()
    }

    /// Returns `true` if the last call changed something, and the changes may be all that the request asks for.
    pub(super) fn is_all_done(&self) -> bool {
        let made = self.made();
        let changed = |made: &Made<'_>| made.succeeded() && self.changes(made.call);
        let changes: HashSet<_> = made.iter().filter(|made| changed(made)).map(|made| name(made.call)).collect();
        made.last().is_some_and(changed) && self.mentions().are_done(&self.used(), changes.len())
    }

    /// Returns `true` if the last call looked up or computed all that the request asks for, and no result leads to a further lookup:
    /// it was the last of one for each thing that the request names, or the one that a question fits best, or it used
    /// what an earlier result gave.
    pub(super) fn is_all_looked_up(&self) -> bool {
        let made = self.made();
        let changes_nothing = |made: &&Made<'_>| made.succeeded() && self.changes_nothing(made.call);
        let Some(last) = made.last().filter(changes_nothing) else { return false };
        // The date of today, which a postponed call needs, answers nothing itself.
        if self.client.postponed.is_some() && last.call.arguments.as_object().is_some_and(Map::is_empty) {
            return false;
        }
        let mentions = self.mentions();
        // A search that found nothing may go on with another tool.
        if !mentions.are_used(&self.used()) || self.found_nothing() {
            return false;
        }
        // One lookup for each thing is one tool with each of them.
        let own = made.iter().filter(|made| made.succeeded() && name(made.call) == name(last.call));
        let calls = Used::of(own.map(|made| &made.call.arguments), std::iter::empty::<&str>());
        let said = self.said_things();
        let arguments = &last.call.arguments;
        // It used what an earlier result gave, or it is what the question itself asks for.
        let is_meant =
            || said.has_found_thing(arguments) || said.are_spoken_of(arguments) && self.fits_best(last.call, &said);
        let is_new = |tool: &&Tool| self.is_new_lookup(tool);
        let (question, texts) = (self.request().unwrap_or_default(), self.texts_of_calls());
        // Words of the request that no call used may belong to a new lookup that the results lead to.
        (mentions.has_list_in(&calls) || self.asks_to_be_told() && is_meant())
            && self.leading().is_none()
            && !(said.has_open_words(question, &texts)
                && said.leads_on(
                    self.setup.catalog.offered().filter(is_new).flat_map(required).collect(),
                    made.iter().map(|made| &made.call.arguments),
                ))
    }

    /// Returns `true` if the last call changed something, and the request asks for no answer.
    pub(super) fn ends_with_change(&self) -> bool {
        let made = self.made();
        !self.asks_to_be_told() && made.last().is_some_and(|last| last.succeeded() && self.changes(last.call))
    }

    /// Returns the last call if it was a lookup that succeeded.
    pub(super) fn last_lookup<'m, 'c>(&self, made: &'m [Made<'c>]) -> Option<&'m Made<'c>> {
        made.last().filter(|made| made.succeeded() && self.looks_up(made.call))
    }

    /// Returns `true` if the last result reports that nothing was found.
    pub(super) fn found_nothing(&self) -> bool {
        self.results().next().is_some_and(|(_, text)| is_nothing(&text))
    }

    /// Returns `true` if the request is a question, or a part of it asks to be told something.
    pub(super) fn asks_to_be_told(&self) -> bool {
        self.mentions().ask_to_be_told() || self.asks_a_question()
    }

    /// Returns the names and arguments of the calls that were made.
    pub(super) fn texts_of_calls(&self) -> String {
        let text = |made: &Made<'_>| format!("{} {}\n", made.call.tool, made.call.arguments);
        self.made().iter().map(text).collect()
    }

    /// Returns `true` if the tool of this lookup, or one that requires the same, fits the request best. Tools that
    /// change something or require an identifier that nobody said are left out.
    fn fits_best(&self, call: &Call, said: &decide::ConversationText) -> bool {
        let Some(own) = self.tool(call).map(required) else { return false };
        let is_unknown = |member: &String| {
            kind_of_id(member).is_some_and(|kind| !kind.is_empty() && said.id_of_kind(&kind).is_none())
        };
        // A tool that requires more than the request names cannot be meant.
        let named = self.mentions().count().max(1);
        let is_possible = |tool: &&Tool| {
            let required = required(tool);
            looks_up(tool) && required.len() <= named && !required.iter().any(is_unknown)
        };
        let likeliest = self.setup.catalog.likeliest(self.request().unwrap_or_default(), LIKELIEST);
        let best = likeliest.into_iter().find(|tool| is_of(tool, call) || is_possible(tool));
        best.is_none_or(|best| is_of(best, call) || is_alike(&own, &[required(best)]))
    }

    /// Returns `true` for a change after another one that was not asked for: it has values that were not mentioned, or
    /// only reverts or varies an earlier change (the lamp on again), after everything that the request names was used.
    pub(super) fn is_unasked(&self, call: &Call) -> bool {
        let made = self.made();
        let mut changes = made.iter().filter(|made| made.succeeded() && self.changes(made.call)).map(|made| made.call);
        let is_new = || changes.clone().next().is_some() && !self.said_things().is_said(&call.arguments);
        // As long as a thing of the request is unused, a change may be its step; the lamp on again (`varies`)
        // is nobody's wish.
        self.changes(call) && self.unused().is_empty() && (is_new() || changes.any(|before| varies(before, call)))
    }

    /// Returns `true` for a further variation of a lookup: with a date that nobody spoke of, with values that were not
    /// mentioned after it was made often, or with only another number that was not mentioned, none of which is an
    /// unused object of the request; or with more left out after it found nothing.
    pub(super) fn is_variation(&self, call: &Call) -> bool {
        let made = self.made();
        let succeeded = || made.iter().filter(|made| made.succeeded()).map(|made| made.call);
        let times = succeeded().filter(|before| name(before) == name(call)).count();
        let said = self.said_things();
        let is_counted = || {
            // `offset: 100` after `offset: 0` reads on in a file.
            let mut varied = succeeded().filter(|before| varies(before, call) && !goes_on(before, call));
            let is_unsaid = || said.unsaid_numbers(&call.arguments).next().is_some();
            varied.any(|before| is_unsaid() || only_limits(before, call, &said))
        };
        let brings = || {
            let arguments = call.arguments.to_string().to_lowercase();
            self.unused().iter().any(|thing| arguments.contains(&thing.to_lowercase()))
        };
        let is_often = times >= MAX_VARIATIONS && !said.is_said(&call.arguments);
        let leaves_out_more =
            || made.iter().filter(|made| is_vain(made)).any(|before| leaves_out_more(before.call, call));
        // After a lookup that found nothing another date may find something.
        let is_guess = || times > 0 && !self.found_nothing() && said.has_guess(&call.arguments);
        // A lookup of something that the request names and no call used is new, unless it only leaves out more.
        self.looks_up(call) && (leaves_out_more() || (is_often || is_guess() || is_counted()) && !brings())
    }

    /// Returns the postponed call, or the last one that failed, with the values that results have for its wrong
    /// members; otherwise a lookup of a member for which they have none.
    pub(super) fn made_good(&self) -> Option<Narrowed> {
        let made = self.made();
        // Right after a failure nothing is known that the model did not have.
        made.last().filter(|made| made.succeeded())?;
        let call = match &self.client.postponed {
            Some(call) => call,
            None => {
                let failed = made.iter().rposition(|made| made.failed())?;
                let call = made[failed].call;
                Some(call).filter(|_| !is_made_good(&made, failed))?
            }
        };
        // A lookup was made good by another one that answers the request.
        // A question asks for no change.
        if self.asks_a_question() && self.changes(call) || self.changes_nothing(call) && self.is_all_looked_up() {
            return None;
        }
        let mistaken = self.said_things().mistaken(&call.arguments, self.tool(call)?)?;
        match mistaken.unknown.first() {
            // A failed call is made again only if results have every value; a postponed one waits for each in
            // turn.
            Some(_) if self.client.postponed.is_none() => None,
            Some(_) if mistaken.known.is_empty() => Some(self.lookups_for(call, mistaken.unknown)),
            Some(_) => Some(self.lookups(call, mistaken.unknown, Vec::new(), false)),
            None => Some(corrected(call, mistaken.known)),
        }
    }

    /// Returns `true` if a call like this one failed after the last successful change: of the same tool, or both of
    /// tools that look things up, with the same arguments.
    pub(super) fn has_failed(&self, call: &Call) -> bool {
        let made = self.made();
        let changed = made.iter().rposition(|made| made.succeeded() && self.changes(made.call));
        made[changed.map_or(0, |at| at + 1)..].iter().filter(|made| made.failed()).any(|made: &Made<'_>| {
            // `read_text` fails at a path at which `read_file` failed.
            let is_alike = made.call.tool == call.tool || self.looks_up(call) && self.looks_up(made.call);
            is_alike && made.call.arguments == call.arguments
        })
    }

    pub(super) fn looks_up(&self, call: &Call) -> bool {
        self.tool(call).is_some_and(looks_up)
    }

    pub(super) fn changes_nothing(&self, call: &Call) -> bool {
        self.tool(call).is_some_and(changes_nothing)
    }

    pub(super) fn changes(&self, call: &Call) -> bool {
        self.tool(call).is_some_and(may_change)
    }

    pub(super) fn tool(&self, call: &Call) -> Option<&Tool> {
        Some(self.setup.catalog.find(call.server.as_deref(), &call.tool).ok()?.tool)
    }
}

/// Returns `true` if the tool of the call at this index has succeeded since, so that the call is no longer needed.
fn is_made_good(made: &[Made<'_>], at: usize) -> bool {
    made[at..].iter().any(|since| since.succeeded() && name(since.call) == name(made[at].call))
}

fn is_of(tool: &Tool, call: &Call) -> bool {
    tool.server == call.server && tool.name == call.tool
}

/// Returns `true` for a call that succeeded and found nothing.
fn is_vain(made: &Made<'_>) -> bool {
    made.succeeded() && made.said().is_some_and(|text| is_nothing(&text))
}

/// Returns `true` if a result reports that nothing was found.
fn is_nothing(result: &str) -> bool {
    let result = result.trim().to_lowercase();
    let is_short = result.len() <= MAX_NOTHING && !result.contains('\n');
    let says = |words: &[&str]| words.iter().any(|begin| result.starts_with(begin));
    // "No" may begin a result of several lines or a longer one, so it counts only in a short line. A list in
    // JSON may be empty inside an object.
    matches!(&*result, "" | "[]" | "{}" | "null")
        || says(&["no match", "no file", "no result", "nothing", "not found"])
        || is_short && says(&["no ", "0 ", "没有", "未找到"])
        || result.starts_with(['{', '[']) && serde_json::from_str(&result).is_ok_and(|value| is_empty_list(&value))
}

/// Returns `true` for JSON with only empty lists, a count of 0 and the status of a search.
fn is_empty_list(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(is_empty_list),
        Value::Object(members) => {
            let is_beside = |name: &str, value: &Value| match value {
                Value::Null | Value::Bool(_) => true,
                Value::Number(number) => number.as_f64() == Some(0.0),
                // `"next": "page 2"` says that there is more.
                Value::String(_) => name == "status",
                Value::Array(_) | Value::Object(_) => is_empty_list(value),
            };
            // `{"count": 0}` lists nothing that could be empty: it may be the answer.
            members.values().any(|value| value.is_array() || value.is_object())
                && members.iter().all(|(name, value)| is_beside(name, value))
        }
        _ => false,
    }
}

/// Returns the choice of calls with this call's tool in which each of these members has one of these values.
pub(super) fn values(call: &Call, members: Vec<(String, Vec<Value>)>) -> Narrowed {
    Narrowed::Values { server: call.server.clone(), tool: call.tool.clone(), members, others: Map::new() }
}

/// Returns the choice of calls that equal this call except that each of these members has one of these values.
pub(super) fn corrected(call: &Call, members: Vec<(String, Vec<Value>)>) -> Narrowed {
    let mut others = call.arguments.as_object().cloned().unwrap_or_default();
    others.retain(|name, _| members.iter().all(|(member, _)| member != name));
    Narrowed::Values { server: call.server.clone(), tool: call.tool.clone(), members, others }
}

/// Returns `true` if both calls have the same texts, but other numbers or truth values.
fn varies(before: &Call, call: &Call) -> bool {
    let texts = |call: &Call| match &call.arguments {
        Value::Object(arguments) => arguments.clone().into_iter().filter(|(_, value)| !is_plain(value)).collect(),
        _ => serde_json::Map::new(),
    };
    // Numbers and truth values are what a small model varies: the lamp on again, the next number.
    name(before) == name(call) && before.arguments != call.arguments && texts(before) == texts(call)
}

/// Returns `true` if the second call may read on where the first one ended: a number of it is a position.
fn goes_on(before: &Call, call: &Call) -> bool {
    let members = call.arguments.as_object().into_iter().flatten();
    let mut changed = members.filter(|(name, value)| before.arguments.get(name) != Some(value)).map(|(name, _)| name);
    changed.any(|name| POSITIONS.iter().any(|word| name.to_lowercase().contains(word)))
}

/// Returns `true` if the second call is the first one, but for what it leaves out.
fn leaves_out_more(before: &Call, call: &Call) -> bool {
    let kept = |call: &Call| -> Map<String, Value> {
        let members = call.arguments.as_object().cloned().unwrap_or_default();
        members
            .into_iter()
            .filter(|(name, _)| !LEAVES_OUT.iter().any(|word| name.to_lowercase().contains(word)))
            .collect()
    };
    name(before) == name(call) && before.arguments != call.arguments && kept(before) == kept(call)
}

/// Returns `true` if the second call equals the first but for added numbers that the user did not say, such as a `limit`.
fn only_limits(before: &Call, call: &Call, said: &decide::ConversationText) -> bool {
    let members = call.arguments.as_object().into_iter().flatten();
    let mut added = members.filter(|(name, _)| before.arguments.get(name).is_none()).peekable();
    // Without an added number nothing limits the call.
    added.peek().is_some() && added.all(|(_, value)| value.is_number() && !said.is_said_by_person(value))
}

fn is_plain(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(_) | Value::Number(_))
}

fn name(call: &Call) -> (Option<String>, String) {
    (call.server.clone(), call.tool.clone())
}
