//! Finds the things that a request names: paths, identifiers, names, numbers, texts in quotation marks.
//!
//! Small models do not notice by themselves when a job is done. If the user named a thing that no call has used yet,
//! something is left to do; if all of them were used, a change is the last step.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::objects::{given_in, objects};
use super::words::{STEM, words};
use crate::constrain::{is_id, is_id_word};
use crate::tools::{name_words, stem};

/// Maximum number of objects that a request names; one with more is a pasted text, of which none is searched for.
const MAX_THINGS: usize = 64;

/// Maximum number of bytes of a text in quotation marks that is searched for in arguments.
const MAX_BYTES: usize = 200;

/// Pairs of quotation marks.
const QUOTES: &[(char, char)] = &[('"', '"'), ('“', '”'), ('「', '」'), ('《', '》'), ('«', '»'), ('`', '`')];

/// Words that join two objects of the same kind.
const JOINING: &[&str] = &["and", "or", "&", "和", "与", "及", "跟", "以及", "、", "und", "et", "y", "e", "и"];

/// Words between the parts of a request, each of which may be a step.
const PARTING: &[&str] = &["and", "then", "并", "并且", "然后", "再", "und", "dann", "et", "puis", "y", "luego", "и"];

/// Words before a colon that introduce a text for verbatim use in a call.
const TEXTS: &[&str] = &[
    "text", "message", "title", "content", "contents", "subject", "body", "note", "description", "comment", "name",
    "内容", "消息", "标题", "文字", "文本", "备注", "名称", "nachricht", "titel", "inhalt", "texte", "texto", "текст",
];

/// First words of a part that is not a step: it describes how something is done or which object is meant.
const ASIDES: &[&str] = &[
    "under", "with", "without", "as", "for", "at", "on", "by", "from", "using", "which", "that", "who", "whose",
    "where", "mit", "unter", "als", "für", "die", "der", "das", "avec", "sous", "comme", "pour", "qui", "con", "bajo",
    "como", "para", "que",
];

/// Names of days and months, which have a capital letter and name no object.
const DATES: &[&str] = &[
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "January", "February", "March",
    "April", "May", "June", "July", "August", "September", "October", "November", "December",
];

/// Words that alone do not make a part of a request a step: "please do that".
const FILLING: &[&str] = &["please", "do", "that", "this", "it", "so", "thanks", "thank", "you", "now", "谢谢"];

/// First words of a part that asks to be told something.
const REPORTING: &[&str] = &[
    "tell", "say", "answer", "summarise", "summarize", "explain", "describe", "compare", "list", "show", "give",
    "read", "check", "count", "look", "告诉", "说", "总结", "概括", "解释", "比较", "列出", "显示", "读", "查", "看",
    "sag", "zeig", "lies", "dis", "montre", "lis", "di", "muestra", "lee", "скажи", "покажи", "прочитай",
];

/// Words of a request for which one change may not be enough.
const ALL: &[&str] = &[
    "all", "every", "each", "both", "everything", "所有", "全部", "每", "都", "alle", "jede", "jeden", "jedes", "tous",
    "toutes", "todos", "todas", "все",
];

/// Path, identifier, name, number or quoted text that a request names.
#[derive(Debug, Clone, PartialEq)]
struct Thing {
    text: String,
    /// `true` if only a joining word is between this object and the one before it.
    is_joined: bool,
}

/// Objects that a request names (paths, identifiers, names, numbers, quoted texts), by the parts of the request.
#[derive(Debug, Default, PartialEq)]
pub(in crate::turn) struct Mentions {
    parts: Vec<Vec<Thing>>,
    /// `true` if the request asks for several objects without naming each.
    wants_all: bool,
    /// Number of the parts that name nothing and ask to be told something.
    told: usize,
    /// `true` if the first part asks to be told something.
    begins_told: bool,
    /// `true` if a part that names an object does not ask to be told something.
    acts: bool,
    /// `true` if two words are joined, neither of which names an object.
    joins_words: bool,
    /// First words of the parts that do not ask to be told something, in lower case: the verbs of what is ordered.
    orders: Vec<String>,
}

impl Mentions {
    pub(in crate::turn) fn of(request: &str) -> Self {
        let mut found = Mentions::default();
        let mut reader = PieceReader { rest: request.trim(), is_first: true };
        let (mut part, mut has_words, mut is_aside, mut between) = (Vec::new(), false, false, String::new());
        let mut is_told = false;
        while let Some(piece) = reader.next() {
            match piece {
                RequestPiece::Thing(text) => {
                    let is_joined = !part.is_empty() && is_joining(&between);
                    part.push(Thing { text, is_joined });
                    between.clear();
                }
                RequestPiece::Word(word) if !PARTING.contains(&word) => {
                    if !has_words && part.is_empty() {
                        is_aside = ASIDES.iter().any(|aside| word.eq_ignore_ascii_case(aside));
                        is_told = REPORTING.iter().any(|told| begins_with(word, told));
                        found.begins_told |= is_told && found.parts.is_empty();
                        found.orders.extend((!is_told && !is_aside).then(|| word.to_lowercase()));
                    }
                    has_words |= !FILLING.iter().any(|own| word.eq_ignore_ascii_case(own));
                    found.wants_all |= wants_all(word);
                    between.push_str(word);
                }
                // "A and B" is one part.
                RequestPiece::Word(word) if !part.is_empty() && between.is_empty() && reader.at_thing() => {
                    between.push_str(word);
                }
                // The rest of the line is the text of a call: `Write a file with the text: Call Anna.`
                RequestPiece::Colon if is_text(&between) && reader.at_text() => {
                    part.push(Thing { text: reader.take_text(), is_joined: false });
                    between.clear();
                }
                RequestPiece::Word(_) | RequestPiece::Colon | RequestPiece::Asked | RequestPiece::End => {
                    // A question that names nothing is no step: it is about what came.
                    is_aside |= matches!(piece, RequestPiece::Asked);
                    found.joins_words |= matches!(piece, RequestPiece::Word(word) if JOINING.contains(&word));
                    if has_words && !is_aside || !part.is_empty() {
                        found.told += usize::from(is_told && part.is_empty());
                        found.acts |= !is_told && !part.is_empty();
                        found.parts.push(std::mem::take(&mut part));
                    }
                    (has_words, is_told, between) = (false, false, String::new());
                }
            }
        }
        if has_words && !is_aside || !part.is_empty() {
            found.told += usize::from(is_told && part.is_empty());
            found.acts |= !is_told && !part.is_empty();
            found.parts.push(part);
        }
        if found.things().nth(MAX_THINGS).is_some() { Mentions::default() } else { found }
    }

    fn things(&self) -> impl Iterator<Item = &Thing> {
        self.parts.iter().flatten()
    }

    /// Returns `true` if the request names an identifier, a path, an address, a date or a time of day, rather than only
    /// a number.
    pub(super) fn have_reference(&self) -> bool {
        self.things().any(|thing| names(&thing.text) && !is_number(&thing.text))
    }

    /// Returns the objects that the request names and that none of these arguments contains.
    pub(in crate::turn) fn unused(&self, used: &Used) -> Vec<&str> {
        self.things().filter(|thing| !used.has(&thing.text)).map(|thing| &*thing.text).collect()
    }

    /// Returns `true` if the arguments contain everything that the request names, and there were enough kinds of
    /// changes: each part that names nothing ("and switch to it") may ask for one, and so may the parts that name
    /// something, unless they only ask to be told something.
    pub(in crate::turn) fn are_done(&self, used: &Used, changes: usize) -> bool {
        let unnamed = self.unnamed();
        let is_enough = match self.has_things() {
            // All parts that name something may be one kind of change; each that names nothing may be
            // another: `and switch to it`.
            true => unnamed + usize::from(self.acts) <= changes,
            false => !self.joins_words && unnamed > 0 && unnamed <= changes,
        };
        !self.wants_all && is_enough && self.unused(used).is_empty()
    }

    /// Returns `true` if the arguments have all that the request names, and no part of it asks for a step: it asks to be
    /// told something, or names something.
    pub(in crate::turn) fn are_used(&self, used: &Used) -> bool {
        // Of a request that names nothing only a single part is clear: it cannot be seen which of two were
        // dealt with.
        let is_clear = self.has_things() || !self.joins_words && self.unnamed() <= 1;
        // A part that names nothing and does not ask to be told something is a step: `and delete the longer
        // one`.
        let steps = if self.has_things() { self.unnamed() - self.told } else { 0 };
        // `all` names nothing that could be looked for in the calls.
        !self.wants_all && is_clear && steps == 0 && self.unused(used).is_empty()
    }

    /// Returns `true` if a part of the request asks to be told something.
    pub(in crate::turn) fn ask_to_be_told(&self) -> bool {
        self.told > 0 || self.begins_told
    }

    /// Returns `true` if a part of the request begins with a word of this name: "Assign it to Tom" for `assign_ticket`.
    pub(in crate::turn) fn order(&self, name: &str) -> bool {
        let is_ordered = |word: &String| self.orders.iter().any(|order| stem(order) == stem(&word.to_lowercase()));
        name_words(name).iter().any(is_ordered)
    }

    /// Returns `true` if a state is the effect of what a part of the request orders: `cancelled` of "Cancel my stay".
    pub(super) fn bring_about(&self, state: &str) -> bool {
        let state = state.to_lowercase();
        // A shorter word may begin any other.
        self.orders.iter().any(|order| order.len() >= STEM && state.len() > order.len() && state.starts_with(&**order))
    }

    pub(in crate::turn) fn has_things(&self) -> bool {
        self.things().next().is_some()
    }

    /// Returns the number of objects that the request names.
    pub(in crate::turn) fn count(&self) -> usize {
        self.things().count()
    }

    /// Returns the number of parts of the request that name no object.
    fn unnamed(&self) -> usize {
        self.parts.iter().filter(|part| part.is_empty()).count()
    }

    /// Returns `true` if the request names several objects of one kind, and these arguments have each of them.
    pub(in crate::turn) fn has_list_in(&self, calls: &Used) -> bool {
        let is_several = |thing: &&Thing| {
            let alike: Vec<&Thing> = self.things().filter(|other| shape(&other.text) == shape(&thing.text)).collect();
            let mut lists = self.parts.iter().flat_map(|part| part.chunk_by(|_, next| next.is_joined));
            let is_in = |list: &[Thing], other: &Thing| list.iter().any(|own| std::ptr::eq(own, other));
            // Words of one shape may be of different kinds (`Zwaluw in Leiden`), unless they are joined in
            // one list.
            alike.len() > 1
                && alike.iter().all(|other| calls.has(&other.text))
                && (is_distinct(&thing.text) || lists.any(|list| alike.iter().all(|other| is_in(list, other))))
        };
        self.things().any(|thing| is_several(&thing))
    }

    /// Returns the unused objects that are in one list of the request with this value; with `apart` also those of the
    /// same shape in other parts of the request.
    pub(in crate::turn) fn unused_beside(&self, value: &str, apart: bool, used: &Used) -> Vec<&str> {
        // `Asia/Tokyo` has the words of `Tokyo`.
        let is_it = |thing: &Thing| thing.text.eq_ignore_ascii_case(value) || has_words(value, &thing.text);
        let mut found = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            for list in part.chunk_by(|_, next| next.is_joined) {
                let Some(own) = list.iter().find(|thing| is_it(thing)) else { continue };
                found.extend(list);
                let others = self.parts.iter().enumerate().filter(|(other, _)| apart && *other != at);
                let things = others.flat_map(|(_, part)| part);
                found.extend(things.filter(|thing| shape(&thing.text) == shape(&own.text)));
            }
        }
        found.into_iter().map(|thing| &*thing.text).filter(|text| !used.has(text)).collect()
    }
}

/// Returns the shape of a named object: `true` for a path, and its kinds of characters.
fn shape(text: &str) -> (bool, String) {
    let kind = |c: char| match c {
        _ if c.is_ascii_digit() => '0',
        _ if c.is_alphabetic() => 'a',
        _ if c.is_whitespace() => 'a',
        c => c,
    };
    let is_path = text.contains(['/', '\\']);
    let mut kinds: Vec<char> = if is_path { Vec::new() } else { text.chars().map(kind).collect() };
    // `O-7` and `O-1042` have one shape.
    kinds.dedup();
    (is_path, kinds.into_iter().collect())
}

/// Returns `true` for a path or a text with digits. Other words of a request have one shape and may be of any kind: a
/// café, a city, a day.
fn is_distinct(text: &str) -> bool {
    text.contains(['/', '\\']) || text.contains(|c: char| c.is_ascii_digit())
}

/// Returns `true` if a text contains all words of a named object.
fn has_words(text: &str, thing: &str) -> bool {
    words(thing).next().is_some() && words(thing).all(|word| words(text).any(|said| said == word))
}

/// Texts of the arguments of calls and of the objects that these identify, in lower case.
#[derive(Debug, Default)]
pub(in crate::turn) struct Used(String);

impl Used {
    /// Collects the values of these arguments, and the members of an object in a result that has one of them as its
    /// identifier: a call that uses an identifier uses the name, too.
    pub(in crate::turn) fn of<'a>(
        arguments: impl Iterator<Item = &'a Value>,
        results: impl Iterator<Item = impl AsRef<str>>,
    ) -> Self {
        let mut values = HashSet::new();
        let mut used = String::new();
        for arguments in arguments {
            values.extend(arguments.as_object().into_iter().flat_map(|members| members.values().cloned()));
            used += &format!("{arguments}\n");
        }
        for result in results {
            for value in given_in(result.as_ref()).values() {
                let has_id = |object: &&Map<String, Value>| {
                    object.iter().any(|(name, value)| (is_id(name) || is_id_word(name)) && values.contains(value))
                };
                objects(&value).into_iter().filter(has_id).for_each(|object| {
                    used += &format!("{}\n", serde_json::to_string(object).unwrap_or_default());
                });
            }
        }
        Used(used.to_lowercase())
    }

    pub(in crate::turn) fn has(&self, thing: &str) -> bool {
        let thing = thing.to_lowercase();
        // `America/New_York` uses `New York`.
        self.0.contains(&thing) || has_words(&self.0, &thing)
    }
}

enum RequestPiece<'a> {
    Thing(String),
    Word(&'a str),
    Colon,
    /// A question mark.
    Asked,
    /// A comma, a full stop or a line break.
    End,
}

/// Splits a request into named objects, words and punctuation.
#[derive(Clone)]
struct PieceReader<'a> {
    rest: &'a str,
    /// `true` at the beginning of a sentence, where a capital letter does not indicate a name.
    is_first: bool,
}

impl<'a> PieceReader<'a> {
    fn at_thing(&self) -> bool {
        matches!(self.clone().next(), Some(RequestPiece::Thing(_)))
    }

    fn next(&mut self) -> Option<RequestPiece<'a>> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '(', '（', ')', '）']);
        let first = self.rest.chars().next()?;
        if let Some(text) = self.quoted(first) {
            return Some(RequestPiece::Thing(text));
        }
        if is_end(first) {
            self.rest = &self.rest[first.len_utf8()..];
            // A comma does not begin a sentence, so a capital letter after it means something.
            self.is_first |= !matches!(first, ',' | '，' | '、' | ';' | '；');
            return Some(match first {
                '、' => RequestPiece::Word("、"),
                ':' | '：' => RequestPiece::Colon,
                '?' | '？' => RequestPiece::Asked,
                _ => RequestPiece::End,
            });
        }
        let is_first = std::mem::replace(&mut self.is_first, false);
        // Signs of these scripts are no words.
        if first.is_alphanumeric() && is_unspaced(first) {
            return Some(RequestPiece::Word(self.unspaced()));
        }
        let word = self.word();
        if word.is_empty() {
            self.rest = &self.rest[first.len_utf8()..];
            return Some(RequestPiece::Word(""));
        }
        if names(word) {
            return Some(RequestPiece::Thing(word.to_owned()));
        }
        // Every sentence begins with a capital letter.
        if is_first || !is_capital(word) {
            return Some(RequestPiece::Word(word));
        }
        Some(RequestPiece::Thing(self.capitals(word)))
    }

    fn quoted(&mut self, first: char) -> Option<String> {
        let (_, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
        let inside = &self.rest[first.len_utf8()..];
        let (text, rest) = inside.split_once(*close).filter(|(text, _)| !text.is_empty() && text.len() <= MAX_BYTES)?;
        self.rest = rest;
        self.is_first = false;
        Some(text.to_owned())
    }

    /// Returns text of a script without spaces: up to other letters, or a single joining or separating word.
    fn unspaced(&mut self) -> &'a str {
        let known = JOINING.iter().chain(PARTING).filter(|word| self.rest.starts_with(**word));
        // The longest one counts: `并且` begins with `并`.
        let end = match known.map(|word| word.len()).max() {
            Some(end) => end,
            None => {
                let begins = |at: usize| JOINING.iter().chain(PARTING).any(|word| self.rest[at..].starts_with(*word));
                let inside = |(at, c): &(usize, char)| is_unspaced(*c) && !is_end(*c) && !begins(*at);
                let last = self.rest.char_indices().take_while(inside).last();
                last.map_or(0, |(at, c)| at + c.len_utf8())
            }
        };
        self.take(end)
    }

    /// Returns `true` if the rest of the request is a text for a call: one line without a question, and without a name
    /// that may belong into another argument.
    fn at_text(&self) -> bool {
        let text = self.rest.trim();
        let is_plain = !text.contains(['?', '？', '\n']) && !text.split_whitespace().any(names);
        // Only a comma is between a Chinese text and what the request asks for after it.
        !text.is_empty() && text.len() <= MAX_BYTES && is_plain && !text.contains(is_unspaced)
    }

    fn take_text(&mut self) -> String {
        std::mem::take(&mut self.rest).trim().trim_end_matches(is_end).to_owned()
    }

    fn word(&mut self) -> &'a str {
        // `把客厅（living room）的` parts the English words by Chinese signs.
        let is_inside = |c: char| !(c.is_whitespace() || is_unspaced(c) || QUOTES.iter().any(|q| q.0 == c || q.1 == c));
        let end = self.rest.find(|c| !is_inside(c)).unwrap_or(self.rest.len());
        let end = self.rest[..end].trim_end_matches([',', '.', ';', ':', '!', '?', ')', '\'']).len();
        self.take(end)
    }

    fn take(&mut self, end: usize) -> &'a str {
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Extends a name by the following capitalised words.
    fn capitals(&mut self, first: &str) -> String {
        let mut name = first.to_owned();
        loop {
            let mut ahead = self.clone();
            let Some(rest) = ahead.rest.strip_prefix(' ') else { return name };
            ahead.rest = rest;
            let word = ahead.word();
            // An identifier after a name is a thing of its own: `Planning T-198`.
            if !is_capital(word) || names(word) {
                return name;
            }
            name = format!("{name} {word}");
            *self = ahead;
        }
    }
}

fn is_text(between: &str) -> bool {
    let between = between.to_lowercase();
    TEXTS.iter().any(|word| between.ends_with(word))
}

fn wants_all(word: &str) -> bool {
    let is_it = |all: &str| if all.is_ascii() { word.eq_ignore_ascii_case(all) } else { word.contains(all) };
    ALL.iter().any(|all| is_it(all))
}

/// Returns `true` if a word is this one, or begins with it in a script without spaces.
fn begins_with(word: &str, other: &str) -> bool {
    if other.is_ascii() { word.eq_ignore_ascii_case(other) } else { word.starts_with(other) }
}

fn is_joining(between: &str) -> bool {
    between.is_empty() || JOINING.contains(&between)
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
    digits.replace(',', "").parse::<f64>().is_ok() && !word.contains(char::is_alphabetic)
}

/// Returns `true` if a word names an object: a path, an identifier, a number, an address.
fn names(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
        // Only a sign inside the word counts: `a.txt`, but not `etc.`
        || word.len() > 2 && word.trim_matches(|c: char| !c.is_alphanumeric()).contains(['/', '\\', '@', '_', '.', '#'])
}

fn is_capital(word: &str) -> bool {
    let mut letters = word.chars();
    let is_name = !matches!(word, "I" | "I'm" | "I'd" | "I've" | "I'll") && !DATES.contains(&word);
    letters.next().is_some_and(char::is_uppercase) && is_name
}

fn is_end(c: char) -> bool {
    matches!(c, ',' | '.' | ';' | ':' | '!' | '?' | '\n' | '，' | '。' | '；' | '：' | '！' | '？' | '、')
}

/// Returns `true` for letters and punctuation of a script without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FFEF}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(request: &str) -> Vec<String> {
        let joined = |part: &Vec<Thing>| {
            let things = part.iter().map(|thing| format!("{}{}", if thing.is_joined { "+" } else { "" }, thing.text));
            things.collect::<Vec<_>>().join("|")
        };
        Mentions::of(request).parts.iter().map(joined).collect()
    }

    #[test]
    fn things_are_found_by_the_parts_of_a_request() {
        for (request, found) in [
            ("Read /a/x.txt and /a/y.txt. What is the code?", &["/a/x.txt|+/a/y.txt"][..]),
            ("Close ticket T-198, and set the priority of T-211 to high.", &["T-198", "T-211"]),
            ("What time is it in Tokyo, and what time in New York?", &["Tokyo", "New York"]),
            (
                "In /home/kim/app, create fix/docs, switch to it, and stage docs.md.",
                &["/home/kim/app", "fix/docs", "", "docs.md"],
            ),
            ("From 12 to 14 December in Porto, or on a Monday", &["12|14|Porto", ""]),
            ("Invite Tom Okafor to my event Planning on 2026-12-03.", &["Tom Okafor|Planning|2026-12-03"]),
            ("Write a file with the text: Call Anna.", &["Call Anna"]),
            ("Stage a.md and commit it with the message: Add the docs", &["a.md", "Add the docs"]),
            ("In one sentence: who is Anna", &["", "Anna"]),
            ("Move the only image of /a/x into /b/y, under the same name.", &["/a/x|/b/y"]),
            ("x.txt names a file, which names a city. Write it into /c/z.", &["x.txt", "/c/z"]),
            ("Two changes in the text: T-1 and Anna", &["", "T-1|+Anna"]),
            ("Add an event \"Dentist, again\" at 14:00", &["Dentist, again|14:00"]),
            ("2026-12-03 和 2026-12-04 这两天我各有什么安排？", &["2026-12-03|+2026-12-04"]),
            ("把客厅（living room）的暖气调到 19 度。", &["19"]),
            ("新建日程“看牙医”：2026-12-10，14:00 开始。", &["看牙医", "2026-12-10", "14:00"]),
            ("把 /a.txt 的内容复制到 /b.txt 并且删除它", &["/a.txt|/b.txt", ""]),
            ("写一个文件，内容：打电话给安娜，然后发给她", &["", "", "", ""]),
            ("客户 Jonas Weber 要买两把 Copper kettle", &["Jonas Weber|Copper"]),
            ("Hi", &[""]),
            ("", &[]),
        ] {
            assert_eq!(parts(request), found, "{request}");
        }
    }

    fn used(arguments: &[Value]) -> Used {
        Used::of(arguments.iter(), [r#"[{"event_id": "E-34", "title": "Planning"}]"#].iter())
    }

    #[test]
    fn what_arguments_have_is_used() {
        let mentions = Mentions::of("What time is it in Tokyo, and what time in New York?");
        let done = used(&[json!({"zone": "Asia/Tokyo"})]);
        assert_eq!(mentions.unused(&done), ["New York"]);
        let all = used(&[json!({"zone": "Asia/Tokyo"}), json!({"zone": "America/New_York"})]);
        assert!(mentions.are_done(&all, 1) && !mentions.are_done(&done, 1));
        let branch = used(&[json!("fix/docs")]);
        for (request, changes) in [
            ("Create fix/docs and switch to it", Some(2)),
            ("Create fix/docs", Some(1)),
            ("Close all tickets of fix/docs", None),
            ("Switch to it", Some(1)),
            ("Look for the change of fix/docs, then stage it", Some(1)),
            ("", None),
        ] {
            let enough = (0..4).find(|changes| Mentions::of(request).are_done(&branch, *changes));
            assert_eq!(enough, changes, "{request}");
        }
        assert!(Mentions::of("Cancel my event Planning").are_done(&used(&[json!({"event_id": "E-34"})]), 1));
    }

    #[test]
    fn a_list_is_of_paths_numbers_or_what_is_joined() {
        let has_list = |request: &str, values: &[&str]| {
            let calls: Vec<_> = values.iter().map(|value| json!({"value": value})).collect();
            Mentions::of(request).has_list_in(&used(&calls))
        };
        assert!(has_list("How warm is it in Oslo and Bergen?", &["Oslo", "Bergen"]));
        assert!(has_list("Read a/x.txt. Is b/y.txt newer?", &["a/x.txt", "b/y.txt"]));
        assert!(!has_list("Is Zwaluw in Leiden open on a Monday?", &["Zwaluw in Leiden on Monday"]));
        assert!(!has_list("Give Ada and Kim of Search the ticket.", &["Ada", "Kim"]), "not all of one shape");
    }

    #[test]
    fn what_stands_in_a_list_with_a_value_may_take_its_place() {
        let mentions = Mentions::of("Read a/x.txt and a/y.txt, then write b.txt.");
        let done = used(&[json!({"path": "a/x.txt"})]);
        assert_eq!(mentions.unused_beside("a/x.txt", false, &done), ["a/y.txt"]);
        assert_eq!(mentions.unused_beside("b.txt", false, &done), ["b.txt"]);
        let copied = Mentions::of("Copy a.txt to b.txt");
        let done = used(&[json!({"path": "a.txt"})]);
        assert!(copied.unused_beside("a.txt", true, &done).is_empty(), "another place of one act");
        let zones = Mentions::of("What time is it in Tokyo, and what time in New York?");
        let done = used(&[json!({"zone": "Asia/Tokyo"})]);
        assert_eq!(zones.unused_beside("Asia/Tokyo", true, &done), ["New York"]);
        assert!(zones.unused_beside("Asia/Tokyo", false, &done).is_empty());
    }
}
