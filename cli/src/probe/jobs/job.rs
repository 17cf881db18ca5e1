//! Jobs as data: tool sets with a world, questions, and what is right at the end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolgraft::Tool;

use super::super::tasks::{is_in, same};
use super::world::{Operation, World, merge};

const JOBS: &str = include_str!("jobs.json");

/// The jobs of one half of the built-in data, and the JSON text that they come from. Jobs with the same tools are
/// adjacent, since an endpoint with a prompt cache then reads the tools of a set once.
#[derive(Debug)]
pub(in super::super) struct Jobs {
    pub(in super::super) jobs: Vec<Job>,
    pub(in super::super) source: &'static str,
}

/// A question with tools and a simulated world, with the expected calls, answer and end state.
#[derive(Debug, Clone)]
pub(in super::super) struct Job {
    pub(in super::super) id: String,
    pub(super) kind: JobKind,
    pub(super) question: String,
    pub(super) tools: Vec<(Tool, Option<Operation>)>,
    pub(super) world: World,
    /// Alternative lists of expected calls, one of which has to be made, in any order.
    pub(super) wanted: Vec<Vec<Wanted>>,
    /// Texts that the answer must contain; each may list alternatives, separated by `|`.
    answer: Vec<String>,
    /// The expected state of the world at the end, as JSON.
    end: Value,
}

/// Kind of a job, by the calls that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JobKind {
    /// One call, then an answer.
    One,
    /// Two calls that do not depend on each other.
    Two,
    /// Two or three calls, of which later ones need the results or effects of earlier ones.
    Dependent,
    /// A question that needs no call.
    None,
}

/// Half of the jobs: toolgraft is tuned on one; figures are only reported for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Half {
    Tune,
    Report,
}

/// An expected call, with the tools and argument values that it accepts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Names of the tools that are accepted alternatives.
    tool: Vec<String>,
    /// Expected argument values by name; an object with only `one_of` lists the accepted values.
    arguments: Map<String, Value>,
    /// Names of optional arguments, which may have any value.
    #[serde(default)]
    may: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobsFile {
    sets: BTreeMap<String, Set>,
    jobs: Vec<JobEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    /// Origin of the tools of this set, as a note for readers of the data file.
    #[serde(rename = "source")]
    _source: String,
    tools: Vec<SetTool>,
    state: Value,
}

#[derive(Deserialize)]
struct SetTool {
    #[serde(flatten)]
    tool: Tool,
    does: Option<Operation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobEntry {
    id: String,
    kind: JobKind,
    half: Half,
    /// Language of the question, as a code.
    #[serde(rename = "lang")]
    _lang: String,
    sets: Vec<String>,
    question: String,
    calls: Vec<Wanted>,
    /// Alternative lists of calls that are accepted as well.
    #[serde(default)]
    or: Vec<Vec<Wanted>>,
    #[serde(default)]
    answer: Vec<String>,
    /// Changes that the job makes to the world, as a merge patch (RFC 7386).
    #[serde(default)]
    end: Map<String, Value>,
}

impl Jobs {
    /// Reads the built-in jobs of one half.
    ///
    /// # Errors
    /// A message if the built-in JSON is invalid or a job names an unknown set or tool.
    pub(in super::super) fn of(half: Half) -> Result<Self, String> {
        let file: JobsFile = serde_json::from_str(JOBS).map_err(|e| e.to_string())?;
        let (sets, jobs) = (file.sets, file.jobs.into_iter());
        let jobs = jobs.filter(|entry| entry.half == half).map(|entry| job(&sets, entry));
        Ok(Jobs { jobs: jobs.collect::<Result<_, _>>()?, source: JOBS })
    }
}

fn job(sets: &BTreeMap<String, Set>, entry: JobEntry) -> Result<Job, String> {
    let wrong = |what: String| format!("job {}: {what}", entry.id);
    let (mut state, mut tools) = (Value::Null, Vec::new());
    for name in &entry.sets {
        let set = sets.get(name).ok_or_else(|| wrong(format!("there is no set {name:?}")))?;
        merge(&mut state, &set.state);
        tools.extend(set.tools.iter().map(|SetTool { tool, does }| (tool.clone(), does.clone())));
    }
    let read = |state: &Value| World::deserialize(state).map_err(|e| wrong(e.to_string()));
    let world = read(&state)?;
    merge(&mut state, &Value::Object(entry.end));
    let end = read(&state)?.as_json();
    let wanted: Vec<Vec<Wanted>> = std::iter::once(entry.calls).chain(entry.or).collect();
    let is_known = |tool: &String| tools.iter().any(|(known, _)| known.name == *tool);
    if let Some(tool) = wanted.iter().flatten().flat_map(|call| &call.tool).find(|tool| !is_known(tool)) {
        return Err(format!("job {}: it expects a call of {tool:?}, which is in none of its sets", entry.id));
    }
    let JobEntry { id, kind, question, answer, .. } = entry;
    Ok(Job { id, kind, question, tools, world, wanted, answer, end })
}

impl Job {
    /// Returns `true` if an answer is not blank and contains every expected text.
    pub(super) fn is_answered(&self, answer: &str) -> bool {
        let has = |part: &String| part.split('|').any(|value| is_in(value, answer));
        // A job may expect no part of the answer (`answer` is empty), but silence is none.
        !answer.trim().is_empty() && self.answer.iter().all(has)
    }

    /// Returns `true` if the world equals the expected end state, without any other change.
    pub(super) fn is_done(&self, world: &World) -> bool {
        same(&self.end, &world.as_json())
    }
}

impl Wanted {
    /// Returns `true` if a call with this tool and these arguments matches the expected call.
    pub(super) fn is(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        let fits = |wanted: &Value, found: &Value| match wanted.get("one_of").and_then(Value::as_array) {
            Some(values) => values.iter().any(|value| same(value, found)),
            None => same(wanted, found),
        };
        let all = |(name, wanted): (&String, &Value)| arguments.get(name).is_some_and(|found| fits(wanted, found));
        let is_allowed = |name: &String| self.arguments.contains_key(name) || self.may.contains(name);
        self.tool.iter().any(|name| name == tool) && self.arguments.iter().all(all) && arguments.keys().all(is_allowed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::json;

    use super::*;

    #[test]
    fn the_halves_have_the_same_kinds_and_a_third_is_chinese() {
        for half in [Half::Tune, Half::Report] {
            let jobs = Jobs::of(half).unwrap().jobs;
            let mut kinds = BTreeMap::new();
            jobs.iter().for_each(|job| *kinds.entry(job.kind).or_insert(0) += 1);
            let wanted = [(JobKind::One, 10), (JobKind::Two, 4), (JobKind::Dependent, 10), (JobKind::None, 6)];
            assert_eq!(kinds.into_iter().collect::<Vec<_>>(), wanted);
            let is_chinese = |job: &&Job| job.question.chars().any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c));
            assert_eq!(jobs.iter().filter(is_chinese).count(), 10);
        }
        let all = [Half::Tune, Half::Report].map(|half| Jobs::of(half).unwrap().jobs).concat();
        assert_eq!(all.iter().map(|job| job.id.as_str()).collect::<BTreeSet<_>>().len(), 60);
        assert_eq!(all.iter().filter(|job| job.kind == JobKind::Dependent && job.wanted[0].len() == 3).count(), 7);
    }

    /// Returns arguments that match an expected call; required arguments that may have any value get one that works.
    fn arguments(wanted: &Wanted, tool: &Tool) -> Map<String, Value> {
        let of = |(name, value): (&String, &Value)| {
            let value = value.get("one_of").map_or(value, |values| &values[0]);
            (name.clone(), value.clone())
        };
        let mut arguments: Map<String, Value> = wanted.arguments.iter().map(of).collect();
        let required = tool.input_schema.as_ref().unwrap()["required"].as_array().unwrap();
        for name in required.iter().map(|name| name.as_str().unwrap()) {
            let any = match name {
                "path" => "/home/kim",
                "pattern" => "**",
                "date" => "2026-12-03",
                _ => "",
            };
            arguments.entry(name).or_insert_with(|| any.into());
        }
        arguments
    }

    #[test]
    fn the_wanted_calls_of_each_job_run_and_leave_the_world_as_it_has_to_be() {
        for job in [Half::Tune, Half::Report].map(|half| Jobs::of(half).unwrap().jobs).concat() {
            for list in &job.wanted {
                let mut world = job.world.clone();
                let mut results = String::new();
                for wanted in list {
                    let (tool, operation) = job.tools.iter().find(|(tool, _)| tool.name == wanted.tool[0]).unwrap();
                    let arguments = arguments(wanted, tool);
                    assert!(wanted.is(&tool.name, &arguments), "{}: {arguments:?}", job.id);
                    assert!(list.iter().filter(|other| other.is(&tool.name, &arguments)).count() == 1, "{}", job.id);
                    let result = world.call(&tool.name, operation.as_ref(), &arguments);
                    results.push_str(&result.unwrap_or_else(|error| panic!("{}: {error}", job.id)));
                }
                assert!(job.is_done(&world), "{}: {world:?}", job.id);
                // A model can answer from the results alone, but for what it knows without tools.
                let is_answered = job.is_answered(&format!("{results} "));
                assert!(is_answered || job.kind == JobKind::None, "{}: {results}", job.id);
                let changes = !job.is_done(&job.world);
                assert_eq!(changes, job.is_done(&world) && job.world != world, "{}", job.id);
            }
        }
    }

    #[test]
    fn a_call_is_right_with_one_of_its_values_and_what_it_may_have() {
        let wanted: Wanted = serde_json::from_value(json!({
            "tool": ["a", "b"], "arguments": {"x": {"one_of": ["One", 2]}, "list": ["p."]}, "may": ["any"],
        }))
        .unwrap();
        let is = |tool: &str, arguments: Value| wanted.is(tool, arguments.as_object().unwrap());
        assert!(is("a", json!({"x": "one", "list": [" P"]})) && is("b", json!({"x": 2.0, "list": ["p"], "any": 9})));
        assert!(!is("c", json!({"x": "one", "list": ["p"]})) && !is("a", json!({"x": 3, "list": ["p"]})));
        assert!(!is("a", json!({"x": 2})) && !is("a", json!({"x": 2, "list": ["p"], "more": 1})));
    }

    #[test]
    fn a_change_that_nobody_asked_for_is_not_done() {
        let jobs = Jobs::of(Half::Tune).unwrap().jobs;
        let job = jobs.iter().find(|job| job.kind == JobKind::None).unwrap();
        let mut world = job.world.clone();
        assert!(job.is_done(&world) && job.is_answered("Yes.") && !job.is_answered(" "));
        world.files.insert("/home/kim/new.txt".to_owned(), String::new());
        assert!(!job.is_done(&world));
    }
}
