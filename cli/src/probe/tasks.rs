//! The tasks: made-up tools, questions, and what would be right.
//!
//! They are data. Those that are built in (`tasks.json`) are 40 with one right call, 5 with two
//! calls in one message, 20 that want none, and 10 that need a call, its result and an answer that
//! holds the result's value. A person's own (`--tasks`) have the same form.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use toolgraft::Tool;

use super::score::TaskKind;
use crate::base::{Failure, input};

const BUILT_IN: &str = include_str!("tasks.json");

/// The tools and tasks of a probe.
#[derive(Debug)]
pub(crate) struct Tasks {
    pub(crate) tools: Vec<Tool>,
    /// Tasks in the order of trial: kinds and tools are spread evenly, so that any first tasks are a fair sample.
    pub(crate) tasks: Vec<Task>,
    /// The JSON text from which the tasks were read.
    pub(crate) source: String,
}

/// A task of a probe: a question and the expected calls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    /// Index of the task in the order of trial.
    pub(crate) id: usize,
    pub(crate) question: String,
    /// The expected calls, in any order; empty if no call is wanted.
    pub(crate) wanted: Vec<Expected>,
    /// The result of the call, and the value that the final answer must contain; `None` if only the call counts.
    pub(crate) answer: Option<ExpectedAnswer>,
}

/// An expected call: the tool and its arguments.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Expected {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
}

/// The result that the made-up tool returns, and the value that the model has to repeat from it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ExpectedAnswer {
    pub(crate) result: String,
    /// Text of the result that the final answer must contain, which the model cannot know otherwise.
    pub(crate) value: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TasksFile {
    tools: Vec<Tool>,
    #[serde(default)]
    call: Vec<OneCall>,
    #[serde(default)]
    calls: Vec<ExpectedCalls>,
    #[serde(default)]
    none: Vec<TaskQuestion>,
    #[serde(default)]
    result: Vec<ResultTask>,
}

#[derive(Deserialize)]
struct TaskQuestion {
    question: String,
}

#[derive(Deserialize)]
struct OneCall {
    question: String,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Deserialize)]
struct ExpectedCalls {
    question: String,
    calls: Vec<Expected>,
}

#[derive(Deserialize)]
struct ResultTask {
    question: String,
    #[serde(flatten)]
    expected: Expected,
    #[serde(flatten)]
    answer: ExpectedAnswer,
}

impl Tasks {
    /// Reads the built-in tasks.
    pub(crate) fn built_in() -> Result<Self, Failure> {
        Self::of(BUILT_IN).map_err(Failure::job)
    }

    /// Reads the tasks of a file (`--tasks`).
    ///
    /// # Errors
    /// The file cannot be read, or its content is not valid JSON of the form that docs/models.md describes.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = input::read_text(path)?;
        Self::of(&text).map_err(|e| Failure::usage(format!("--tasks {}: {e}", path.display())))
    }

    fn of(text: &str) -> Result<Self, String> {
        let file: TasksFile = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let task = |question, wanted, answer| Task { id: 0, question, wanted, answer };
        let kinds: [Vec<Task>; 4] = [
            file.call.into_iter().map(|t| task(t.question, vec![t.expected], None)).collect(),
            file.calls.into_iter().map(|t| task(t.question, t.calls, None)).collect(),
            file.none.into_iter().map(|t| task(t.question, Vec::new(), None)).collect(),
            file.result.into_iter().map(|t| task(t.question, vec![t.expected], Some(t.answer))).collect(),
        ];
        let mut tasks = spread(kinds.into_iter().map(by_turns).collect());
        if tasks.is_empty() {
            return Err("it has no tasks: call, calls, none and result are all empty".to_owned());
        }
        for (id, task) in tasks.iter_mut().enumerate() {
            task.id = id;
            if let Some(unknown) = task.wanted.iter().find(|call| !file.tools.iter().any(|t| t.name == call.tool)) {
                return Err(format!(
                    "{:?} expects a call of {:?}, which is not among its tools",
                    task.question, unknown.tool
                ));
            }
        }
        Ok(Tasks { tools: file.tools, tasks, source: text.to_owned() })
    }
}

/// Orders tasks so that each tool has its first task before any tool has its second, and so on.
fn by_turns(tasks: Vec<Task>) -> Vec<Task> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut numbered: Vec<(usize, Task)> = tasks
        .into_iter()
        .map(|task| {
            let tool = task.wanted.first().map(|call| call.tool.clone());
            let turn = tool.map_or(0, |tool| {
                let of_tool = seen.entry(tool).or_default();
                *of_tool += 1;
                *of_tool
            });
            (turn, task)
        })
        .collect();
    numbered.sort_by_key(|(turn, _)| *turn);
    numbered.into_iter().map(|(_, task)| task).collect()
}

/// Mixes the lists of tasks, each spread evenly over the whole.
fn spread(kinds: Vec<Vec<Task>>) -> Vec<Task> {
    let mut placed: Vec<(f64, Task)> = Vec::new();
    for kind in kinds {
        let all = kind.len() as f64;
        // Each in the middle of its share: from its beginning, the first of every kind would come
        // together.
        placed.extend(kind.into_iter().enumerate().map(|(at, task)| ((at as f64 + 0.5) / all, task)));
    }
    placed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    placed.into_iter().map(|(_, task)| task).collect()
}

impl Task {
    /// Returns the kind of the task, by the number of its expected calls and by its required answer.
    pub(crate) fn kind(&self) -> TaskKind {
        match (self.wanted.len(), &self.answer) {
            (0, _) => TaskKind::None,
            (_, Some(_)) => TaskKind::Result,
            (1, None) => TaskKind::Call,
            (_, None) => TaskKind::Calls,
        }
    }
}

impl Expected {
    /// Returns `true` if a call has the expected tool and arguments.
    pub(crate) fn is(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        self.tool == tool && self.has_arguments(arguments)
    }

    /// Returns `true` if a call's arguments equal the expected ones. Texts are compared without regard to case,
    /// surrounding white space and a final full stop, numbers by their value.
    pub(crate) fn has_arguments(&self, arguments: &Map<String, Value>) -> bool {
        same_members(&self.arguments, arguments)
    }
}

impl ExpectedAnswer {
    /// Returns `true` if an answer contains the required value.
    pub(crate) fn is_in(&self, answer: &str) -> bool {
        is_in(&self.value, answer)
    }
}

/// Returns `true` if a text contains a value, without regard to case. A number matches only if no further digit adjoins
/// it.
pub(super) fn is_in(value: &str, answer: &str) -> bool {
    let (answer, value) = (answer.to_lowercase(), value.to_lowercase());
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    answer.match_indices(&value).any(|(at, found)| {
        let (before, after) = (answer[..at].chars().next_back(), answer[at + found.len()..].chars().next());
        let continues = is_digit(before) && is_digit(value.chars().next());
        let goes_on = is_digit(after) && is_digit(value.chars().next_back());
        !continues && !goes_on
    })
}

/// Returns `true` if two JSON values are equal, compared recursively: texts without regard to case, surrounding white
/// space and a final full stop, numbers by their value.
pub(super) fn same(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::String(wanted), Value::String(found)) => plain(wanted) == plain(found),
        (Value::Number(wanted), Value::Number(found)) => wanted.as_f64() == found.as_f64(),
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() == found.len() && wanted.iter().zip(found).all(|(wanted, found)| same(wanted, found))
        }
        (Value::Object(wanted), Value::Object(found)) => same_members(wanted, found),
        _ => wanted == found,
    }
}

fn same_members(wanted: &Map<String, Value>, found: &Map<String, Value>) -> bool {
    let has = |(name, value): (&String, &Value)| found.get(name).is_some_and(|found| same(value, found));
    wanted.len() == found.len() && wanted.iter().all(has)
}

fn plain(text: &str) -> String {
    text.trim().trim_end_matches('.').to_lowercase()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    const EVIDENCE: &str = include_str!("../../../e2e/evidence/tasks.json");

    fn count(tasks: &[Task], kind: TaskKind) -> usize {
        tasks.iter().filter(|task| task.kind() == kind).count()
    }

    #[test]
    fn what_is_right_stands_in_the_question_and_fits_the_tool() {
        let evidence = Tasks::of(EVIDENCE).unwrap();
        let built_in = Tasks::built_in().unwrap();
        let kinds = [TaskKind::Call, TaskKind::Calls, TaskKind::None, TaskKind::Result];
        let counts = |tasks: &Tasks| kinds.map(|kind| count(&tasks.tasks, kind));
        assert_eq!((counts(&built_in), built_in.tools.len()), ([40, 5, 20, 10], 12));
        assert_eq!((counts(&evidence), evidence.tools.len()), ([25, 5, 25, 10], 8));
        let of_evidence: BTreeSet<&str> = evidence.tasks.iter().map(|task| task.question.as_str()).collect();
        assert!(built_in.tasks.iter().all(|task| !of_evidence.contains(task.question.as_str())));
        for tasks in [&built_in, &evidence] {
            assert!(tasks.tasks.iter().enumerate().all(|(at, task)| task.id == at));
            for task in &tasks.tasks {
                task.wanted.iter().for_each(|call| is_told(task, call, &tasks.tools));
                if let Some(answer) = &task.answer {
                    assert!(answer.is_in(&answer.result) && !answer.is_in(&task.question), "{}", answer.value);
                }
            }
        }
    }

    /// Asserts that the question contains every value of a right call, so that nothing has to be guessed.
    fn is_told(task: &Task, expected: &Expected, tools: &[Tool]) {
        let tool = tools.iter().find(|t| t.name == expected.tool).unwrap();
        let call = json!({"tool": expected.tool, "arguments": expected.arguments});
        let schema = tool.input_schema.as_ref().unwrap();
        let properties = schema["properties"].as_object().unwrap();
        assert!(expected.arguments.keys().all(|name| properties.contains_key(name)), "{call}");
        let required = schema["required"].as_array().unwrap();
        assert!(required.iter().all(|name| expected.arguments.contains_key(name.as_str().unwrap())), "{call}");
        for (name, value) in &expected.arguments {
            let words = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // A value of a list may be told by a form of its word: "return" for "returned".
            let stem = if properties[name]["enum"].is_array() { words.trim_end_matches("ed") } else { &words };
            assert!(plain(&task.question).contains(&plain(stem)), "{call}: {}", task.question);
        }
    }

    #[test]
    fn the_first_eight_have_every_kind_and_no_tool_twice() {
        let first = &Tasks::built_in().unwrap().tasks[..8];
        let kinds = [TaskKind::Call, TaskKind::Calls, TaskKind::None, TaskKind::Result];
        assert_eq!(kinds.map(|kind| count(first, kind)), [4, 1, 2, 1]);
        let single = first.iter().filter(|task| task.kind() == TaskKind::Call);
        let tools: BTreeSet<&str> = single.map(|task| task.wanted[0].tool.as_str()).collect();
        assert_eq!(tools.len(), 4);
    }

    #[test]
    fn a_file_that_is_none_is_refused_with_what_is_wrong() {
        let refused = |text: &str| Tasks::of(text).unwrap_err();
        assert!(refused(r#"{"tools": []}"#).contains("no tasks"));
        assert!(refused(r#"{"tools": [], "cal": []}"#).contains("unknown field `cal`"));
        let unknown = r#"{"tools": [{"name": "a"}], "call": [{"question": "Q?", "tool": "b", "arguments": {}}]}"#;
        assert!(refused(unknown).contains(r#""Q?" expects a call of "b""#));
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
        let answer = ExpectedAnswer { result: String::new(), value: "13".to_owned() };
        assert!(answer.is_in("It is -13 degrees.") && answer.is_in("13"));
        assert!(!answer.is_in("It is 113.") && !answer.is_in("130") && !answer.is_in("none"));
    }
}
