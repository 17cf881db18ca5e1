//! Removes the members of a constrained call that exist only because its form has a place for them.
//!
//! A small model whose answer is constrained to a call fills its optional members, too: with the first value of an
//! `enum`, a date from the tool's description, an arbitrary number. It also takes the first value of an `enum` if the
//! user named another one. Without such a member the tool uses its default, which is usually right.

use serde_json::{Map, Value};

use super::grounded::{ConversationText, texts};
use super::mentions::Mentions;
use super::words::{STEM, number_word, words};
use crate::constrain::is_id;
use crate::event::Repair;
use crate::outcome::RESULT;
use crate::tools::schema::{properties, property, required};
use crate::tools::{Tool, changes_nothing, looks_up, may_change};

/// The first letter after the Latin letters of European languages.
const AFTER_LATIN: char = '\u{250}';

/// Arguments of a call after the removal of members that nobody mentioned, with the repairs.
#[derive(Debug, PartialEq)]
pub(in crate::turn) struct Fitted {
    pub(in crate::turn) arguments: Map<String, Value>,
    pub(in crate::turn) repairs: Vec<Repair>,
}

impl ConversationText {
    /// Returns the arguments without optional members that nobody mentioned, and with the values that the user named
    /// where a value of an `enum` was required. `None` if nothing changes.
    pub(in crate::turn) fn fitted(&self, arguments: &Value, tool: &Tool) -> Option<Fitted> {
        let schema = tool.input_schema.as_ref()?;
        let mut fitted = Fitted { arguments: arguments.as_object()?.clone(), repairs: Vec::new() };
        // "Cancel my stay" is no search for stays that are cancelled already.
        let orders = Mentions::of(&self.person);
        let is_effect = |value: &Value| looks_up(tool) && value.as_str().is_some_and(|state| orders.bring_about(state));
        let choice = |own: &Value| self.only_choice(own).filter(|choice| !is_effect(choice));
        for (name, value) in &mut fitted.arguments {
            let meant = property(schema, name).and_then(choice);
            if let Some(meant) = meant.filter(|meant| meant != value) {
                *value = meant;
                fitted.repairs.push(Repair::AsSaid(format!("/{name}")));
            }
        }
        for (name, value) in &mut fitted.arguments {
            if let Some(inner) = value.as_str().and_then(out_of_frame) {
                *value = inner.into();
                fitted.repairs.push(Repair::Unframed(format!("/{name}")));
            }
        }
        // A search with a wrong filter is harmless, so a missing filter is added; a change is never guessed.
        let missing = properties(schema).filter(|(name, _)| looks_up(tool) && arguments.get(name).is_none());
        for (name, meant) in missing.filter_map(|(name, own)| Some((name, choice(own)?))) {
            fitted.arguments.insert(name.clone(), meant);
            fitted.repairs.push(Repair::AsSaid(format!("/{name}")));
        }
        // A schema without required members does not say what a call is about, except for a lookup.
        let demands = looks_up(tool) || required(schema).next().is_some();
        let is_optional = |name: &str| demands && required(schema).all(|required| required != name);
        let is_default =
            |name: &str, value: &Value| property(schema, name).and_then(|own| own.get("default")) == Some(value);
        // Of the values of an `enum`, a small model fills in the first; another one is chosen, also if the user used other
        // words for it: `bicycling` for "by bike".
        let is_chosen = |name: &str, value: &Value| {
            let choices = property(schema, name).and_then(|own| own.get("enum")?.as_array());
            choices.is_some_and(|choices| choices.iter().skip(1).any(|choice| choice == value))
        };
        let is_meant = |name: &str, value: &Value| {
            // A choice that nobody said is only kept where it changes nothing.
            let is_said = changes_nothing(tool) && is_chosen(name, value) || self.is_spoken_of(value);
            is_default(name, value) || is_said && !is_effect(value)
        };
        let is_unsaid = |name: &String, value: &Value| is_optional(name) && !is_meant(name, value);
        let unsaid: Vec<String> = fitted
            .arguments
            .iter()
            .filter(|(name, value)| is_unsaid(name, value))
            .map(|(name, _)| name.clone())
            .collect();
        // A change without any member besides the object would change nothing.
        let stays = |name: &String| !unsaid.contains(name) && !is_id(name);
        let says_nothing = may_change(tool) && !fitted.arguments.keys().any(stays);
        for name in unsaid.into_iter().filter(|_| !says_nothing) {
            fitted.arguments.shift_remove(&name);
            fitted.repairs.push(Repair::LeftOut(format!("/{name}")));
        }
        (!fitted.repairs.is_empty()).then_some(fitted)
    }

    /// Returns the value of an `enum` that the user named, if it is only one.
    fn only_choice(&self, own: &Value) -> Option<Value> {
        let choices = own.get("enum")?.as_array()?;
        let is_named = |choice: &&Value| choice.as_str().is_some_and(|text| self.person_names(text));
        let mut named = choices.iter().filter(is_named);
        named.next().filter(|_| named.next().is_none()).cloned()
    }

    /// Returns `true` if the user said these words, one after another.
    fn person_names(&self, text: &str) -> bool {
        let (said, wanted): (Vec<String>, Vec<String>) = (words(&self.person).collect(), words(text).collect());
        let is_said = |(said, wanted): (&String, &String)| {
            // `return` names the choice `returned`; a shorter word may begin any other.
            said == wanted || said.len() > STEM && wanted.starts_with(said.as_str())
        };
        let are_said = |words: &[String]| words.iter().zip(&wanted).all(is_said);
        !wanted.is_empty() && said.windows(wanted.len()).any(are_said)
    }

    /// Returns `true` if each of the arguments may come from the conversation.
    pub(in crate::turn) fn are_spoken_of(&self, arguments: &Value) -> bool {
        arguments.as_object().into_iter().flatten().all(|(_, value)| self.is_spoken_of(value))
    }

    /// Returns `true` if one of the arguments is a date, or another text with digits, that nobody spoke of.
    pub(in crate::turn) fn has_guess(&self, arguments: &Value) -> bool {
        let is_guess = |text: &str| text.contains(|c: char| c.is_ascii_digit()) && !self.is_text_spoken_of(text);
        arguments.as_object().into_iter().flatten().any(|(_, value)| value.as_str().is_some_and(is_guess))
    }

    /// Returns `true` if all texts of the arguments with digits, such as dates, were said.
    pub(in crate::turn) fn are_digits_said(&self, arguments: &Value) -> bool {
        let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
        texts(arguments).iter().all(|text| !has_digit(text) || self.is_text_said(text))
    }

    /// Returns `true` if a value may come from the conversation: a text with a word that was said, a number that was
    /// said, and any value that cannot be said in words.
    fn is_spoken_of(&self, value: &Value) -> bool {
        match value {
            Value::Number(number) => self.has_number(&number.to_string()),
            Value::String(_) | Value::Array(_) => {
                let texts = texts(value);
                texts.is_empty() || texts.iter().any(|text| self.is_text_spoken_of(text))
            }
            _ => true,
        }
    }

    /// Returns the members with a number that nobody said, identifiers aside.
    pub(in crate::turn) fn unsaid_numbers<'a>(&self, arguments: &'a Value) -> impl Iterator<Item = &'a String> {
        let members = arguments.as_object().into_iter().flatten().filter(|(name, _)| !is_id(name));
        let is_unsaid =
            |value: &Value| value.as_number().is_some_and(|number| !self.is_number_said(&number.to_string()));
        members.filter(move |(_, value)| is_unsaid(value)).map(|(name, _)| name)
    }

    fn is_number_said(&self, number: &str) -> bool {
        is_number_in(number, &self.person)
            || self.results.iter().any(|text| words(text).any(|word| is_number(number, &word)))
    }

    /// Returns `true` if the user or a result has this number, or another number that contains its digits.
    fn has_number(&self, number: &str) -> bool {
        let is_in = |text: &str| text.contains(number) || is_number_in(number, text);
        is_in(&self.person) || self.results.iter().any(|text| is_in(text))
    }

    fn is_text_spoken_of(&self, text: &str) -> bool {
        let has_digit = text.contains(|c: char| c.is_ascii_digit());
        // In another language than the tool's the same value may have been said in other words.
        if !has_digit && is_foreign(&self.person) {
            return true;
        }
        let is_said = self.is_text_said(text);
        let is_like = |word: String| self.has_word_like(&word);
        // Every word of a text with digits has to be said, since a wrong digit makes another thing;
        // `tomorrow` says a date in other words.
        is_said || if has_digit { words(text).all(is_like) || self.speaks_of_time() } else { words(text).any(is_like) }
    }

    /// Returns `true` if a word, or one with the same stem, was said.
    fn has_word_like(&self, word: &str) -> bool {
        let stem: String = word.chars().take(STEM).collect();
        // A word shorter than the stem has none.
        let is_like = |said: &String| said == word || stem.chars().count() == STEM && said.starts_with(&stem);
        self.words.iter().any(is_like)
    }

    /// Returns `true` if one of the arguments is a date that the user gave only in words ("tomorrow"), and nothing says
    /// which day it is today.
    pub(in crate::turn) fn lacks_today(&self, arguments: &Value) -> bool {
        let has_date = |text: &String| text.split(|c: char| !c.is_ascii_digit() && c != '-').any(is_date);
        texts(arguments).iter().any(has_date)
            && self.speaks_of_time()
            && !self.results.iter().chain([&self.person]).any(has_date)
    }

    /// Returns `true` if a day or a time was said from which a date can be computed.
    fn speaks_of_time(&self) -> bool {
        const WORDS: [&str; 18] = [
            "today", "tomorrow", "yesterday", "tonight", "next", "last", "since", "ago", "week", "month", "year",
            "hour", "morning", "noon", "evening", "midnight", "days", "weekend",
        ];
        const SIGNS: [char; 9] = ['今', '明', '昨', '周', '月', '年', '天', '点', '前'];
        words(&self.person).any(|word| WORDS.contains(&&*word)) || self.person.contains(SIGNS)
    }
}

/// Returns `true` for a whole date, as ISO 8601 writes it: `2026-12-07`.
fn is_date(text: &str) -> bool {
    let form = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(form)
}

/// Returns `true` if a text, in lower case, is in another language than English: it has letters of another script, or
/// accents and no English word, as "a café near the lake" has.
fn is_foreign(text: &str) -> bool {
    const ENGLISH: [&str; 10] = ["the", "and", "with", "from", "near", "this", "that", "what", "is", "please"];
    let has_letter_from = |first: char| text.chars().any(|c| c >= first && c.is_alphabetic());
    let is_english = || words(text).any(|word| ENGLISH.contains(&&*word));
    has_letter_from(AFTER_LATIN) || has_letter_from('\u{80}') && !is_english()
}

/// Returns the text that the model wrote into the frame of a result, which it copied with the result.
fn out_of_frame(text: &str) -> Option<&str> {
    let (_, inner) = text.trim().strip_prefix(&format!("<{RESULT} "))?.split_once('>')?;
    // The model may leave out the end of the frame.
    let inner = inner.rsplit_once(&format!("</{RESULT}")).map_or(inner, |(inner, _)| inner);
    let inner = inner.strip_prefix('\n').unwrap_or(inner);
    // A frame may have been copied into a frame.
    Some(out_of_frame(inner).unwrap_or(inner))
}

/// Returns `true` if a text has this number, in digits or as a word. Chinese has no spaces, so single characters are
/// compared, too.
fn is_number_in(number: &str, text: &str) -> bool {
    words(text).any(|word| is_number(number, &word)) || text.chars().any(|c| is_number(number, &c.to_string()))
}

fn is_number(number: &str, word: &str) -> bool {
    word == number || number_word(word).is_some_and(|value| value.to_string() == number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nobody_spoke_of_is_left_out_and_a_named_choice_taken() {
        let tool = Tool::new("update").with_schema(json!({"required": ["item", "place"], "properties": {
            "item": {"type": "string"}, "place": {"enum": ["garden", "greenhouse"]}, "priority": {"enum": ["low", "high"]},
            "time": {"type": "string"}, "artist": {"type": "string"}, "count": {"type": "integer"}, "deep": {"type": "boolean"},
            "status": {"enum": ["open", "cancelled"]}, "limit": {"type": "integer", "default": 7},
        }}));
        for (question, arguments, fitted) in [
            ("Buy milk", json!({"item": "milk", "priority": "high"}), json!({"item": "milk"})),
            ("Buy milk, high priority", json!({"item": "milk", "priority": "high"}), Value::Null),
            (
                "Buy milk, high priority",
                json!({"item": "milk", "priority": "low"}),
                json!({"item": "milk", "priority": "high"}),
            ),
            (
                "Water the greenhouse",
                json!({"item": "x", "place": "garden"}),
                json!({"item": "x", "place": "greenhouse"}),
            ),
            ("Water the greenhouse and the garden", json!({"place": "garden"}), Value::Null),
            ("Play Halo", json!({"item": "Halo", "artist": "The Beatles", "time": "10:00"}), json!({"item": "Halo"})),
            ("Play Halo tomorrow by Beyonce", json!({"artist": "Beyonce Knowles", "time": "2027-01-08"}), Value::Null),
            ("Buy two", json!({"count": 2}), Value::Null),
            ("买两把", json!({"count": 2}), Value::Null),
            ("Buy some", json!({"count": 2, "limit": 7, "deep": true}), json!({"limit": 7, "deep": true})),
            ("Cancel it", json!({"status": "cancelled"}), Value::Null),
            ("Do something with 7", json!({"ticket_id": 7, "status": "open"}), Value::Null),
            ("取消它", json!({"status": "cancelled", "count": 100}), json!({"status": "cancelled"})),
            ("播放 The Beatles", json!({"item": "x", "artist": "甲壳虫"}), Value::Null),
            ("Buy milk from the Café", json!({"item": "milk", "priority": "high"}), json!({"item": "milk"})),
            ("Milch kaufen, hohe Priorität", json!({"item": "milk", "priority": "high"}), Value::Null),
        ] {
            let said = ConversationText::new(question.into(), Vec::new());
            let found = said.fitted(&arguments, &tool).map_or(Value::Null, |fitted| Value::Object(fitted.arguments));
            assert_eq!(found, fitted, "{question}: {arguments}");
        }
        let list = Tool::new("list_orders").with_schema(json!({"required": ["customer"], "properties": {
            "customer": {"type": "string"}, "status": {"enum": ["open", "shipped", "returned"]},
        }}));
        let free = Tool::new("run").with_schema(json!({"properties": {"command": {"type": "string"}}}));
        assert_eq!(ConversationText::new("Look.".into(), Vec::new()).fitted(&json!({"command": "ls"}), &free), None);
        for (question, status) in [
            ("Are there open orders of Petrov?", Some("open")),
            ("What did Petrov return?", Some("returned")),
            ("Open or shipped orders of Petrov?", None),
            ("Petrov's orders?", None),
            ("Return the order of Petrov.", None),
        ] {
            let fitted =
                ConversationText::new(question.into(), Vec::new()).fitted(&json!({"customer": "Petrov"}), &list);
            assert_eq!(fitted.map(|fitted| fitted.arguments["status"].clone()), status.map(Value::from), "{question}");
        }
        let effect = json!({"customer": "Petrov", "status": "returned"});
        for (question, is_left_out) in [("Return the order of Petrov.", true), ("What did Petrov return?", false)] {
            let fitted = ConversationText::new(question.into(), Vec::new()).fitted(&effect, &list);
            assert_eq!(fitted.is_some(), is_left_out, "{question}");
        }
        let route = Tool::new("directions").with_description("Get the way to a place").with_schema(json!({
            "required": ["to"],
            "properties": {"to": {"type": "string"}, "mode": {"enum": ["driving", "walking", "bicycling"]}},
        }));
        for (mode, is_left_out) in [("bicycling", false), ("driving", true), ("flying", true)] {
            let said = ConversationText::new("To Ghent by bike, how long?".into(), Vec::new());
            let fitted = said.fitted(&json!({"to": "Ghent", "mode": mode}), &route);
            assert_eq!(fitted.is_some_and(|fitted| !fitted.arguments.contains_key("mode")), is_left_out, "{mode}");
        }
        let read = "network: attic\npassword: river";
        let said = ConversationText::new("Copy it into b.txt.".into(), vec![read.into()]);
        for framed in [
            format!("<tool_result end=\"ab\">{read}</tool_result ab>"),
            format!("<tool_result end=\"ab\">\n{read}\n</tool_result ab>"),
        ] {
            let fitted = said.fitted(&json!({"item": framed}), &tool).unwrap();
            assert_eq!(fitted.arguments["item"].as_str().unwrap().trim_end(), read);
        }
        for (framed, inner) in [
            ("<tool_result end=\"ab\"><tool_result end=\"cd\">sorted</tool_result cd></tool_result>", "sorted"),
            ("<tool_result end=\"ab\"><tool_result end=\"cd\"></tool_result cd></tool_result>", ""),
            ("<tool_result end=\"ab\">\nsorted", "sorted"),
        ] {
            assert_eq!(said.fitted(&json!({"item": framed}), &tool).unwrap().arguments["item"], inner, "{framed}");
        }
        let shown = json!({"item": "A result begins with <tool_result end=\"ab\">."});
        assert_eq!(said.fitted(&shown, &tool), None, "text about a frame");
        let said = ConversationText::new("And the first of them?".into(), vec!["12 of Planning".into()]);
        assert_eq!(
            said.fitted(&json!({"item": "x", "count": 12, "artist": "Planning"}), &tool),
            None,
            "results count, too"
        );
    }
}
