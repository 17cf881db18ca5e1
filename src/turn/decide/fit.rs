//! The members that a held call has since its form has a place for them.
//!
//! A small model that is held to a call fills its optional members, too: with the first value of a choice, a date
//! of the tool's description, a number that nobody said. And of a choice it takes the first value where the person
//! named another one. What the tool does without such a member is what its maker thought best.

use serde_json::{Map, Value};

use super::grounded::{Said, texts};
use super::words::{number_word, words};
use crate::constrain::is_id;
use crate::event::Repair;
use crate::outcome::RESULT;
use crate::tools::schema::{properties, property, required};
use crate::tools::{Tool, looks_up, may_change};

/// Letters that two words of one meaning have in common at their start: `cancel`, `cancelled`.
const STEM: usize = 4;

/// A call with the members that somebody spoke of.
#[derive(Debug, PartialEq)]
pub(in crate::turn) struct Fitted {
    pub(in crate::turn) arguments: Map<String, Value>,
    pub(in crate::turn) repairs: Vec<Repair>,
}

impl Said {
    /// The arguments without optional members that nobody spoke of, and with the values that the person named
    /// where one of a choice was to be taken. `None` where nothing changes.
    pub(in crate::turn) fn fitted(&self, arguments: &Value, tool: &Tool) -> Option<Fitted> {
        let schema = tool.input_schema.as_ref()?;
        let mut fitted = Fitted { arguments: arguments.as_object()?.clone(), repairs: Vec::new() };
        for (name, value) in &mut fitted.arguments {
            let meant = property(schema, name).and_then(|own| self.only_choice(own));
            if let Some(meant) = meant.filter(|meant| meant != value) {
                *value = meant;
                fitted.repairs.push(Repair::AsSaid(format!("/{name}")));
            }
        }
        for (name, value) in &mut fitted.arguments {
            if let Some(inner) = value.as_str().and_then(|text| self.out_of_frame(text)) {
                *value = inner.into();
                fitted.repairs.push(Repair::Unframed(format!("/{name}")));
            }
        }
        // What a lookup finds too much of is no harm; what a change changes is not guessed.
        let missing = properties(schema).filter(|(name, _)| looks_up(tool) && arguments.get(name).is_none());
        for (name, meant) in missing.filter_map(|(name, own)| Some((name, self.only_choice(own)?))) {
            fitted.arguments.insert(name.clone(), meant);
            fitted.repairs.push(Repair::AsSaid(format!("/{name}")));
        }
        // A schema that demands nothing says nothing of what a call is about, but for that of a list.
        let demands = looks_up(tool) || required(schema).next().is_some();
        let is_optional = |name: &str| demands && required(schema).all(|required| required != name);
        let is_default =
            |name: &str, value: &Value| property(schema, name).and_then(|own| own.get("default")) == Some(value);
        let is_unsaid =
            |name: &String, value: &Value| is_optional(name) && !is_default(name, value) && !self.is_spoken_of(value);
        let unsaid: Vec<String> = fitted
            .arguments
            .iter()
            .filter(|(name, value)| is_unsaid(name, value))
            .map(|(name, _)| name.clone())
            .collect();
        // A change of which only the object is left would change nothing.
        let stays = |name: &String| !unsaid.contains(name) && !is_id(name);
        let says_nothing = may_change(tool) && !fitted.arguments.keys().any(stays);
        for name in unsaid.into_iter().filter(|_| !says_nothing) {
            fitted.arguments.shift_remove(&name);
            fitted.repairs.push(Repair::LeftOut(format!("/{name}")));
        }
        (!fitted.repairs.is_empty()).then_some(fitted)
    }

    /// The one value of a choice that the person named.
    fn only_choice(&self, own: &Value) -> Option<Value> {
        let choices = own.get("enum")?.as_array()?;
        let is_named = |choice: &&Value| choice.as_str().is_some_and(|text| self.person_names(text));
        let mut named = choices.iter().filter(is_named);
        named.next().filter(|_| named.next().is_none()).cloned()
    }

    /// Whether the person said these words, one after another.
    fn person_names(&self, text: &str) -> bool {
        let (said, wanted): (Vec<String>, Vec<String>) = (words(self.person()).collect(), words(text).collect());
        let is_said = |(said, wanted): (&String, &String)| {
            said == wanted || said.len() > STEM && wanted.starts_with(said.as_str())
        };
        let are_said = |words: &[String]| words.iter().zip(&wanted).all(is_said);
        !wanted.is_empty() && said.windows(wanted.len()).any(are_said)
    }

    /// The text of a result that is written with the frame in which the model read it.
    fn out_of_frame<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (_, inner) = text.trim().strip_prefix(&format!("<{RESULT} "))?.split_once('>')?;
        let (inner, _) = inner.rsplit_once(&format!("</{RESULT}"))?;
        let inner = inner.strip_prefix('\n').unwrap_or(inner);
        self.results().iter().any(|result| result.trim() == inner.trim()).then_some(inner)
    }

    /// Whether a value may come from what was said: a text one of whose words was, a number that was, and whatever
    /// cannot be said in words.
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

    fn has_number(&self, number: &str) -> bool {
        let is_it = |word: String| word == number || number_word(&word).is_some_and(|value| value == number);
        // Chinese has no spaces.
        let is_in =
            |text: &str| text.contains(number) || words(text).any(is_it) || text.chars().any(|c| is_it(c.into()));
        is_in(self.person()) || self.results().iter().any(|text| is_in(text))
    }

    fn is_text_spoken_of(&self, text: &str) -> bool {
        let is_foreign = self.person().chars().any(|c| c.is_alphabetic() && !c.is_ascii());
        let has_digit = text.contains(|c: char| c.is_ascii_digit());
        // What is said in another language than the tool's may be said all the same.
        if is_foreign && !has_digit {
            return true;
        }
        let lower = text.to_lowercase();
        let is_said = self.person().contains(&lower) || self.results().iter().any(|said| said.contains(text));
        let is_like = |word: String| self.has_word_like(&word);
        is_said || if has_digit { words(text).all(is_like) || self.speaks_of_time() } else { words(text).any(is_like) }
    }

    /// Whether a word was said, or one with the same stem.
    fn has_word_like(&self, word: &str) -> bool {
        let stem: String = word.chars().take(STEM).collect();
        let is_like = |said: &String| said == word || stem.chars().count() == STEM && said.starts_with(&stem);
        self.said_words().iter().any(is_like)
    }

    /// Whether a day or a time is said in a way that a date is reckoned from.
    fn speaks_of_time(&self) -> bool {
        const WORDS: [&str; 18] = [
            "today", "tomorrow", "yesterday", "tonight", "next", "last", "since", "ago", "week", "month", "year",
            "hour", "morning", "noon", "evening", "midnight", "days", "weekend",
        ];
        const SIGNS: [char; 9] = ['今', '明', '昨', '周', '月', '年', '天', '点', '前'];
        words(self.person()).any(|word| WORDS.contains(&&*word)) || self.person().contains(SIGNS)
    }
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
        ] {
            let said = Said::new(question.into(), Vec::new());
            let found = said.fitted(&arguments, &tool).map_or(Value::Null, |fitted| Value::Object(fitted.arguments));
            assert_eq!(found, fitted, "{question}: {arguments}");
        }
        let list = Tool::new("list_orders").with_schema(json!({"required": ["customer"], "properties": {
            "customer": {"type": "string"}, "status": {"enum": ["open", "shipped", "returned"]},
        }}));
        let free = Tool::new("run").with_schema(json!({"properties": {"command": {"type": "string"}}}));
        assert_eq!(Said::new("Look.".into(), Vec::new()).fitted(&json!({"command": "ls"}), &free), None);
        for (question, status) in [
            ("Are there open orders of Petrov?", Some("open")),
            ("What did Petrov return?", Some("returned")),
            ("Open or shipped orders of Petrov?", None),
            ("Petrov's orders?", None),
        ] {
            let fitted = Said::new(question.into(), Vec::new()).fitted(&json!({"customer": "Petrov"}), &list);
            assert_eq!(fitted.map(|fitted| fitted.arguments["status"].clone()), status.map(Value::from), "{question}");
        }
        let read = "network: attic\npassword: river";
        let said = Said::new("Copy it into b.txt.".into(), vec![read.into()]);
        for framed in [
            format!("<tool_result end=\"ab\">{read}</tool_result ab>"),
            format!("<tool_result end=\"ab\">\n{read}\n</tool_result ab>"),
        ] {
            let fitted = said.fitted(&json!({"item": framed}), &tool).unwrap();
            assert_eq!(fitted.arguments["item"].as_str().unwrap().trim_end(), read);
        }
        let other = json!({"item": "<tool_result end=\"ab\">something else</tool_result ab>"});
        assert_eq!(said.fitted(&other, &tool), None, "nothing that was read");
        let said = Said::new("And the first of them?".into(), vec!["12 of Planning".into()]);
        assert_eq!(
            said.fitted(&json!({"item": "x", "count": 12, "artist": "Planning"}), &tool),
            None,
            "results count, too"
        );
    }
}
