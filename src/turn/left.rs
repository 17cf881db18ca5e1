//! Finds out what is left of a job after results: things that the request names and no call has used, a failed call
//! that can be corrected, a change that was not asked for.

use std::collections::HashSet;

use serde_json::Value;

use super::decide::{self, Mentions, Used, zones_named_in};
use super::guard::Made;
use super::shared::Shared;
use crate::constrain::{Narrowed, is_same_member, is_zone, kind_of_id, required};
use crate::conversation::Entry;
use crate::event::Call;
use crate::tools::{LIKELIEST, Parameter, Tool, looks_up, may_change};

/// Number of lookups of one tool with values that were not mentioned: a small model tries one day or number after
/// another.
const MAX_VARIATIONS: usize = 2;

/// Words in the names of members that say where a lookup begins.
const POSITIONS: &[&str] = &["after", "before", "cursor", "end", "from", "line", "offset", "page", "skip", "start"];

/// A longer text that begins with "No" is a result.
const MAX_NOTHING: usize = 80;

impl Shared {
    /// Returns the text of the user's last message.
    pub(super) fn request(&self) -> Option<&str> {
        self.conversation.entries().iter().rev().find_map(|entry| match entry {
            Entry::User(user) => Some(user.text.as_str()),
            _ => None,
        })
    }

    fn mentions(&self) -> Mentions {
        Mentions::of(self.request().unwrap_or_default())
    }

    fn used(&self) -> Used {
        let made = self.made();
        let arguments = made.iter().filter(|made| made.succeeded()).map(|made| &made.call().arguments);
        Used::of(arguments, self.results().map(|(_, text)| text))
    }

    /// Returns the things that the request names and no call has used.
    pub(super) fn unused(&self) -> Vec<String> {
        self.mentions().unused(&self.used()).into_iter().map(str::to_owned).collect()
    }

    /// Returns `true` if the last call changed something, and the changes may be all that the request asks for.
    pub(super) fn is_all_done(&self) -> bool {
        let made = self.made();
        let changed = |made: &Made<'_>| made.succeeded() && self.changes(made.call());
        let changes: HashSet<_> = made.iter().filter(|made| changed(made)).map(|made| name(made.call())).collect();
        made.last().is_some_and(changed) && self.mentions().are_done(&self.used(), changes.len())
    }

    /// Returns `true` if the last call looked up all that the request asks for, and no result leads to a further lookup:
    /// it was the last of one for each thing that the request names, or the one that a question fits best, or it used
    /// what an earlier result gave.
    pub(super) fn is_all_looked_up(&self) -> bool {
        let made = self.made();
        let Some(last) = made.last().filter(|made| made.succeeded() && self.looks_up(made.call())) else {
            return false;
        };
        let mentions = self.mentions();
        let found_nothing = || self.results().next().is_some_and(|(_, text)| is_nothing(&text));
        if !mentions.are_used(&self.used()) || found_nothing() {
            return false;
        }
        let own = made.iter().filter(|made| made.succeeded() && name(made.call()) == name(last.call()));
        let calls = Used::of(own.map(|made| &made.call().arguments), std::iter::empty::<&str>());
        let said = self.said_things();
        let is_asked = || mentions.ask_to_be_told() || self.asks_a_question();
        let arguments = &last.call().arguments;
        let is_meant =
            || said.has_found_id(arguments) || said.are_spoken_of(arguments) && self.fits_best(last.call(), &said);
        let is_new = |tool: &&Tool| looks_up(tool) && !made.iter().any(|made| is_of(tool, made.call()));
        (mentions.has_list_in(&calls) || is_asked() && is_meant())
            && self.leading().is_none()
            && !said.leads_on(
                self.setup.catalog.offered().filter(is_new).flat_map(required).collect(),
                made.iter().map(|made| &made.call().arguments),
            )
    }

    /// Returns `true` if the request is most like the tool of this lookup, or like one that requires the same; tools aside
    /// that change something or require an identifier that nobody said.
    fn fits_best(&self, call: &Call, said: &decide::Said) -> bool {
        let Some(own) = self.tool(call).map(required) else { return false };
        let is_unknown = |member: &String| {
            kind_of_id(member).is_some_and(|kind| !kind.is_empty() && said.id_of_kind(&kind).is_none())
        };
        let is_possible = |tool: &&Tool| looks_up(tool) && !required(tool).iter().any(is_unknown);
        let likeliest = self.setup.catalog.likeliest(self.request().unwrap_or_default(), LIKELIEST);
        let best = likeliest.into_iter().find(|tool| is_of(tool, call) || is_possible(tool));
        best.is_some_and(|best| is_of(best, call) || required(best) == own)
    }

    /// Returns `true` for a change after another one that was not asked for: it has values that were not mentioned, or
    /// only reverts or varies an earlier change (the lamp on again), after everything that the request names was used.
    pub(super) fn is_unasked(&self, call: &Call) -> bool {
        let made = self.made();
        let mut changes = made.iter().filter(|made| made.succeeded() && self.changes(made.call())).map(Made::call);
        let is_new = || changes.clone().next().is_some() && !self.said_things().is_said(&call.arguments);
        self.changes(call) && self.unused().is_empty() && (is_new() || changes.any(|before| varies(before, call)))
    }

    /// Returns `true` for a further variation of a lookup: with values that were not mentioned after it was made often, or
    /// with only another number that was not mentioned; none is an unused thing of the request.
    pub(super) fn is_variation(&self, call: &Call) -> bool {
        let made = self.made();
        let succeeded = || made.iter().filter(|made| made.succeeded()).map(Made::call);
        let times = succeeded().filter(|before| name(before) == name(call)).count();
        let said = self.said_things();
        let is_counted = || {
            let varied = succeeded().any(|before| varies(before, call) && !goes_on(before, call));
            varied && said.unsaid_numbers(&call.arguments).next().is_some()
        };
        let brings = || {
            let arguments = call.arguments.to_string().to_lowercase();
            self.unused().iter().any(|thing| arguments.contains(&thing.to_lowercase()))
        };
        let is_often = times >= MAX_VARIATIONS && !said.is_said(&call.arguments);
        self.looks_up(call) && (is_often || is_counted()) && !brings()
    }

    /// Returns the postponed call, or the last one that failed, with the values that results have for its wrong
    /// members; otherwise a lookup of a member for which they have none.
    pub(super) fn made_good(&self) -> Option<Narrowed> {
        let made = self.made();
        made.last().filter(|made| made.succeeded())?;
        let call = match &self.postponed {
            Some(call) => call,
            None => {
                let failed = made.iter().rposition(|made| made.failed())?;
                let call = made[failed].call();
                Some(call).filter(|_| !is_made_good(&made, failed))?
            }
        };
        if self.asks_a_question() && self.changes(call) {
            return None;
        }
        let mistaken = self.said_things().mistaken(&call.arguments, self.tool(call)?)?;
        match mistaken.unknown.first() {
            // The next missing values are looked up only if the lookup gave some values.
            Some(_) if mistaken.known.is_empty() || self.postponed.is_none() => None,
            Some(_) => Some(self.lookups(call, mistaken.unknown, Vec::new(), false)),
            None => Some(values(call, mistaken.known)),
        }
    }

    /// Returns the last call with a wider pattern, if it searched by a glob and found nothing: `budget.txt` does not
    /// match a file of that name in a subfolder.
    pub(super) fn searched_wider(&self) -> Option<Narrowed> {
        let made = self.made();
        let last = made.last().filter(|made| made.succeeded() && self.looks_up(made.call()))?;
        let (_, result) = self.results().next().filter(|(_, text)| is_nothing(text))?;
        let (tool, call) = (self.tool(last.call())?, last.call());
        let glob = tool.parameters().find(|parameter| is_glob(parameter, tool))?;
        let pattern = call.arguments.get(glob.name)?.as_str().filter(|pattern| !pattern.is_empty())?;
        let wider = wider(pattern).filter(|_| !result.contains(pattern))?;
        let is_new = made.iter().all(|made| made.call().arguments.get(glob.name) != Some(&wider));
        is_new.then(|| values(call, vec![(glob.name.to_owned(), vec![wider])]))
    }

    /// Returns a call that succeeded, with an unused value that is next to its own value in the request; for a change,
    /// the two must be in one list.
    pub(super) fn beside(&self) -> Option<Narrowed> {
        self.listed_beside(true)
    }

    /// Returns an earlier lookup with the value of this other one, if the two values are in one list of the request: what
    /// is asked of several things is asked of each.
    pub(super) fn as_before(&self, call: &Call) -> Option<Narrowed> {
        let tool = self.tool(call).filter(|tool| looks_up(tool))?;
        let listed = self.listed_beside(false)?;
        let Narrowed::Values { server, tool: before, members } = &listed else { return None };
        let before = self.setup.catalog.find(server.as_deref(), before).ok()?.tool;
        let (_, values) = members.first()?;
        let has_value =
            || call.arguments.as_object().is_some_and(|own| own.values().any(|value| values.contains(value)));
        (looks_up(before) && !is_of(before, call) && required(before) == required(tool) && has_value())
            .then_some(listed)
    }

    /// As [`beside`](Self::beside); with `apart`, for a lookup a value may be in another part of the request.
    fn listed_beside(&self, apart: bool) -> Option<Narrowed> {
        let (mentions, used, made, said) = (self.mentions(), self.used(), self.made(), self.said_things());
        made.iter().rev().filter(|made| made.succeeded()).find_map(|made| {
            let apart = apart && self.looks_up(made.call());
            made.call().arguments.as_object()?.iter().find_map(|(member, value)| {
                let value = value.as_str()?;
                let mut beside = mentions.unused_beside(value, apart, &used);
                beside.retain(|thing| said.named_as(member, thing).is_none());
                let found: Vec<Value> = match is_zone(value) {
                    true => beside.into_iter().flat_map(zones_named_in).map(Value::from).collect(),
                    false => beside.into_iter().map(Value::from).collect(),
                };
                (!found.is_empty()).then(|| values(made.call(), vec![(member.clone(), found)]))
            })
        })
    }

    /// Returns lookups for a call's missing values, preferably with a tool that was not called yet.
    pub(super) fn lookups_for(&self, call: &Call, unknown: Vec<String>) -> Narrowed {
        let made = self.made();
        let ids = self.said_things().unused_ids(made.iter().map(|made| &made.call().arguments));
        let leading = (!ids.is_empty()).then(|| self.lookups(call, unknown.clone(), ids, false));
        if let Some(leading) = leading.filter(|leading| self.setup.admits(leading)) {
            return leading;
        }
        let new = self.lookups(call, unknown.clone(), Vec::new(), false);
        if self.setup.admits(&new) { new } else { self.lookups(call, unknown, Vec::new(), true) }
    }

    /// Returns lookups without the call's own tool and the tools of failed calls; with `again`, they include the tools
    /// that were called.
    fn lookups(&self, call: &Call, unknown: Vec<String>, ids: Vec<String>, again: bool) -> Narrowed {
        let made = self.made();
        let failed = made.iter().filter(|made| made.failed()).map(Made::call);
        let required = failed.clone().filter_map(|call| Some(required(self.tool(call)?))).collect();
        let called = made.iter().filter(|made| !again && made.succeeded()).map(Made::call);
        Narrowed::Lookups { but: called.chain(failed).chain([call]).map(name).collect(), unknown, ids, required }
    }

    /// The call of a lookup with the one path that results name and that nobody said or used: the file that a file names.
    pub(super) fn onward(&self, call: &Call) -> Option<Narrowed> {
        let (made, arguments) = (self.made(), call.arguments.as_object().filter(|_| self.looks_up(call))?);
        let path = self.said_things().only_new_path(made.iter().map(|made| &made.call().arguments))?;
        let has_ending = |path: &str| path.rsplit(['/', '\\']).next().is_some_and(|name| name.contains('.'));
        let is_alike = |value: &Value| {
            value.as_str().is_some_and(|own| own.contains(['/', '\\']) && has_ending(own) == has_ending(&path))
        };
        let (member, _) = arguments.iter().find(|(_, value)| is_alike(value))?;
        // A search in a file finds nothing.
        let read = made.iter().rev().filter(|made| made.succeeded()).map(Made::call).find_map(|call| {
            let tool = self.tool(call)?;
            let [member] = &required(tool)[..] else { return None };
            decide::reads_file(tool, member).then(|| (call, member.clone()))
        });
        let (call, member) = read.unwrap_or((call, member.clone()));
        Some(values(call, vec![(member, vec![path.into()])]))
    }

    /// Returns a lookup of a thing that the request names and no call has used, if the request tells its kind.
    pub(super) fn unused_by_kind(&self) -> Option<Narrowed> {
        let said = self.said_things();
        self.unused().into_iter().find_map(|thing| {
            let member = said.kind_named(&thing)?.to_owned();
            let fits = |tool: &&Tool| looks_up(tool) && required(tool) == [&*member];
            let tool = self.setup.catalog.offered().find(fits)?;
            let members = vec![(member, vec![thing.into()])];
            Some(Narrowed::Values { server: tool.server.clone(), tool: tool.name.clone(), members })
        })
    }

    /// Returns tools other than those that were called, if the request names a thing that no call has used and asks for
    /// an action.
    pub(super) fn others(&self) -> Option<Narrowed> {
        let made = self.made();
        // After a failure that no later call has made good the next call would be a guess.
        let is_open = |at: usize| made[at].failed() && !is_made_good(&made, at);
        if self.asks_a_question() || self.unused().is_empty() || (0..made.len()).any(is_open) {
            return None;
        }
        let required = made.iter().filter_map(|made| Some(required(self.tool(made.call())?))).collect();
        Some(Narrowed::Others { but: made.iter().map(|made| name(made.call())).collect(), required })
    }

    /// Returns the tool that was probably meant instead of a failed change, otherwise lookups of the cause after a call
    /// like this one failed, if no call succeeded since.
    pub(super) fn after_failed(&self, call: &Call) -> Option<Narrowed> {
        let made = self.made();
        if let Some(meant) = self.meant_instead(call, &made) {
            return Some(meant);
        }
        let failed = made.iter().rposition(|made| made.failed() && made.call().arguments == call.arguments)?;
        let is_new = made[failed..].iter().all(|since| !since.succeeded());
        is_new.then(|| self.lookups_for(call, Vec::new()))
    }

    /// Returns another tool that makes changes and fits the request better than the tool of this change, if no other
    /// change failed: switching to a branch fails if the request was to create it.
    fn meant_instead(&self, call: &Call, made: &[Made<'_>]) -> Option<Narrowed> {
        let is_other = |made: &Made<'_>| made.failed() && self.changes(made.call()) && name(made.call()) != name(call);
        // If a different change failed as well, a further guess is unlikely to be right.
        if !self.changes(call) || made.iter().any(is_other) {
            return None;
        }
        let likeliest = self.setup.catalog.likeliest(self.request()?, LIKELIEST);
        let mut better = likeliest.into_iter().take_while(|tool| !is_of(tool, call));
        let meant = better.find(|tool| may_change(tool))?;
        let members = call.arguments.as_object().into_iter().flat_map(|members| members.keys().cloned()).collect();
        Some(Narrowed::Instead { server: meant.server.clone(), tool: meant.name.clone(), members })
    }

    /// Returns a tool that requires only this identifier, as the kind that the request names, and that is a lookup if this
    /// call is one: `get_order` for "order O-1042" if the call took it for a customer's.
    pub(super) fn takes(&self, call: &Call, member: String, id: Value) -> Option<Narrowed> {
        let fits = |tool: &&Tool| required(tool) == [&*member] && looks_up(tool) == self.looks_up(call);
        let likeliest = self.setup.catalog.likeliest(self.request()?, LIKELIEST).into_iter().find(fits);
        let tool = likeliest.or_else(|| self.setup.catalog.offered().find(fits))?;
        let (server, tool) = (tool.server.clone(), tool.name.clone());
        Some(Narrowed::Values { server, tool, members: vec![(member, vec![id])] })
    }

    /// Returns a lookup that was not made yet, of the one thing in results that a question is about.
    pub(super) fn leading(&self) -> Option<Narrowed> {
        let question = self.request().filter(|text| decide::is_question(text))?;
        let (made, said) = (self.made(), self.said_things());
        let used: HashSet<&Value> =
            made.iter().filter_map(|made| made.call().arguments.as_object()).flat_map(|own| own.values()).collect();
        let calls: Vec<_> = made.iter().map(|made| format!("{} {}", made.call().tool, made.call().arguments)).collect();
        let ids: Vec<_> =
            said.asked_of(question, &calls.join("\n")).into_iter().filter(|(_, id)| !used.contains(id)).collect();
        let is_new = |tool: &&Tool| looks_up(tool) && !made.iter().any(|made| is_of(tool, made.call()));
        let takes = |tool: &Tool| {
            let [member] = &required(tool)[..] else { return None };
            let (_, id) = ids.iter().find(|(name, _)| is_same_member(name, member))?;
            let members = vec![(member.clone(), vec![(*id).clone()])];
            Some(Narrowed::Values { server: tool.server.clone(), tool: tool.name.clone(), members })
        };
        let likeliest = self.setup.catalog.likeliest(question, LIKELIEST);
        likeliest.into_iter().chain(self.setup.catalog.offered()).filter(is_new).find_map(takes)
    }

    /// Returns a lookup that was not made yet, of a thing whose identifier or file the request names, if the last lookup
    /// found nothing.
    pub(super) fn looked_up_by_name(&self) -> Option<Narrowed> {
        let made = self.made();
        made.last().filter(|made| made.succeeded() && self.looks_up(made.call()))?;
        self.results().next().filter(|(_, text)| is_nothing(text))?;
        let said = self.said_things();
        let is_new = |tool: &&Tool| looks_up(tool) && !made.iter().any(|made| is_of(tool, made.call()));
        self.setup.catalog.offered().filter(is_new).find_map(|tool| {
            let [member] = &required(tool)[..] else { return None };
            let of_file = || said.first_file().filter(|_| decide::reads_file(tool, member)).map(str::to_owned);
            let named = kind_of_id(member).and_then(|kind| said.id_of_kind(&kind)).or_else(of_file)?;
            let members = vec![(member.clone(), vec![named.into()])];
            Some(Narrowed::Values { server: tool.server.clone(), tool: tool.name.clone(), members })
        })
    }

    /// Returns a lookup in the place of one that requires a number which nobody said, if the request is not more like this
    /// one: one that needs less, with the same values, or one that a result leads to.
    pub(super) fn needs_less(&self, call: &Call) -> Option<Narrowed> {
        let tool = self.tool(call).filter(|tool| looks_up(tool))?;
        let said = self.said_things();
        let (unsaid, own) = (said.unsaid_numbers(&call.arguments).collect::<Vec<_>>(), required(tool));
        let is_unsaid = |member: &String| unsaid.contains(&member) && !has_default(tool, member);
        let rest: Vec<String> = own.iter().filter(|member| !is_unsaid(member)).cloned().collect();
        let is_meant = || self.setup.catalog.likeliest(self.request()?, 1).first().map(|best| is_of(best, call));
        if rest.is_empty() || rest.len() == own.len() || is_meant().unwrap_or_default() {
            return None;
        }
        let made = self.made();
        let is_new = |tool: &&Tool| !made.iter().any(|made| is_of(tool, made.call()));
        let mut others = self.setup.catalog.offered().filter(is_new);
        let Some(other) = others.find(|tool| looks_up(tool) && required(tool) == rest) else { return self.leading() };
        let members = rest.iter().map(|member| (member.clone(), vec![call.arguments[member].clone()])).collect();
        Some(Narrowed::Values { server: other.server.clone(), tool: other.name.clone(), members })
    }

    /// Returns `true` if a call like this one failed after the last successful change: of the same tool, or both of
    /// tools that look things up, with the same arguments.
    pub(super) fn has_failed(&self, call: &Call) -> bool {
        let made = self.made();
        let changed = made.iter().rposition(|made| made.succeeded() && self.changes(made.call()));
        made[changed.map_or(0, |at| at + 1)..].iter().filter(|made| made.failed()).any(|made: &Made<'_>| {
            let is_alike = made.call().tool == call.tool || self.looks_up(call) && self.looks_up(made.call());
            is_alike && made.call().arguments == call.arguments
        })
    }

    pub(super) fn looks_up(&self, call: &Call) -> bool {
        self.tool(call).is_some_and(looks_up)
    }

    pub(super) fn changes(&self, call: &Call) -> bool {
        self.tool(call).is_some_and(may_change)
    }

    pub(super) fn tool(&self, call: &Call) -> Option<&Tool> {
        Some(self.setup.catalog.find(call.server.as_deref(), &call.tool).ok()?.tool)
    }
}

/// Returns `true` if the tool of the call at this place has succeeded since, so that the call is no longer needed.
fn is_made_good(made: &[Made<'_>], at: usize) -> bool {
    made[at..].iter().any(|since| since.succeeded() && name(since.call()) == name(made[at].call()))
}

fn has_default(tool: &Tool, member: &str) -> bool {
    tool.parameters().any(|parameter| parameter.name == member && parameter.schema.get("default").is_some())
}

fn is_of(tool: &Tool, call: &Call) -> bool {
    tool.server == call.server && tool.name == call.tool
}

/// Returns `true` if a result reports that nothing was found.
fn is_nothing(result: &str) -> bool {
    let result = result.trim().to_lowercase();
    let is_short = result.len() <= MAX_NOTHING && !result.contains('\n');
    let says = |words: &[&str]| words.iter().any(|begin| result.starts_with(begin));
    matches!(&*result, "" | "[]" | "{}" | "null")
        || says(&["no match", "no file", "no result", "nothing", "not found"])
        || is_short && says(&["no ", "0 ", "没有", "未找到"])
}

/// Returns `true` if a parameter takes a glob according to the tool's definition.
fn is_glob(parameter: &Parameter<'_>, tool: &Tool) -> bool {
    let own = parameter.schema.get("description").and_then(Value::as_str);
    let says = |text: Option<&str>| text.is_some_and(|text| text.to_lowercase().contains("glob"));
    says(own) || matches!(parameter.name, "pattern" | "glob") && says(tool.description.as_deref())
}

/// Returns a glob that matches at any depth, and any name that contains the pattern's; `None` if the pattern matches at
/// any depth already.
fn wider(pattern: &str) -> Option<Value> {
    let name = pattern.trim_start_matches("./").trim_start_matches('/');
    let wide = if name.contains(['*', '?', '[']) { format!("**/{name}") } else { format!("**/*{name}*") };
    (!name.starts_with("**/")).then(|| wide.into())
}

/// Returns the call restricted to these values for members of its arguments.
pub(super) fn values(call: &Call, members: Vec<(String, Vec<Value>)>) -> Narrowed {
    Narrowed::Values { server: call.server.clone(), tool: call.tool.clone(), members }
}

/// Returns `true` if both calls have the same texts, but other numbers or truth values.
fn varies(before: &Call, call: &Call) -> bool {
    let texts = |call: &Call| match &call.arguments {
        Value::Object(arguments) => arguments.clone().into_iter().filter(|(_, value)| !is_plain(value)).collect(),
        _ => serde_json::Map::new(),
    };
    name(before) == name(call) && before.arguments != call.arguments && texts(before) == texts(call)
}

/// Returns `true` if the second call may read on where the first one ended: a number of it is a position.
fn goes_on(before: &Call, call: &Call) -> bool {
    let members = call.arguments.as_object().into_iter().flatten();
    let mut changed = members.filter(|(name, value)| before.arguments.get(name) != Some(value)).map(|(name, _)| name);
    changed.any(|name| POSITIONS.iter().any(|word| name.to_lowercase().contains(word)))
}

fn is_plain(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(_) | Value::Number(_))
}

fn name(call: &Call) -> (Option<String>, String) {
    (call.server.clone(), call.tool.clone())
}
