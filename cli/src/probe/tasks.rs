//! The tasks: made-up tools, questions, and what would be right.
//!
//! They are data (`tasks.json`): 40 with one right call, 20 that want none, 10 that need a
//! call, its result and an answer that holds the result's value.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolgraft::Tool;

/// Tools that a task offers where not all are offered: the right one and two others.
pub(crate) const FEW: usize = 3;

pub(crate) const TASKS: &str = include_str!("tasks.json");

/// Tools and tasks.
#[derive(Debug)]
pub(crate) struct Tasks {
    pub(crate) tools: Vec<Tool>,
    /// In the order in which they are asked: of each seven four with a call, two with
    /// none, one with a result, so that the first so many are a fair choice.
    pub(crate) tasks: Vec<Task>,
}

/// A question, and what would be right.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    /// Its number, which stays the same.
    pub(crate) id: usize,
    pub(crate) question: String,
    pub(crate) wanted: Wanted,
}

/// What would be right.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wanted {
    /// This call.
    Call(Expected),
    /// No call.
    NoCall,
    /// This call, and an answer that holds this value of its result.
    Result(Expected, Answer),
}

/// A call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Expected {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
}

/// What a call is answered with.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Answer {
    pub(crate) result: String,
    /// Part of the result that the model cannot know otherwise.
    pub(crate) value: String,
}

#[derive(Deserialize)]
struct File {
    tools: Vec<Tool>,
    call: Vec<CallTask>,
    none: Vec<Question>,
    result: Vec<ResultTask>,
}

#[derive(Deserialize)]
struct Question {
    question: String,
}

#[derive(Deserialize)]
struct CallTask {
    question: String,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Deserialize)]
struct ResultTask {
    question: String,
    #[serde(flatten)]
    expected: Expected,
    #[serde(flatten)]
    answer: Answer,
}

impl Tasks {
    /// The tasks that are built in.
    pub(crate) fn built_in() -> Result<Self, serde_json::Error> {
        let file: File = serde_json::from_str(TASKS)?;
        let mut calls = file.call.into_iter().map(|task| (task.question, Wanted::Call(task.expected)));
        let mut none = file.none.into_iter().map(|task| (task.question, Wanted::NoCall));
        let mut results = file.result.into_iter().map(|t| (t.question, Wanted::Result(t.expected, t.answer)));
        let mut tasks = Vec::new();
        loop {
            let before = tasks.len();
            for kind in "ccnccnr".chars() {
                let next = match kind {
                    'c' => calls.next(),
                    'n' => none.next(),
                    _ => results.next(),
                };
                if let Some((question, wanted)) = next {
                    tasks.push(Task { id: tasks.len(), question, wanted });
                }
            }
            if tasks.len() == before {
                return Ok(Tasks { tools: file.tools, tasks });
            }
        }
    }

    /// The tools that a task offers: all, or the right one and two that its number picks,
    /// in the order of the list.
    pub(crate) fn offered(&self, task: &Task, all: bool) -> Vec<&Tool> {
        if all {
            return self.tools.iter().collect();
        }
        let right = match &task.wanted {
            Wanted::Call(expected) | Wanted::Result(expected, _) => {
                self.tools.iter().position(|tool| tool.name == expected.tool)
            }
            Wanted::NoCall => None,
        };
        let mut picked: Vec<usize> = right.into_iter().collect();
        // A step that shares no factor with their number comes to every tool.
        let all = self.tools.len();
        for other in (0..all).map(|step| (task.id * 7 + step * 5) % all) {
            if picked.len() < FEW && !picked.contains(&other) {
                picked.push(other);
            }
        }
        picked.sort_unstable();
        picked.into_iter().filter_map(|at| self.tools.get(at)).collect()
    }
}

impl Expected {
    /// Whether a call's arguments are these. Texts are compared without regard to case,
    /// white space around them and a full stop at their end, numbers by their value.
    pub(crate) fn has_arguments(&self, arguments: &Map<String, Value>) -> bool {
        self.arguments.len() == arguments.len()
            && self.arguments.iter().all(|(name, value)| arguments.get(name).is_some_and(|found| same(value, found)))
    }
}

impl Answer {
    /// Whether an answer holds the value; a number's places are not parted, and no digit
    /// stands beside it.
    pub(crate) fn is_in(&self, answer: &str) -> bool {
        let (answer, value) = (answer.to_lowercase(), self.value.to_lowercase());
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        answer.match_indices(&value).any(|(at, found)| {
            let (before, behind) = (answer[..at].chars().next_back(), answer[at + found.len()..].chars().next());
            let continues = is_digit(before) && is_digit(value.chars().next());
            let goes_on = is_digit(behind) && is_digit(value.chars().next_back());
            !continues && !goes_on
        })
    }
}

fn same(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::String(wanted), Value::String(found)) => plain(wanted) == plain(found),
        (Value::Number(wanted), Value::Number(found)) => wanted.as_f64() == found.as_f64(),
        _ => wanted == found,
    }
}

fn plain(text: &str) -> String {
    text.trim().trim_end_matches('.').to_lowercase()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn there_are_forty_twenty_and_ten_over_twelve_tools() {
        let tasks = Tasks::built_in().unwrap();
        let count = |is: fn(&Wanted) -> bool| tasks.tasks.iter().filter(|t| is(&t.wanted)).count();
        assert_eq!(tasks.tools.len(), 12);
        assert_eq!(count(|w| matches!(w, Wanted::Call(_))), 40);
        assert_eq!(count(|w| matches!(w, Wanted::NoCall)), 20);
        assert_eq!(count(|w| matches!(w, Wanted::Result(..))), 10);
        assert!(tasks.tasks.iter().enumerate().all(|(at, task)| task.id == at));
        for task in &tasks.tasks {
            let (Wanted::Call(expected) | Wanted::Result(expected, _)) = &task.wanted else { continue };
            let tool = tasks.tools.iter().find(|t| t.name == expected.tool).unwrap();
            let call = json!({"tool": expected.tool, "arguments": expected.arguments});
            let schema = tool.input_schema.as_ref().unwrap();
            let names: BTreeSet<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            assert!(expected.arguments.keys().all(|name| names.contains(name.as_str())), "{call}");
            let required = schema["required"].as_array().unwrap();
            assert!(required.iter().all(|name| expected.arguments.contains_key(name.as_str().unwrap())), "{call}");
            // What a right call holds stands in the question, so that nothing has to be guessed.
            for value in expected.arguments.values() {
                let words = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                assert!(plain(&task.question).contains(&plain(&words)), "{call}: {}", task.question);
            }
            if let Wanted::Result(_, answer) = &task.wanted {
                assert!(answer.is_in(&answer.result) && !answer.is_in(&task.question), "{}", answer.value);
            }
        }
    }

    #[test]
    fn the_first_eight_have_every_kind() {
        let tasks = Tasks::built_in().unwrap().tasks;
        let first = |is: fn(&Wanted) -> bool| tasks[..8].iter().filter(|t| is(&t.wanted)).count();
        assert_eq!(first(|w| matches!(w, Wanted::Call(_))), 5);
        assert_eq!(first(|w| matches!(w, Wanted::NoCall)), 2);
        assert_eq!(first(|w| matches!(w, Wanted::Result(..))), 1);
    }

    #[test]
    fn a_task_offers_the_right_tool_and_two_others() {
        let tasks = Tasks::built_in().unwrap();
        let mut offered = BTreeSet::new();
        for task in &tasks.tasks {
            let few: Vec<&str> = tasks.offered(task, false).iter().map(|t| t.name.as_str()).collect();
            assert_eq!(few.iter().collect::<BTreeSet<_>>().len(), FEW, "{few:?}");
            if let Wanted::Call(expected) | Wanted::Result(expected, _) = &task.wanted {
                assert!(few.contains(&expected.tool.as_str()), "{few:?}");
            }
            assert_eq!(tasks.offered(task, true).len(), 12);
            offered.extend(few.iter().map(|name| (*name).to_owned()));
        }
        assert_eq!(offered.len(), 12);
    }

    #[test]
    fn arguments_and_answers_are_compared_as_a_person_would() {
        let expected = Expected {
            tool: "t".to_owned(),
            arguments: json!({"text": "See you.", "n": 2}).as_object().cloned().unwrap(),
        };
        let has = |value: Value| expected.has_arguments(value.as_object().unwrap());
        assert!(has(json!({"n": 2.0, "text": " see you"})));
        for wrong in [json!({"n": 2}), json!({"n": 2, "text": "See me"}), json!({"n": 2, "text": "See you", "x": 1})] {
            assert!(!has(wrong));
        }
        let answer = Answer { result: String::new(), value: "13".to_owned() };
        assert!(answer.is_in("It is -13 degrees.") && answer.is_in("13"));
        assert!(!answer.is_in("It is 113.") && !answer.is_in("130") && !answer.is_in("none"));
    }
}
