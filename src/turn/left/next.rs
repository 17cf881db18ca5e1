//! Chooses the call that is requested in place of one that was only written because a call was required: the next lookup,
//! another value, another tool.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{MAX_VARIATIONS, Made, corrected, is_made_good, is_of, is_vain, name, values};
use crate::constrain::{Narrowed, id_of, is_id, is_same_member, is_zone, kind_of_id, kind_of_name, required};
use crate::event::Call;
use crate::tools::schema::types;
use crate::tools::{LIKELIEST, Parameter, Tool, looks_up, may_change, name_words, stem};
use crate::turn::decide::{self, zones_named_in};
use crate::turn::shared::Shared;

/// Number of letters that two spellings of a name share at their start.
const STEM: usize = 4;

impl Shared {
    /// Returns the last call with a wider pattern, if it searched by a glob and found nothing: `budget.txt` does not
    /// match a file of that name in a subfolder.
    pub(in crate::turn) fn searched_wider(&self) -> Option<Narrowed> {
        let made = self.made();
        let last = self.last_lookup(&made).filter(|_| self.found_nothing())?;
        let (tool, call) = (self.tool(last.call)?, last.call);
        let glob = tool.parameters().find(|parameter| is_glob(parameter, tool))?;
        let pattern = call.arguments.get(glob.name)?.as_str().filter(|pattern| !pattern.is_empty())?;
        let wider = wider(pattern)?;
        let is_new = made.iter().all(|made| made.call.arguments.get(glob.name) != Some(&wider));
        is_new.then(|| corrected(call, vec![(glob.name.to_owned(), vec![wider])]))
    }

    /// Returns the last search with an object as the request spells it, if the model spelled it otherwise and found
    /// nothing: `Lisbon` for `Lisboa`.
    pub(in crate::turn) fn searched_as_said(&self) -> Option<Narrowed> {
        let made = self.made();
        let call = self.last_lookup(&made).filter(|_| self.found_nothing())?.call;
        let stem = |text: &str| text.to_lowercase().chars().take(STEM).collect::<String>();
        let member = only_member(self.tool(call)?)?;
        // Of a shorter word nothing would be left to differ.
        let value = call.arguments.get(&member)?.as_str().filter(|value| value.chars().count() > STEM)?;
        let thing = self.unused().into_iter().find(|thing| !value.contains(&**thing) && stem(thing) == stem(value))?;
        let thing = Value::from(thing);
        let is_new = made.iter().all(|made| made.call.arguments.get(&member) != Some(&thing));
        is_new.then(|| values(call, vec![(member, vec![thing])]))
    }

    /// Returns lookups with other tools, if the last calls were searches with the tool of this one and found nothing. A
    /// date that nobody said is no search.
    pub(in crate::turn) fn searched_elsewhere(&self, call: &Call) -> Option<Narrowed> {
        let made = self.made();
        let last = &made[made.len().checked_sub(MAX_VARIATIONS)?..];
        let is_meant = self.looks_up(call) && self.said_things().are_digits_said(&call.arguments);
        let is_vain = last.iter().all(|made| is_vain(made) && name(made.call) == name(call));
        (is_meant && is_vain).then(|| self.lookups_for(call, Vec::new()))
    }

    /// Returns a call that succeeded, with an unused value that is next to its own value in the request; for a change,
    /// the two must be in one list.
    pub(in crate::turn) fn beside(&self) -> Option<Narrowed> {
        self.listed_beside(true)
    }

    /// Returns an earlier lookup with an unused value that is in one list with its own value in the request: what is
    /// asked of several objects is asked of each.
    pub(in crate::turn) fn listed_lookup(&self) -> Option<Narrowed> {
        let looks = |listed: &Narrowed| self.setup.catalog.offered().any(|tool| looks_up(tool) && listed.admits(tool));
        self.listed_beside(false).filter(|listed| looks(listed) && !self.found_nothing())
    }

    /// Returns a call as [`beside`](Self::beside) does; with `apart`, the value for a lookup may be in another part of
    /// the request.
    fn listed_beside(&self, apart: bool) -> Option<Narrowed> {
        let (mentions, used, made, said) = (self.mentions(), self.used(), self.made(), self.said_things());
        made.iter().rev().filter(|made| made.succeeded()).find_map(|made| {
            let apart = apart && self.looks_up(made.call);
            made.call.arguments.as_object()?.iter().find_map(|(member, value)| {
                let text = value.as_u64().map(|number| number.to_string());
                let text = text.as_deref().or(value.as_str())?;
                let mut beside = mentions.unused_beside(text, apart, &used);
                // `Name-31` of a product is no further `order_id`.
                beside.retain(|thing| said.named_as(member, thing).is_none());
                // The request names a city and the call takes its zone.
                let found: Vec<Value> = match is_zone(text) {
                    true => beside.into_iter().flat_map(zones_named_in).map(Value::from).collect(),
                    false => beside.into_iter().filter_map(|thing| value_of(thing, value.is_u64())).collect(),
                };
                (!found.is_empty()).then(|| values(made.call, vec![(member.clone(), found)]))
            })
        })
    }

    /// Returns lookups for a call's missing values, preferably with a tool that was not called yet.
    pub(in crate::turn) fn lookups_for(&self, call: &Call, unknown: Vec<String>) -> Narrowed {
        let made = self.made();
        let ids = self.said_things().unused_ids(made.iter().map(|made| &made.call.arguments));
        // An identifier that no call has used yet leads to the next lookup; without one any new lookup may.
        let leading = (!ids.is_empty()).then(|| self.lookups(call, unknown.clone(), ids, false));
        if let Some(leading) = leading.filter(|leading| self.setup.admits(leading)) {
            return leading;
        }
        let new = self.lookups(call, unknown.clone(), Vec::new(), false);
        if self.setup.admits(&new) { new } else { self.lookups(call, unknown, Vec::new(), true) }
    }

    /// Returns lookups without the call's own tool and the tools of failed calls; with `again`, they include the tools
    /// that were called. If tools among them have the kind of a missing value in their names, only these (`list_my_orders`
    /// for an `orderId`); otherwise those that share words with the request, the call's tool or the members, if any do.
    pub(super) fn lookups(&self, call: &Call, unknown: Vec<String>, ids: Vec<String>, again: bool) -> Narrowed {
        let made = self.made();
        let failed = made.iter().filter(|made| made.failed()).map(|made| made.call);
        let required = failed.clone().filter_map(|call| Some(required(self.tool(call)?))).collect();
        let called = made.iter().filter(|made| !again && made.succeeded()).map(|made| made.call);
        let about =
            self.tool(call).map(|tool| [&*tool.name, tool.description.as_deref().unwrap_or_default()].join(" "));
        let kinds: Vec<String> = unknown.iter().map(|member| kind_of_id(member).unwrap_or(member.clone())).collect();
        let words = [self.request().unwrap_or_default(), &about.unwrap_or_default(), &kinds.join(" ")].join(" ");
        let but = called.chain(failed).chain([call]).map(name).collect();
        let members = made.iter().filter(|made| made.succeeded()).filter_map(|made| made.call.arguments.as_object());
        let had = members.flat_map(|members| members.keys()).filter(|name| is_id(name)).cloned().collect();
        // A `time` that is missing is no reason to ask for the time.
        let of_ids: Vec<String> =
            unknown.iter().filter_map(|member| kind_of_id(member)).map(|kind| stem(&kind)).collect();
        let mut lookups = Narrowed::Lookups { but, unknown, ids, had, required };
        let is_kind = |word: &String| of_ids.contains(&stem(&word.to_lowercase()));
        let has_kind = |tool: &&Tool| lookups.admits(tool) && name_words(&tool.name).iter().any(is_kind);
        let mut near: Vec<&Tool> = self.setup.catalog.offered().filter(has_kind).collect();
        if near.is_empty() {
            near = self.setup.catalog.likeliest(&words, LIKELIEST);
        }
        // If no lookup shares words with the job, all of them are left.
        let has_near = near.iter().any(|tool| lookups.admits(tool));
        if let Narrowed::Lookups { but, .. } = &mut lookups
            && has_near
        {
            let is_far = |tool: &&Tool| near.iter().all(|near| !std::ptr::eq(*near, *tool));
            let far = self.setup.catalog.offered().filter(is_far);
            but.extend(far.map(|tool| (tool.server.clone(), tool.name.clone())));
        }
        lookups
    }

    /// Returns the lookup of the only path that results name and that nobody said or used: the file that a file names.
    pub(in crate::turn) fn onward(&self, call: &Call) -> Option<Narrowed> {
        let (made, arguments) = (self.made(), call.arguments.as_object().filter(|_| self.looks_up(call))?);
        let path = self.said_things().only_new_path(made.iter().map(|made| &made.call.arguments))?;
        let has_ending = |path: &str| path.rsplit(['/', '\\']).next().is_some_and(|name| name.contains('.'));
        let is_alike = |value: &Value| {
            // A folder is not read like a file.
            value.as_str().is_some_and(|own| own.contains(['/', '\\']) && has_ending(own) == has_ending(&path))
        };
        let (member, _) = arguments.iter().find(|(_, value)| is_alike(value))?;
        // A search in a file finds nothing.
        let read = made.iter().rev().filter(|made| made.succeeded()).map(|made| made.call).find_map(|call| {
            let tool = self.tool(call)?;
            let member = only_member(tool)?;
            decide::reads_file(tool, &member).then_some((call, member))
        });
        let (call, member) = read.unwrap_or((call, member.clone()));
        Some(values(call, vec![(member, vec![path.into()])]))
    }

    /// Returns the reading of the one file that the last search found, if the request asks for something that no result
    /// has.
    pub(in crate::turn) fn found_file(&self) -> Option<Narrowed> {
        let made = self.made();
        let question = self.request().filter(|_| self.asks_to_be_told())?;
        let (_, result) = self.last_lookup(&made).and_then(|_| self.results().next())?;
        let (said, path) = (self.said_things(), result.trim());
        let is_new = said.only_new_path(made.iter().map(|made| &made.call.arguments)).is_some_and(|new| new == path);
        // If the words of the question are all there, the path itself is the answer.
        let is_open = || said.has_open_words(question, &self.texts_of_calls());
        if is_new && is_open() { self.reading(path) } else { None }
    }

    /// Returns the reading of a file that the request names and no call has used, in the place of a change with other
    /// texts than the user's: `write_file` for "copy /a.txt into /b.txt".
    pub(in crate::turn) fn unread(&self, call: &Call) -> Option<Narrowed> {
        // A change with the user's own words needs no file.
        if !self.changes(call) || self.said_things().is_said(&call.arguments) {
            return None;
        }
        let own = decide::texts(&call.arguments);
        let mut unused = self.unused().into_iter().filter(|thing| decide::file_name(thing).is_some());
        self.reading(&unused.find(|path| !own.iter().any(|text| text.contains(&**path)))?)
    }

    /// Returns the call of a tool that reads the file at this path; `None` if there is no such tool.
    fn reading(&self, path: &str) -> Option<Narrowed> {
        let reads = |tool: &&Tool| name_words(&tool.name).iter().any(|word| word.eq_ignore_ascii_case("read"));
        self.setup.catalog.offered().filter(reads).find_map(|tool| {
            let member = only_member(tool).filter(|member| looks_up(tool) && decide::reads_file(tool, member))?;
            Some(of(tool, vec![(member, vec![path.into()])]))
        })
    }

    /// Returns a lookup of an object that the request names and no call has used, if the request says its kind.
    pub(in crate::turn) fn unused_by_kind(&self) -> Option<Narrowed> {
        let said = self.said_things();
        self.unused().into_iter().find_map(|thing| {
            let member = said.kind_named(&thing)?.to_owned();
            let mut lookups = self.by_likeness().filter(|tool| looks_up(tool)).filter_map(|tool| self.lacks(tool));
            let lacks = lookups.find(|lacks| lacks.member == member)?;
            let is_number = |own: &Parameter<'_>| own.name == member && types(own.schema).any(|own| own == "integer");
            let thing = value_of(&thing, lacks.tool.parameters().any(|own| is_number(&own)))?;
            Some(lacks.filled(thing))
        })
    }

    /// Returns tools other than those that were called, if the request names an object that no call has used and asks
    /// for an action.
    pub(in crate::turn) fn others(&self) -> Option<Narrowed> {
        let made = self.made();
        // After a failure that no later call has made good the next call would be a guess.
        let is_open = |at: usize| made[at].failed() && !is_made_good(&made, at);
        // A question asks for no action, and without an unused thing nothing is left to do.
        if self.asks_a_question() || self.unused().is_empty() || (0..made.len()).any(is_open) {
            return None;
        }
        let required = made.iter().filter_map(|made| Some(required(self.tool(made.call)?))).collect();
        Some(Narrowed::Others { but: made.iter().map(|made| name(made.call)).collect(), required })
    }

    /// Returns the tools for a change whose names have the verb of a part of the request, if no change was made: the order
    /// "Assign the ticket to whoever is on call" is not carried out by lookups.
    pub(in crate::turn) fn ordered(&self) -> Option<Narrowed> {
        let mentions = self.mentions();
        let changed = |made: &Made<'_>| made.succeeded() && self.changes(made.call);
        if self.asks_a_question() || self.made().iter().any(changed) {
            return None;
        }
        let is_other = |tool: &&Tool| !(may_change(tool) && mentions.order(&tool.name));
        let but = self.setup.catalog.offered().filter(is_other).map(|tool| (tool.server.clone(), tool.name.clone()));
        Some(Narrowed::Others { but: but.collect(), required: Vec::new() })
    }

    /// Returns the tool that was probably meant instead of a failed change, otherwise lookups of the cause after a call
    /// like this one failed, if no call succeeded since.
    pub(in crate::turn) fn after_failed(&self, call: &Call) -> Option<Narrowed> {
        let made = self.made();
        if let Some(meant) = self.meant_instead(call, &made) {
            return Some(meant);
        }
        let failed = made.iter().rposition(|made| made.failed() && made.call.arguments == call.arguments)?;
        // What was found since may have removed the cause.
        let is_new = made[failed..].iter().all(|since| !since.succeeded());
        is_new.then(|| self.lookups_for(call, Vec::new()))
    }

    /// Returns another tool that makes changes and fits the request better than the tool of this change, if no other
    /// change failed: switching to a branch fails if the request was to create it.
    fn meant_instead(&self, call: &Call, made: &[Made<'_>]) -> Option<Narrowed> {
        let is_other = |made: &Made<'_>| made.failed() && self.changes(made.call) && name(made.call) != name(call);
        // If a different change failed as well, a further guess is unlikely to be right.
        if !self.changes(call) || made.iter().any(is_other) {
            return None;
        }
        let likeliest = self.setup.catalog.likeliest(self.request()?, LIKELIEST);
        // If the called tool fits the request best, what it needs is looked up instead.
        let mut better = likeliest.into_iter().take_while(|tool| !is_of(tool, call));
        let meant = better.find(|tool| may_change(tool))?;
        let others = call.arguments.as_object().cloned().unwrap_or_default();
        let (server, tool) = (meant.server.clone(), meant.name.clone());
        Some(Narrowed::Values { server, tool, members: Vec::new(), others })
    }

    /// Returns the lookup of today's date, if the call has a date that cannot be known without it.
    pub(in crate::turn) fn today(&self, call: &Call) -> Option<Narrowed> {
        let says_now = |tool: &&Tool| {
            let words: Vec<String> = name_words(&tool.name).iter().map(|word| word.to_lowercase()).collect();
            let has = |any: &[&str]| words.iter().any(|word| any.contains(&&**word));
            has(&["now", "today"]) || has(&["current"]) && has(&["date", "datetime", "day", "time"])
        };
        let is_needed = self.said_things().lacks_today(&call.arguments);
        let mut lookups = self.setup.catalog.offered().filter(|tool| is_needed && self.is_new_lookup(tool));
        let tool = lookups.find(|tool| says_now(tool) && required(tool).is_empty())?;
        Some(of(tool, Vec::new()))
    }

    /// Returns a tool that requires only this identifier, as the kind that the request names, and that is a lookup if this
    /// call is one: `get_order` for "order O-1042" if the call took it for a customer's.
    pub(in crate::turn) fn takes(&self, call: &Call, member: String, id: Value) -> Option<Narrowed> {
        let alike = self.by_likeness().filter(|tool| looks_up(tool) == self.looks_up(call));
        let lacks = alike.filter_map(|tool| self.lacks(tool)).find(|lacks| lacks.member == member)?;
        Some(lacks.filled(id))
    }

    /// Returns the lookup by an identifier of the kind that the request names, in the place of a search for it: `get_order`
    /// for "order O-1042", not a search for customers of that name.
    pub(in crate::turn) fn by_its_id(&self, call: &Call) -> Option<Narrowed> {
        let (said, used) = (self.said_things(), self.used());
        let members = call.arguments.as_object().filter(|_| self.looks_up(call))?;
        let new = members.iter().filter(|(name, _)| !is_id(name)).filter_map(|(_, value)| value.as_str());
        // A text of several words is no identifier, and a used one was looked up already.
        new.filter(|text| !text.contains(char::is_whitespace) && !used.has(text))
            .find_map(|text| self.takes(call, said.kind_named(text)?.to_owned(), text.into()))
    }

    /// Returns a lookup that was not made yet, of the only object in results that the request asks about.
    pub(in crate::turn) fn leading(&self) -> Option<Narrowed> {
        let question = self.request().filter(|_| self.asks_to_be_told())?;
        let (made, said) = (self.made(), self.said_things());
        // A destination `LH442` does not use the flight.
        let members = made.iter().filter_map(|made| made.call.arguments.as_object()).flatten();
        let used: HashSet<&Value> = members.filter(|(name, _)| is_id(name)).map(|(_, value)| value).collect();
        let ids = said.asked_of(question, &self.texts_of_calls());
        let ids: Vec<_> = ids.into_iter().filter(|(_, id)| !used.contains(id)).collect();
        let takes = |member: &str, name: &str| {
            is_same_member(name, member) || id_of(&kind_of_name(member).unwrap_or(member.to_lowercase())) == name
        };
        let lookup = |tool: &Tool| {
            let lacks = self.lacks(tool)?;
            let (_, id) = ids.iter().find(|(name, _)| takes(&lacks.member, name))?;
            Some(lacks.filled((*id).clone()))
        };
        self.by_likeness().filter(|tool| self.is_new_lookup(tool)).find_map(lookup)
    }

    /// Returns all tools, those first that are most like the request.
    fn by_likeness(&self) -> impl Iterator<Item = &Tool> {
        let likeliest = self.setup.catalog.likeliest(self.request().unwrap_or_default(), LIKELIEST);
        likeliest.into_iter().chain(self.setup.catalog.offered())
    }

    /// Returns a lookup that was not made yet, of an object whose identifier or file the request names, if the last
    /// lookup found nothing.
    pub(in crate::turn) fn looked_up_by_name(&self) -> Option<Narrowed> {
        let made = self.made();
        self.last_lookup(&made).filter(|_| self.found_nothing())?;
        let (said, used) = (self.said_things(), self.used());
        self.by_likeness().filter(|tool| self.is_new_lookup(tool)).find_map(|tool| {
            let lacks = self.lacks(tool)?;
            let file = || said.first_file().filter(|_| decide::reads_file(tool, &lacks.member)).map(str::to_owned);
            let named = kind_of_id(&lacks.member).and_then(|kind| said.id_of_kind(&kind)).or_else(file);
            let named = named.filter(|named| !used.has(named))?;
            Some(lacks.filled(named.into()))
        })
    }

    /// Returns a lookup in the place of one that requires a number which nobody said, if the request is not more like this
    /// one: one that needs less, with the same values, or one that a result leads to.
    pub(in crate::turn) fn needs_less(&self, call: &Call) -> Option<Narrowed> {
        let tool = self.tool(call).filter(|tool| looks_up(tool))?;
        let said = self.said_things();
        let (unsaid, own) = (said.unsaid_numbers(&call.arguments).collect::<Vec<_>>(), required(tool));
        let is_unsaid = |member: &String| unsaid.contains(&member) && !has_default(tool, member);
        let rest: Vec<String> = own.iter().filter(|member| !is_unsaid(member)).cloned().collect();
        let is_meant = || self.setup.catalog.likeliest(self.request()?, 1).first().map(|best| is_of(best, call));
        // Nothing would be left to look up with, no number was invented, or the request asks for this tool:
        // `Find a gap`.
        if rest.is_empty() || rest.len() == own.len() || is_meant().unwrap_or_default() {
            return None;
        }
        let mut others = self.setup.catalog.offered().filter(|tool| self.is_new_lookup(tool));
        let Some(other) = others.find(|tool| required(tool) == rest) else { return self.leading() };
        Some(of(other, rest.iter().map(|member| (member.clone(), vec![call.arguments[member].clone()])).collect()))
    }

    /// Returns this change with the one number of the request that it does not use, for the only number that it left out:
    /// "refund 10 of the order" refunds not all of it.
    pub(in crate::turn) fn with_number(&self, call: &Call) -> Option<Narrowed> {
        let tool = self.tool(call).filter(|tool| may_change(tool))?;
        let is_number = |own: &Parameter<'_>| types(own.schema).any(|own| matches!(own, "integer" | "number"));
        let is_free = |own: &Parameter<'_>| !is_id(own.name) && call.arguments.get(own.name).is_none();
        let mut members = tool.parameters().filter(|own| is_number(own) && is_free(own));
        // With two numbers to fill in, or two in the request, it would be a guess which is which.
        let member = members.next().filter(|_| members.next().is_none())?.name.to_owned();
        let (unused, written) = (self.unused(), call.arguments.to_string());
        let is_used = |thing: &String| written.split(|c: char| !c.is_alphanumeric()).any(|word| word == thing);
        let numbers = unused.iter().filter(|thing| !is_used(thing));
        let mut numbers = numbers.filter_map(|thing| serde_json::from_str(thing).ok().filter(Value::is_number));
        let number = numbers.next().filter(|_| numbers.next().is_none())?;
        Some(corrected(call, vec![(member, vec![number])]))
    }

    /// Returns the only parameter that a tool requires besides those whose values earlier calls had: after `list_pods`
    /// of a namespace `get_pod_logs` lacks only the pod. `None` if it lacks none or several.
    fn lacks<'t>(&self, tool: &'t Tool) -> Option<Lacking<'t>> {
        if let Some(member) = only_member(tool) {
            return Some(Lacking { tool, member, had: Vec::new() });
        }
        let made = self.made();
        let made: Vec<_> = made.iter().rev().filter(|made| made.succeeded()).map(|made| &made.call.arguments).collect();
        let value = |member: &String| made.iter().find_map(|arguments| arguments.get(member)).cloned();
        let (had, mut lacking): (Vec<_>, Vec<_>) =
            required(tool).into_iter().map(|member| (value(&member), member)).partition(|(value, _)| value.is_some());
        let (_, member) = lacking.pop().filter(|_| lacking.is_empty())?;
        let had = had.into_iter().map(|(value, member)| (member, value.into_iter().collect())).collect();
        Some(Lacking { tool, member, had })
    }

    pub(super) fn is_new_lookup(&self, tool: &Tool) -> bool {
        looks_up(tool) && !self.made().iter().any(|made| is_of(tool, made.call))
    }
}

/// Tool for a call, in which the value of only one required parameter is missing.
struct Lacking<'t> {
    tool: &'t Tool,
    /// Required parameter whose value is missing.
    member: String,
    /// Other required parameters, each with its one value.
    had: Vec<(String, Vec<Value>)>,
}

impl Lacking<'_> {
    /// Returns the choice of calls with this value for the missing parameter.
    fn filled(self, value: Value) -> Narrowed {
        let missing = (self.member, vec![value]);
        of(self.tool, self.had.into_iter().chain([missing]).collect())
    }
}

/// Returns the choice of calls of this tool in which each of these parameters has one of these values.
fn of(tool: &Tool, members: Vec<(String, Vec<Value>)>) -> Narrowed {
    Narrowed::Values { server: tool.server.clone(), tool: tool.name.clone(), members, others: Map::new() }
}

/// Returns an object that the request names as a string or, if it `is_number`, as a number; `None` if it is no number.
fn value_of(thing: &str, is_number: bool) -> Option<Value> {
    if is_number { thing.parse::<u64>().ok().map(Value::from) } else { Some(thing.into()) }
}

/// Returns the required parameter of a tool that has only one; `None` for any other tool.
fn only_member(tool: &Tool) -> Option<String> {
    let mut required = required(tool).into_iter();
    required.next().filter(|_| required.next().is_none())
}

fn has_default(tool: &Tool, member: &str) -> bool {
    tool.parameters().any(|parameter| parameter.name == member && parameter.schema.get("default").is_some())
}

/// Returns `true` if a parameter takes a glob according to the tool's definition.
fn is_glob(parameter: &Parameter<'_>, tool: &Tool) -> bool {
    let own = parameter.schema.get("description").and_then(Value::as_str);
    let says = |text: Option<&str>| text.is_some_and(|text| text.to_lowercase().contains("glob"));
    // A tool's description speaks of its main parameter; `path` of the same tool takes no glob.
    says(own) || matches!(parameter.name, "pattern" | "glob") && says(tool.description.as_deref())
}

/// Returns a glob that matches at any depth, and any name that contains the pattern's, with a small first letter, too;
/// `None` if the pattern matches at any depth already.
fn wider(pattern: &str) -> Option<Value> {
    // Small models write `.*`, as in a regular expression.
    let pattern = pattern.replace(".*", "*");
    let name = pattern.trim_start_matches("./").trim_start_matches('/');
    let is_glob = name.contains(['*', '?', '[']);
    // A user's `Heron` is often the file `heron.txt`.
    let name = match name.chars().next().filter(char::is_ascii_uppercase) {
        Some(first) => format!("[{first}{}]{}", first.to_ascii_lowercase(), &name[1..]),
        None => name.to_owned(),
    };
    let wide = if is_glob { format!("**/{name}") } else { format!("**/*{name}*") };
    (!name.starts_with("**/")).then(|| wide.into())
}
