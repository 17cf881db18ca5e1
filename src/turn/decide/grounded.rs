//! Checks whether the values by which a call names things were mentioned.
//!
//! A small model whose answer is constrained to a call fills every gap: if it does not know an identifier, it copies
//! one from an example, or the words of the question. Such a value occurs neither in the user's messages nor in a
//! result. The values that results have under the same name are then candidates; if there are none, something has to be
//! looked up first.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::objects::{Given, Word, given_in, ids_in, objects};
use super::words::words;
use super::zones::named_in;
use crate::constrain::{id_of, is_bare_name, is_id, is_id_word, is_same_member, is_zone, kind_of_id, kind_of_name};
use crate::parse::find_values;
use crate::prompt::Example;
use crate::tools::schema::properties;
use crate::tools::search::significant_words as terms;
use crate::tools::{Tool, is_destructive, may_change, name_words};
use crate::turn::guard::Made;

/// Maximum number of candidates for a value; more are no useful choice.
const MAX_CANDIDATES: usize = 32;

/// Minimum length of a word without a digit that identifies a value; shorter are a file name's ending or an article.
const MIN_WORD: usize = 4;

/// Minimum length of an identifier's prefix that abbreviates a kind of object, such as `ord` in `ord_5501`.
const MIN_PREFIX: usize = 3;

/// The members of a call's arguments whose values were not mentioned.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::turn) struct Ungrounded {
    /// `true` if a value was copied from an example.
    pub(in crate::turn) is_copied: bool,
    /// Members with a value that was not mentioned, for which no result has a value.
    pub(in crate::turn) unknown: Vec<String>,
    /// `true` if the user said each of these values as a word, which may be a name instead of an identifier.
    pub(in crate::turn) is_named: bool,
    /// Identifier that belongs to another kind of object according to the request, with the member for that kind.
    pub(in crate::turn) named_as: Option<(String, Value)>,
    /// Other members with such a value, with the distinct values that results have under their names.
    pub(in crate::turn) known: Vec<(String, Vec<Value>)>,
}

/// A value in a result, or a line of it that names something by an identifier.
#[derive(Debug)]
struct KnownValue {
    value: Value,
    is_line: bool,
    /// Index of the result that contains the value.
    result: usize,
    /// Kind of object that the tool of the result gives, by the tool's name: `event` for `list_events`.
    kind: String,
}

/// Texts of a conversation in which the values of a call must occur: the user's messages and the results.
#[derive(Debug)]
pub(in crate::turn) struct ConversationText {
    /// The user's messages, unchanged.
    raw: String,
    /// The user's messages in lower case.
    pub(super) person: String,
    /// The paths in the user's messages, unchanged.
    paths: Vec<String>,
    pub(super) results: Vec<String>,
    /// The values in the results, the newest result's first.
    found: Vec<KnownValue>,
    /// The words of messages and results, in lower case.
    pub(super) words: HashSet<String>,
    /// Values of the calls in the prompt's examples.
    examples: HashSet<String>,
    /// Results in the prompt's examples.
    shown_results: Vec<String>,
    /// Values of calls that failed.
    failed: HashSet<String>,
    /// Time zones of the places in the user's messages.
    zones: Vec<String>,
    /// Names of the tools' parameters.
    members: Vec<String>,
}

impl ConversationText {
    pub(in crate::turn) fn new(person: String, results: Vec<String>) -> Self {
        let paths = pieces(&person).filter(|word| file_name(word).is_some()).map(str::to_owned).collect();
        let (raw, person, zones) = (person.clone(), person.to_lowercase(), named_in(&person));
        let all = results.iter().chain([&person]);
        let words = all.flat_map(|text| words(text)).collect();
        let found = results.iter().enumerate().rev().flat_map(|(result, text)| {
            let given = given_in(text);
            let is_line = matches!(given, Given::Lines(_));
            given.values().into_iter().map(move |value| KnownValue { value, is_line, result, kind: String::new() })
        });
        let found = found.collect();
        let (examples, shown_results, failed, members) = Default::default();
        ConversationText { raw, person, paths, results, found, words, zones, examples, shown_results, failed, members }
    }

    /// Adds the calls so far, and the parameters of tools: a request names the kind of object next to its identifier.
    pub(in crate::turn) fn with_calls(self, made: &[Made<'_>], members: impl Iterator<Item = String>) -> Self {
        let gave: Vec<_> = made.iter().filter_map(|made| Some((made, made.said()?))).collect();
        let of = |result: usize| Some(gave.iter().find(|(_, text)| **text == *self.results[result])?.0);
        // The identifier that an error names is the wrong one.
        let is_wrong = |found: &KnownValue| found.is_line && of(found.result).is_some_and(Made::failed);
        let mut found: Vec<KnownValue> = self.found.into_iter().filter(|found| !is_wrong(found)).collect();
        for found in &mut found {
            let last = of(found.result).and_then(|made| name_words(&made.call.tool).pop());
            found.kind = last.map(|word| word.to_lowercase().trim_end_matches('s').to_owned()).unwrap_or_default();
        }
        // The values of a failed call are accepted again only if the user said them; where the error names some of them,
        // the others may be right.
        let wrong = |made: &Made<'_>| {
            let (all, error) = (texts(&made.call.arguments), made.said().unwrap_or_default());
            let named: Vec<String> = all.iter().filter(|text| error.contains(&***text)).cloned().collect();
            if named.is_empty() { all } else { named }
        };
        let failed = made.iter().filter(|made| made.failed()).flat_map(wrong).collect();
        ConversationText { found, failed, members: members.collect(), ..self }
    }

    /// Adds the prompt's examples: results, and calls with their values in quotation marks.
    pub(in crate::turn) fn with_examples(mut self, shown: impl Iterator<Item = Example>) -> Self {
        for example in shown {
            self.examples.extend(find_values(&example.call).values.iter().flat_map(|found| texts(&found.value)));
            self.shown_results.extend(example.follows.then_some(example.question));
        }
        self
    }

    /// Returns the members of a call's arguments with a value that was not mentioned; `None` if there are none.
    pub(in crate::turn) fn ungrounded(&self, arguments: &Value, tool: &Tool) -> Option<Ungrounded> {
        self.wrong(arguments, tool, &|name, value, found| {
            // An identifier that only another, less fitting object has is not the right one.
            let is_another =
                || is_id(name) && !found.is_empty() && !found.contains(value) && !self.is_said_by_person(value);
            !self.is_grounded(name, value, tool) || is_another()
        })
    }

    /// Returns `true` if the arguments name an object that was not mentioned, not even by its file name; the model may
    /// know the directory of a file.
    pub(in crate::turn) fn is_unnamed(&self, arguments: &Value, tool: &Tool) -> bool {
        let is_known =
            |value: &Value| texts(value).iter().all(|text| self.is_text_said(file_name(text).unwrap_or(text)));
        let found = self.ungrounded(arguments, tool).unwrap_or_default();
        let members = found.unknown.iter().chain(found.known.iter().map(|(member, _)| member));
        members.into_iter().any(|member| !is_known(&arguments[member]))
    }

    /// Returns the members of a call that is known to be wrong whose value was not mentioned or differs from those in
    /// results; `None` if there are none.
    pub(in crate::turn) fn mistaken(&self, arguments: &Value, tool: &Tool) -> Option<Ungrounded> {
        self.wrong(arguments, tool, &|name, value, found| match found {
            [] => !self.is_grounded(name, value, tool),
            found => !found.contains(value),
        })
    }

    fn wrong(
        &self,
        arguments: &Value,
        tool: &Tool,
        is_wrong: &dyn Fn(&str, &Value, &[Value]) -> bool,
    ) -> Option<Ungrounded> {
        let mut wrong = Ungrounded { is_named: true, ..Ungrounded::default() };
        for (name, value) in arguments.as_object()? {
            let found = self.candidates(name, value, tool);
            if !is_wrong(name, value, &found) {
                continue;
            }
            wrong.is_copied |= texts(value).iter().any(|text| self.is_shown(text));
            if found.is_empty() {
                wrong.is_named &= value.as_str().is_some_and(|text| self.names(text));
                let other = value.as_str().and_then(|text| self.named_as(name, text));
                wrong.named_as = wrong.named_as.or_else(|| Some((other?.to_owned(), value.clone())));
                wrong.unknown.push(name.clone());
            } else {
                wrong.known.push((name.clone(), found));
            }
        }
        (!wrong.unknown.is_empty() || !wrong.known.is_empty()).then_some(wrong)
    }

    pub(in crate::turn) fn is_said_by_person(&self, value: &Value) -> bool {
        if let Value::Number(number) = value {
            let number = number.to_string();
            return words(&self.person).any(|word| word == number);
        }
        texts(value).iter().any(|text| self.person.contains(&text.to_lowercase()))
    }

    /// Returns `true` if results have the value only under other identifiers' names.
    fn is_another_id(&self, name: &str, text: &str) -> bool {
        let values = self.found.iter().filter(|found| !found.is_line);
        let members = values.flat_map(|found| {
            let members = objects(&found.value).into_iter().flatten();
            members.map(|(own, value)| (own, value, &*found.kind))
        });
        let mut found = members.filter(|(_, value, _)| value.as_str() == Some(text)).peekable();
        let takes = |kind: &str| kind_of_id(name).is_some_and(|own| own.ends_with(kind));
        // A bare `id` may be the identifier of anything, unless a tool takes those of what its tool lists.
        let is_another = |own: &str, kind: &str| match own {
            "id" => self.has_ids_of(kind) && !takes(kind),
            own => is_id(own) && !is_same_member(own, name),
        };
        found.peek().is_some() && found.all(|(own, _, kind)| is_another(own, kind))
    }

    /// Returns the other parameter that an identifier belongs to according to the user's words: in "orders O-1 and O-2"
    /// the identifiers are not those of customers.
    pub(in crate::turn) fn named_as(&self, name: &str, id: &str) -> Option<&str> {
        self.kind_named(id).filter(|own| !is_same_member(own, name))
    }

    /// Returns the parameter of a tool that an identifier belongs to according to the user's words.
    pub(in crate::turn) fn kind_named(&self, id: &str) -> Option<&str> {
        // A word without a digit is a name.
        let is_id = id.len() > 1 && id.contains(|c: char| c.is_ascii_digit());
        let lower = id.to_lowercase();
        if let Some(own) = self.kind_by_prefix(&lower).filter(|_| is_id) {
            return Some(own);
        }
        let (before, _) = self.person.split_once(&lower).filter(|_| is_id)?;
        let mut members = self.members.iter().map(String::as_str);
        let mut words = words(before).collect::<Vec<_>>().into_iter().rev();
        // In "orders O-1 and O-2" the other identifiers of the list are between the noun and this one.
        let is_beside = |word: &String| word.contains(|c: char| c.is_ascii_digit()) || word.len() == 1 || word == "and";
        // "order no. O-1" names the order, not the number.
        let noun = words.find(|word| !is_beside(word) && word != "or" && !is_id_word(word.trim_end_matches('s')))?;
        let noun = noun.trim_end_matches('s');
        members.find(|own| kind_of_id(own).is_some_and(|kind| kind == noun))
    }

    /// Returns the only parameter whose kind of object an identifier begins with, in full or abbreviated: `sku` for
    /// `SKU-310`, `order_id` for `ord_5501`.
    fn kind_by_prefix(&self, id: &str) -> Option<&str> {
        let (prefix, _) = id.split_once(['_', '-']).filter(|(prefix, _)| prefix.len() >= MIN_PREFIX)?;
        let is_own = |member: &&str| {
            let kind = kind_of_id(member).filter(|kind| !kind.is_empty());
            kind.unwrap_or_else(|| member.to_lowercase()).starts_with(prefix)
        };
        let mut own = self.members.iter().map(String::as_str).filter(is_own);
        let first = own.next()?;
        own.all(|other| is_same_member(other, first)).then_some(first)
    }

    /// Returns `true` if results lead to a lookup that requires these members: by a path that neither the user mentioned nor
    /// these arguments have, or by the one such identifier of a result.
    pub(in crate::turn) fn leads_on<'a>(
        &self,
        members: HashSet<String>,
        arguments: impl Iterator<Item = &'a Value>,
    ) -> bool {
        let used: HashSet<String> = arguments.flat_map(texts).collect();
        let is_said = |text: &str| used.contains(text) || self.person.contains(&text.to_lowercase());
        let is_wanted = |name: &str| members.iter().any(|member| is_same_member(member, name));
        let leads = |(name, value): (&String, &Value)| is_wanted(name) && !value.as_str().is_some_and(is_said);
        let mut of_results: HashMap<usize, HashSet<&Value>> = HashMap::new();
        for found in &self.found {
            let leading = objects(&found.value).into_iter().flatten().filter(|member| leads(*member));
            of_results.entry(found.result).or_default().extend(leading.map(|(_, value)| value));
        }
        // `Europe/Berlin` has the form of a path.
        let is_path = |word: &str| file_name(word).is_some() && !is_zone(word) && !is_said(word);
        let has_path = || self.results.iter().any(|result| pieces(result).any(is_path));
        of_results.values().any(|values| values.len() == 1) || members.iter().any(|name| takes_path(name)) && has_path()
    }

    /// Returns `true` if one of these arguments names an object that a result gave and the user did not: an identifier,
    /// a path.
    pub(in crate::turn) fn has_found_thing(&self, arguments: &Value) -> bool {
        let is_given = |text: &String| self.results.iter().any(|said| said.contains(&**text));
        let is_thing = |name: &str, text: &str| is_id(name) || names_a_thing(name, text);
        let mut members =
            arguments.as_object().into_iter().flatten().filter(|(_, value)| !self.is_said_by_person(value));
        members.any(|(name, value)| ids_of(value).iter().any(|text| is_thing(name, text) && is_given(text)))
    }

    /// Returns the names of the members of results with ids that none of these arguments has. An `id` of an object that
    /// `list_bases` gave is a `base_id`, too.
    pub(in crate::turn) fn unused_ids<'a>(&self, arguments: impl Iterator<Item = &'a Value>) -> Vec<String> {
        let used: HashSet<String> =
            arguments.flat_map(Value::as_object).flat_map(Map::values).flat_map(ids_of).collect();
        let is_new = |value: &Value| ids_of(value).iter().any(|id| !used.contains(id));
        let mut ids = Vec::new();
        for (object, kind) in self.found() {
            for (name, _) in object.iter().filter(|(name, value)| is_id(name) && is_new(value)) {
                ids.extend((name == "id" && self.has_ids_of(kind)).then(|| id_of(kind)));
                ids.push(name.clone());
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns the only path in results that the user did not say and none of these arguments has; `None` if there are
    /// several.
    pub(in crate::turn) fn only_new_path<'a>(&self, arguments: impl Iterator<Item = &'a Value>) -> Option<String> {
        let used: Vec<String> = arguments.flat_map(texts).collect();
        let is_new = |path: &&str| {
            // An address and a zone have the form of a path.
            let is_whole = file_name(path).is_some() && !path.contains("://") && !is_zone(path);
            is_whole && !self.person.contains(&path.to_lowercase()) && used.iter().all(|text| text != path)
        };
        let mut paths: Vec<&str> = self.results.iter().flat_map(|result| pieces(result)).filter(is_new).collect();
        paths.dedup();
        // Of several paths none is certain to be the next one.
        let [path] = paths[..] else { return None };
        Some(path.to_owned())
    }

    /// Returns `true` if a significant word of this question is neither in a result nor in these calls.
    pub(in crate::turn) fn has_open_words(&self, question: &str, calls: &str) -> bool {
        let mut open = asked(question);
        let said = self.results.iter().map(String::as_str).chain([calls]);
        said.flat_map(terms).for_each(|word| _ = open.remove(&word));
        !open.is_empty()
    }

    /// Returns the identifiers of the one object in results that shares the most words with this question, if a
    /// significant word of the question is neither in a result nor in these calls.
    pub(in crate::turn) fn asked_of(&self, question: &str, calls: &str) -> Vec<(String, &Value)> {
        let asked = asked(question);
        let is_own = |(name, value): &(&String, &Value)| self.is_own_id(name, value);
        let shared = |object: &Map<String, Value>| {
            let names = object.keys().flat_map(|name| terms(name));
            let own: HashSet<String> =
                object.values().flat_map(texts).flat_map(|text| terms(&text)).chain(names).collect();
            own.intersection(&asked).count()
        };
        let counted: Vec<_> = self.found().map(|(object, kind)| (shared(object), object, kind)).collect();
        let most = counted.iter().map(|(count, ..)| *count).max().unwrap_or_default();
        let has_own = |object: &Map<String, Value>| object.iter().any(|own| is_own(&own));
        let mut best = counted.into_iter().filter(|(count, object, _)| *count == most && has_own(object));
        let (Some((_, object, kind)), None) = (best.next(), best.next()) else { return Vec::new() };
        // If all words of the question are in the results, the answer is there, too.
        if most == 0 || !self.has_open_words(question, calls) {
            return Vec::new();
        }
        let name = |name: &str| match is_id(name) && name != "id" {
            true => name.to_owned(),
            // A bare `id` or `number` is of the kind that the tool lists.
            false => id_of(if is_id_word(name) { kind } else { name }),
        };
        object.iter().filter(is_own).map(|(own, value)| (name(own), value)).collect()
    }

    /// Returns the identifier that the user's messages give next to the name of its kind: `A-5` for `article` in "article
    /// no. A-5".
    pub(in crate::turn) fn id_of_kind(&self, kind: &str) -> Option<String> {
        let mut noun = String::new();
        ids_in(&self.raw).find_map(|word| match word {
            Word::Id(id) => (noun == kind).then(|| id.to_owned()),
            Word::Other(word) => {
                noun = word.to_lowercase().trim_end_matches('s').to_owned();
                None
            }
        })
    }

    /// Returns the first path in the user's messages to a file whose name has an extension.
    pub(in crate::turn) fn first_file(&self) -> Option<&str> {
        let is_file = |path: &&String| file_name(path).is_some_and(|name| name.contains('.'));
        self.paths.iter().find(is_file).map(String::as_str)
    }

    /// Returns `true` if a text is a word of the user's that may be a name as well as an identifier.
    fn names(&self, text: &str) -> bool {
        text.chars().all(char::is_alphabetic) && self.person.contains(&text.to_lowercase())
    }

    /// Returns `true` if each text of the arguments occurs in the user's messages or in a result.
    pub(in crate::turn) fn is_said(&self, arguments: &Value) -> bool {
        texts(arguments).iter().all(|text| self.is_text_said(text))
    }

    /// Returns `true` if the user said a text, in any case, or a result has it.
    pub(super) fn is_text_said(&self, text: &str) -> bool {
        self.person.contains(&text.to_lowercase()) || self.results.iter().any(|said| said.contains(text))
    }

    /// Returns `true` if a text comes from an example of the prompt.
    fn is_shown(&self, text: &str) -> bool {
        // A single word of an example may be the user's as well.
        let is_said = || text.contains([' ', ':']) && self.shown_results.iter().any(|shown| shown.contains(text));
        self.examples.contains(text) || is_said()
    }

    fn is_grounded(&self, name: &str, value: &Value, tool: &Tool) -> bool {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) if is_id(name) => {
                let is_in_schema = || is_in_schema(name, value, tool.input_schema.as_ref());
                return self.words.contains(&number.to_string()) || is_in_schema();
            }
            Value::Array(items) => return items.iter().all(|item| self.is_grounded(name, item, tool)),
            _ => return true,
        };
        let is_thing = names_a_thing(name, &text);
        // A text that names nothing is the model's to write, and what the schema gives needs no one to say
        // it.
        if !(is_thing || self.is_shown(&text)) || is_in_schema(name, value, tool.input_schema.as_ref()) {
            return true;
        }
        if is_zone(&text) {
            return self.zones.is_empty() || self.zones.contains(&text);
        }
        let lower = text.to_lowercase();
        let is_said = self.person.contains(&lower);
        // The result that has the value may be the error about it.
        if self.failed.contains(&text) && !is_said {
            return false;
        }
        if is_id(name) {
            // A name may be an identifier if no result has another one; of what is changed, if such things were listed.
            let is_word = text.chars().all(char::is_alphabetic);
            let own = kind_of_id(name).unwrap_or_default();
            let is_of_kind = |found: &KnownValue| !found.kind.is_empty() && own.ends_with(&*found.kind);
            // A lookup may try a name; a change may not take `Monstera` for a record before records were
            // listed.
            let were_listed = || !may_change(tool) || own.is_empty() || self.found.iter().any(is_of_kind);
            let has_none = || self.candidates(name, value, tool).is_empty();
            let is_id = !is_word || !self.results.is_empty() && were_listed() && has_none();
            // An account may be a mail address, a number is none.
            let is_address = text.contains('@') && !name.to_lowercase().ends_with("id");
            let is_whole = !text.contains(char::is_whitespace) && !is_address;
            let is_one = is_whole && !is_day(&text) && !lower.contains(&name.to_lowercase());
            // A mentioned identifier is the right one only if no result gives another for this member or name.
            return is_id
                && is_one
                && !self.is_another_id(name, &text)
                && self.named_as(name, &text).is_none()
                && (is_said || self.results.iter().any(|said| said.contains(&text)));
        }
        let has = |word: &str| self.words.contains(word) || self.person.contains(word);
        // The number of another identifier makes none: `SKU-1042` for order O-1042.
        let is_one = Word::of(&text) == Word::Id(&text);
        // What is destroyed has to be named: `crashing-pod` is no name for "the pod that is crashing".
        let may_differ = is_thing && !is_one && !(is_destructive(tool) && kind_of_name(name).is_some());
        let are_said = || may_differ && words(&text).all(|word| !tells(&word) || has(&word));
        is_said || self.results.iter().any(|said| said.contains(&text)) || are_said()
    }

    /// Returns the values that results have under a member's name, from the objects that share the most words with the
    /// user's messages, and of these with the tool; for a path, those with the same file name.
    fn candidates(&self, member: &str, value: &Value, tool: &Tool) -> Vec<Value> {
        if value.as_str().is_some_and(is_zone) {
            return self.zones.iter().map(|zone| zone.as_str().into()).collect();
        }
        let own = kind_of_id(member).filter(|kind| !kind.is_empty());
        let is_bare = |name: &str| is_bare_name(name, member);
        let is_own = |kind: &str| !kind.is_empty() && own.as_ref().is_some_and(|own| own.ends_with(kind));
        let names_kind = |kind: &str| !kind.is_empty() && kind_of_name(member).is_some_and(|own| own.ends_with(kind));
        let found = self.named(tool, |name, object, kind| {
            let is_name = || name == name_in(object) && names_kind(kind);
            // `order_id` of any object, `id` of an object that `list_orders` gave, or its name for a member
            // such as `pod_name`.
            is_same_member(name, member) || is_bare(name) && is_own(kind) || is_name()
        });
        let found = self.without_others(found, member);
        match value.as_str().and_then(file_name) {
            _ if !found.is_empty() => found,
            // The result of a tool for other things has no identifier of this kind.
            _ if own.is_some() => {
                let found = self.named(tool, |name, _, kind| is_bare(name) && !self.has_ids_of(kind));
                self.without_others(found, member)
            }
            Some(name) => self.paths_to(name),
            None => found,
        }
    }

    /// Removes the identifiers that begin with the kind of another member.
    fn without_others(&self, mut found: Vec<Value>, member: &str) -> Vec<Value> {
        let kind = |value: &Value| self.kind_by_prefix(&value.as_str()?.to_lowercase());
        found.retain(|value| kind(value).is_none_or(|own| is_same_member(own, member)));
        found
    }

    /// Returns the likeliest values of members that `is_named` accepts, by their object and the kind of object that its
    /// tool gives.
    fn named(&self, tool: &Tool, is_named: impl Fn(&str, &Map<String, Value>, &str) -> bool) -> Vec<Value> {
        let mut found: Vec<Candidate<'_>> = Vec::new();
        for (object, kind) in self.found() {
            let is_value = |value: &Value| value.is_string() || value.is_number();
            let own = object.iter().filter(|(name, value)| is_named(name, object, kind) && is_value(value));
            for (_, value) in own {
                if found.len() < MAX_CANDIDATES && found.iter().all(|found| found.value != value) {
                    found.push(Candidate { value, object });
                }
            }
        }
        self.likeliest(found, tool)
    }

    /// Returns the objects in results, each with the kind of object that its tool gives.
    fn found(&self) -> impl Iterator<Item = (&Map<String, Value>, &str)> {
        self.found.iter().flat_map(|found| objects(&found.value).into_iter().map(|object| (object, &*found.kind)))
    }

    /// Returns `true` if a member of an object in a result is an identifier: by its name, by the kind of object that it
    /// names (`flight: "LH442"`, where a tool takes a `flight_number`), or as the `number` of the object.
    fn is_own_id(&self, name: &str, value: &Value) -> bool {
        match value {
            Value::String(text) => is_id(name) || Word::of(text) == Word::Id(text) && self.has_ids_of(name),
            // A text under `key` may be anything.
            Value::Number(number) => number.is_u64() && (is_id(name) || is_id_word(name)),
            _ => false,
        }
    }

    /// Returns `true` if a tool takes identifiers of this kind of object.
    fn has_ids_of(&self, kind: &str) -> bool {
        !kind.is_empty() && self.members.iter().filter_map(|own| kind_of_id(own)).any(|own| own.ends_with(kind))
    }

    /// Returns the values whose objects share the most words with the user's messages, and of these with the tool.
    fn likeliest(&self, mut found: Vec<Candidate<'_>>, tool: &Tool) -> Vec<Value> {
        let about = [Some(&*tool.name), tool.description.as_deref()].into_iter().flatten();
        let about: HashSet<String> = about.flat_map(terms).collect();
        let person: HashSet<String> = terms(&self.person).into_iter().collect();
        for meant in [&person, &about] {
            let count = |found: &Candidate<'_>| found.words().intersection(meant).count();
            let most = found.iter().map(count).max().unwrap_or_default();
            found.retain(|found| count(found) == most);
        }
        found.into_iter().map(|found| found.value.clone()).collect()
    }

    /// Returns the distinct paths of the user and of results that lead to a file of this name.
    fn paths_to(&self, name: &str) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        let own = self.paths.iter().map(String::as_str);
        let words = own.chain(self.results.iter().rev().flat_map(|result| pieces(result)));
        for path in words.filter(|word| file_name(word) == Some(name)).take(MAX_CANDIDATES) {
            let path = Value::from(path);
            if !found.contains(&path) {
                found.push(path);
            }
        }
        found
    }
}

/// Value that a call may use, and the object in a result that contains it.
struct Candidate<'v> {
    value: &'v Value,
    object: &'v Map<String, Value>,
}

impl Candidate<'_> {
    /// Returns the significant words of the object that describe it.
    fn words(&self) -> HashSet<String> {
        // `"on_call": true` is described by the name of the member.
        let is_so = self.object.iter().filter(|(_, value)| **value == true).map(|(name, _)| name.clone());
        self.object.values().flat_map(texts).chain(is_so).flat_map(|text| terms(&text)).collect()
    }
}

/// Returns the name of the member that names an object in a result: `id` for a line of text, otherwise `name`.
fn name_in(object: &Map<String, Value>) -> &'static str {
    if object.contains_key("") { "id" } else { "name" }
}

/// Returns `true` if a value names an object: an identifier, a path, an address. Texts, patterns and times do not.
fn names_a_thing(member: &str, text: &str) -> bool {
    let has = |c: &[char]| text.contains(c);
    let has_sign = has(&['/', '\\', '@', '-', '_', '#', '.', ':']);
    let has_digit = text.contains(|c: char| c.is_ascii_digit()) && text.contains(char::is_alphabetic);
    // An identifier may be any word; another value names a thing only with a sign or with digits: `a/b.txt`,
    // `A7`.
    let is_thing = is_id(member) || !text.contains(char::is_whitespace) && (has_sign || has_digit);
    // Globs and templates name nothing. A day is a value that a model may compute, but no identifier.
    is_thing && text.len() > 1 && !has(&['*', '?', '{']) && (is_id(member) || !is_day(text))
}

/// Splits a text at white space and quotation marks, and removes the punctuation at the end of each piece.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(|c: char| c.is_whitespace() || c == '"' || c == '\'' || c == '`');
    pieces.map(|piece| piece.trim_end_matches(['.', ',', '?', '!', ':', ';', ')', '。', '，', '？', '！']))
}

/// Returns the last component of a path.
pub(in crate::turn) fn file_name(path: &str) -> Option<&str> {
    let (_, name) = path.rsplit_once(['/', '\\'])?;
    (!name.is_empty() && !path.contains(char::is_whitespace)).then_some(name)
}

/// Returns `true` if a tool reads the file at the path that this member takes.
pub(in crate::turn) fn reads_file(tool: &Tool, member: &str) -> bool {
    takes_path(member) && name_words(&tool.name).iter().any(|word| word.eq_ignore_ascii_case("file"))
}

/// Returns `true` if a parameter takes the path of a file or an address, but not the root directory of a repository.
fn takes_path(member: &str) -> bool {
    let words = name_words(member);
    let is_one = |words: &[&str], own: &String| words.contains(&&*own.to_lowercase());
    words.iter().any(|word| is_one(&["path", "paths", "file", "filename", "uri", "url"], word))
        && !words.iter().any(|word| is_one(&["repo", "repository", "root", "base", "workspace"], word))
}

/// Returns `true` if a text is a date or a time of day.
fn is_day(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains(['-', ':', '/', '.'])
        && text.chars().all(|c| c.is_ascii_digit() || "-:/.TZ+".contains(c))
}

/// Returns `true` if the schema contains the value. An example in the schema does not count, since nobody meant it.
fn is_in_schema(member: &str, value: &Value, schema: Option<&Value>) -> bool {
    let own = schema.into_iter().flat_map(properties).filter(|(name, _)| *name == member);
    let mut given = own.flat_map(|(_, property)| ["enum", "const", "default"].map(|key| &property[key]));
    given.any(|given| given == value || given.as_array().is_some_and(|all| all.contains(value)))
}

/// Returns the texts in a JSON value, trimmed.
pub(in crate::turn) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.trim().to_owned()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Returns the texts in a JSON value; for a non-negative integer, its digits.
fn ids_of(value: &Value) -> Vec<String> {
    value.as_u64().map_or_else(|| texts(value), |number| vec![number.to_string()])
}

/// Returns the significant words of a question, numbers aside.
fn asked(question: &str) -> HashSet<String> {
    terms(question).into_iter().filter(|word| !has_digit(word)).collect()
}

fn has_digit(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

/// Returns `true` if a word is specific enough to identify an object.
fn tells(word: &str) -> bool {
    word.len() >= MIN_WORD || word.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::Dialect;
    use crate::event::Call;
    use crate::outcome::Outcome;

    fn tool() -> Tool {
        Tool::new("act").with_schema(json!({"properties": {
            "mode": {"enum": ["a-1", "b-2"]}, "sku": {"description": "such as SKU-100", "examples": ["SKU-100"]},
        }}))
    }

    fn said() -> ConversationText {
        let result = r#"[{"order_id": "O-1057", "id": 7, "name": "Planning"}, {"order_id": "O-1063", "id": 8}]"#;
        ConversationText::new(
            "把 Close T-198 和 /home/kim/notes.txt, and greet kim@example.com".into(),
            vec![result.into()],
        )
    }

    #[test]
    fn a_value_that_nobody_said_is_found_where_it_names_a_thing() {
        for (arguments, member) in [
            (json!({"ticket_id": "T-198"}), None),
            (json!({"ticket_id": "t198"}), Some("ticket_id")),
            (json!({"ticket_id": "T-100"}), Some("ticket_id")),
            (json!({"order_id": "O-1063"}), None),
            // The words of the question are no id, and a day is none.
            (json!({"event_id": "Close notes"}), Some("event_id")),
            (json!({"event_id": "2026-12-04"}), Some("event_id")),
            // A name is none where something has ids.
            (json!({"event_id": "Planning"}), Some("event_id")),
            (json!({"user_id": "Greet"}), Some("user_id")),
            (json!({"order_id": "order_id-2"}), Some("order_id")),
            (json!({"event_id": 97}), Some("event_id")),
            (json!({"event_id": 1}), Some("event_id")),
            (json!({"event_id": 8}), None),
            (json!({"count": 9}), None),
            (json!({"path": "/home/kim/notes.txt"}), None),
            (json!({"path": "/home/kim/other.txt"}), Some("path")),
            (json!({"path": "kim/notes.md"}), None),
            (json!({"paths": ["/home/kim/notes.txt", "docs/plan.txt"]}), Some("paths")),
            (json!({"to": "anna@example.com"}), Some("to")),
            (json!({"mode": "b-2"}), None),
            (json!({"sku": "SKU-100"}), Some("sku")),
            // What is no thing's name is the model's to write.
            (
                json!({"pattern": "**/*.rs2", "date": "2026-12-04", "time": "14:00", "text": "See you at 8, Anna."}),
                None,
            ),
        ] {
            let found = said().ungrounded(&arguments, &tool());
            let found = found.map(|found| found.known.into_iter().map(|(name, _)| name).chain(found.unknown).collect());
            assert_eq!(found, member.map(|member| vec![member.to_owned()]), "{arguments}");
        }
    }

    #[test]
    fn an_error_that_names_a_value_leaves_the_others() {
        let call = Call::new(Dialect::Json, "add", json!({"list_id": "wl_07", "symbol_id": "Q-4"}));
        let said = |error: &str| {
            let (failed, lists) = (Outcome::error(error), vec![r#"[{"list_id": "wl_07"}]"#.into(), error.to_owned()]);
            let made = Made::new(&call, true, Some(&failed)).unwrap();
            ConversationText::new("Put it on my list.".into(), lists).with_calls(&[made], std::iter::empty())
        };
        let arguments = json!({"list_id": "wl_07"});
        assert_eq!(said("There is no symbol Q-4.").ungrounded(&arguments, &tool()), None);
        assert!(said("It failed.").ungrounded(&arguments, &tool()).is_some());
    }

    #[test]
    fn an_id_of_what_another_tool_lists_is_no_other_thing_s() {
        let call = Call::new(Dialect::Json, "list_bases", json!({}));
        let bases = Outcome::result(r#"[{"id": "appQ9", "name": "Plant care"}]"#);
        let made = Made::new(&call, true, Some(&bases)).unwrap();
        let members = ["base_id", "record_id"].map(str::to_owned);
        let said = ConversationText::new("Delete Monstera in Plant care.".into(), vec![bases.text.clone()])
            .with_calls(&[made], members.into_iter());
        let is_known = |tool: &str, arguments| said.ungrounded(&arguments, &Tool::new(tool)).is_none();
        assert!(is_known("list_records", json!({"base_id": "appQ9"})));
        assert!(!is_known("delete_record", json!({"record_id": "appQ9"})), "it is a base's");
        assert!(!is_known("delete_record", json!({"record_id": "Monstera"})), "no record was listed");
        assert!(is_known("get_record", json!({"record_id": "Monstera"})), "a lookup may try it");
    }

    #[test]
    fn candidates_are_what_results_have_under_the_same_name() {
        let of = |member: &str| said().candidates(member, &Value::Null, &tool());
        assert_eq!(of("order_id"), [json!("O-1057"), json!("O-1063")]);
        assert_eq!(of("id"), [json!(7), json!(8)]);
        assert_eq!(of("event_id"), [json!(7), json!(8)]);
        assert_eq!(of("path"), Vec::<Value>::new());
    }

    #[test]
    fn of_candidates_those_count_that_are_most_like_what_was_said_and_what_the_tool_does() {
        let result = r#"[{"device_id": "light-1", "room": "kitchen", "kind": "light"},
            {"device_id": "speaker-1", "room": "living room", "kind": "speaker"},
            {"device_id": "thermo-2", "room": "living room", "kind": "thermostat"}]"#;
        let users = r#"[{"user_id": "U-5", "on_call": false}, {"user_id": "U-6", "on_call": true}]"#;
        let asked = ConversationText::new("Assign it to whoever is on call.".into(), vec![users.into()]);
        let found = asked.ungrounded(&json!({"user_id": "U-5"}), &Tool::new("assign")).unwrap();
        assert_eq!(found.known, [("user_id".to_owned(), vec![json!("U-6")])]);
        let another = asked.ungrounded(&json!({"ticket_id": "U-6"}), &Tool::new("assign")).unwrap();
        assert_eq!(another.unknown, ["ticket_id"], "it is an id of something else");
        let said = ConversationText::new("把客厅（living room）的暖气调到 19 度。".into(), vec![result.into()]);
        let of = |description: &str| {
            let tool = Tool::new("set").with_description(description);
            said.candidates("device_id", &Value::Null, &tool)
        };
        assert_eq!(of("Set the target temperature of a thermostat."), [json!("thermo-2")]);
        assert_eq!(of("Set it."), [json!("speaker-1"), json!("thermo-2")]);
    }

    #[test]
    fn a_place_is_a_time_zone_of_those_that_were_named_and_a_failed_path_is_no_place() {
        let said = ConversationText::new("What time is it in Tokyo?".into(), vec!["no /a/budget.txt".into()]);
        let call = Call::new(Dialect::Json, "read", json!({"path": "/a/budget.txt"}));
        let failed = Outcome::error("no /a/budget.txt");
        let said = said.with_calls(&[Made::new(&call, true, Some(&failed)).unwrap()], std::iter::empty());
        let found = said.ungrounded(&json!({"zone": "Europe/Berlin"}), &tool()).unwrap();
        assert_eq!(found.known, [("zone".to_owned(), vec![json!("Asia/Tokyo")])]);
        assert_eq!(said.ungrounded(&json!({"zone": "Asia/Tokyo"}), &tool()), None);
        assert!(said.ungrounded(&json!({"paths": ["/a/budget.txt"]}), &tool()).is_some());
        let found = ConversationText::new("Where is budget.txt?".into(), vec!["/a/b/budget.txt\n/a/c.txt".into()]);
        let found = found.mistaken(&json!({"path": "/a/budget.txt"}), &tool()).unwrap();
        assert_eq!(found.known, [("path".to_owned(), vec![json!("/a/b/budget.txt")])]);
    }
}
