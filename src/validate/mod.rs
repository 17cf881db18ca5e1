//! Turns a call's arguments into arguments that the tool's schema accepts, or into an error that a model can act on.
//!
//! The parser passes on any JSON value. A [`Validator`] unwraps arguments that came as text, coerces values that the
//! schema refuses as they are and accepts in another notation (see [Coercion](#coercion)), requires an object, and
//! reports for everything else the expected value and its place. Without a schema it only requires an object.
//!
//! ```text
//! schema ─▶ compile ─▶ Compiled ──┐ once for each tool
//!                                 ▼
//! Call ─▶ coerce ─ asks the validator what it refuses ─▶ gives that another reading ─┐
//!           ▲                                            (reading, keys, branches)  │
//!           └────────────────── asks again ◀─────────────────────────────────────────┘
//!           │ nothing is refused any more     ─▶ Call, its repairs named
//!           └ nothing else can be read        ─▶ explain ─▶ Rejected, for the model
//! ```
//!
//! `work` counts the steps of a check. If the validator itself would take too many, which `parts` counts in advance, it
//! is not asked.
//!
//! # Schemas
//! `$schema` selects the draft (4, 6, 7, 2019-09, 2020-12); absent or unknown means 2020-12. A schema without `$schema`
//! that 2020-12 refuses is read as draft 7, which many servers mean. A remote `$ref` is never fetched. `format` is only
//! an annotation, never a reason to refuse. OpenAPI's `nullable` is read as an additional type `null`. If a schema does
//! not compile, or exceeds a limit ([`MAX_SCHEMA_NODES`], [`MAX_SCHEMA_DEPTH`], [`MAX_SCHEMA_REFERENCES`]), its tool
//! stays callable with any object, and [`Validator::problems`] lists it.
//!
//! # Coercion
//! A value changes only if the schema refuses it as it is and accepts it afterwards; every change is a [`Repair`] with
//! its place, a JSON Pointer. No value is invented, and no value with content is dropped, with one harmless exception:
//! a call of a tool that is marked read-only runs without members that its schema does not have.
//!
//! | found | wanted | becomes | repair |
//! |---|---|---|---|
//! | text, a JSON number without fraction: `5`, ` 5 `, `-3`, `5.0`, `1e3` | integer | the integer | `coerced` |
//! | text, any JSON number: `2.5`, `1e3` | number | the number | `coerced` |
//! | text `true`, `True`, `FALSE` | boolean | the boolean | `coerced` |
//! | text `null` | null | null | `coerced` |
//! | number | text only | its digits as written | `coerced` |
//! | boolean | text only | `true`, `false` | `coerced` |
//! | text with space around one of the schema's values | `enum`, `const` | that value | `coerced` |
//! | `5.0` | integer | `5` (JSON Schema takes `5.0` for an integer, many servers do not) | `coerced` |
//! | all arguments `null` or empty text | object | `{}` | `coerced` |
//! | text with a JSON object, array or string | no text | its value, coerced in turn | `unwrapped_string` |
//! | array of one | no array | its item, coerced in turn | `unwrapped_array` |
//! | a single value | array only | an array of it, coerced in turn | `wrapped_in_array` |
//! | key `fileName`, `File-Name`, `FILE_NAME` | `file_name` | `file_name` | `key_renamed` |
//! | key `path`, the only one that is not declared | `file_path`, required and absent | `file_path` | `key_renamed` |
//! | a member that need not be there: `null`, empty text | neither | no member | `left_out` |
//! | a member of a read-only tool's arguments | no such member | no member | `unknown_dropped` |
//!
//! Text that is not a JSON number stays text and is an error: `+5`, `05`, `1,000`, `0x10`, `five`. So are `yes`, `no`,
//! `1` and `0` for a boolean. An integer that needs more than 64 bits stays text, since its digits would be lost. A
//! fraction with more digits than a double holds is read with [`Repair::NumberPrecision`].
//!
//! A key is renamed if the schema refuses its object because of its keys: one is missing, or one is not allowed. Then
//! each undeclared key gets the only declared name that it matches without case, `_`, `-`, `.` and space, if that name
//! is not given and no other key matches it. If there is no such key, the only undeclared key gets the missing name,
//! provided that one of the two ends with the words of the other and no other absent name does.
//!
//! An ambiguous value is refused: text with a comma, semicolon or line break where an array is required (one item or
//! several?), an item of an array where an array of arrays is required, and a value that two branches of `anyOf` or
//! `oneOf` read differently with equally light repairs. (A renamed key and an added or removed array weigh two, every
//! other repair one.)
//!
//! # Work
//! A small schema whose references share a subschema can require unlimited work: each level of a recursive `anyOf`
//! multiplies it. So the work is counted before it is done, and a check that may take more than [`max_steps`] is given
//! up. If the arguments have not been refused by then, they are accepted unchecked, provided that they are an object
//! with the members in the schema's own `required`: the server checks the rest. If the schema has refused them, or if
//! an answer is checked ([`OutputSchema`]), they are refused with a message that says why. [`Validator::check_counted`]
//! returns the steps.
//!
//! ```
//! use std::sync::Arc;
//! use serde_json::json;
//! use toolgraft::{Call, Catalog, Dialect, Tool};
//! use toolgraft::validate::Validator;
//!
//! let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
//! let tool = Tool::new("forecast").with_schema(schema);
//! let validator = Validator::new(Arc::new(Catalog::from_tools([tool])));
//! let call = Call::new(Dialect::UseMcpTool, "forecast", json!({"days": "3"}));
//! let call = validator.check(call, "").unwrap();
//! assert_eq!(call.arguments, json!({"days": 3}));
//! assert_eq!(call.repairs[0].to_string(), "coerced:/days");
//! ```
//!
//! [`Repair`]: crate::event::Repair
//! [`Repair::NumberPrecision`]: crate::event::Repair::NumberPrecision

mod coerce;
mod compile;
mod depth;
mod describe;
mod explain;
mod nothing;
mod nullable;
mod output;
mod parts;
mod references;
mod restored;
mod work;

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use crate::cause::Cause;
use crate::dialect::{Dialect, write_call, write_tool_call};
use crate::event::{Assembled, Call, Collector, Entry, Event, Provenance, Rejected, RejectedKind};
use crate::tools::{ACCESS_RESOURCE, Catalog, Tool};
use coerce::CoercionResult;
use compile::CompiledSchema;
use work::Work;

pub use compile::{MAX_SCHEMA_DEPTH, MAX_SCHEMA_NODES, OutputSchemaError};
pub use nothing::fits_nothing;
pub use output::{Mismatch, OutputSchema};
pub use references::MAX_SCHEMA_REFERENCES;
pub use work::max_steps;
pub use work::takes_long;

/// Longest text, in bytes, that [`Validator::correct_call`] returns.
pub const MAX_CORRECT_CALL: usize = 4096;

/// Checks calls against the schemas of one catalog. Each schema is compiled at most once, when its tool is first
/// called; threads share it in an `Arc`.
#[derive(Debug)]
pub struct Validator {
    catalog: Arc<Catalog>,
    /// Compiled schemas or their problems, one cell per tool, in the catalog's order.
    compiled: Vec<SchemaCell>,
    resource: OnceLock<CompiledSchema>,
    problems: OnceLock<Vec<SchemaProblem>>,
    /// Names and texts of the schemas by the escaped form that prompts show, where that differs.
    shown: OnceLock<restored::ShownTexts>,
}

type SchemaCell = OnceLock<Result<CompiledSchema, SchemaProblem>>;

/// A schema that cannot be used; its tool accepts any object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema of {} cannot be used, so any object is accepted: {message}", qualified(server.as_deref(), tool))]
#[non_exhaustive]
pub struct SchemaProblem {
    /// Server of the tool.
    pub server: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// The problem with the schema, and its place.
    pub message: String,
    /// Underlying error, of the schema compiler or for an exceeded limit.
    pub source: Option<Cause>,
}

impl Validator {
    /// Creates a validator for the tools of `catalog`. It compiles nothing yet.
    pub fn new(catalog: Arc<Catalog>) -> Self {
        let compiled = catalog.tools().map(|_| OnceLock::new()).collect();
        Validator { catalog, compiled, resource: OnceLock::new(), problems: OnceLock::new(), shown: OnceLock::new() }
    }

    /// Returns the approximate number of bytes of memory that the compiled schemas take.
    pub fn weight(&self) -> usize {
        let compiled = self.compiled.iter().filter_map(OnceLock::get);
        compiled.filter_map(|compiled| compiled.as_ref().ok()).map(CompiledSchema::weight).sum()
    }

    /// Returns the catalog that calls are checked against.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Returns every schema that cannot be used. It compiles all schemas; call it once per catalog, for a report to
    /// people.
    pub fn problems(&self) -> &[SchemaProblem] {
        self.problems.get_or_init(|| {
            self.catalog
                .tools()
                .zip(&self.compiled)
                .filter_map(|(tool, place)| compiled(place, tool)?.err().cloned())
                .collect()
        })
    }

    /// Returns the problem with the schema of a call's tool, if there is one.
    pub fn problem(&self, server: Option<&str>, tool: &str) -> Option<&SchemaProblem> {
        let (tool, place) = self.find(server, tool)?;
        compiled(place, tool)?.err()
    }

    /// Checks a call and returns it with arguments that its schema accepts.
    ///
    /// `raw` is the call's whole text, for the rejection; without it the rejection has the arguments' text. A call of a
    /// name that the catalog does not have is accepted if its arguments are an object. A resource access needs `uri`, a
    /// string.
    ///
    /// # Errors
    /// [`RejectedKind::InvalidArguments`] with the original call; the message has each place, the expected value and
    /// the value found.
    pub fn check(&self, call: Call, raw: &str) -> Result<Call, Box<Rejected>> {
        self.check_counted(call, raw).0
    }

    /// Checks a call as [`check`](Self::check) does, and returns the number of steps as well: at most [`max_steps`] of
    /// the arguments.
    pub fn check_counted(&self, mut call: Call, raw: &str) -> (Result<Call, Box<Rejected>>, usize) {
        restored::restore(&mut call, || self.shown.get_or_init(|| restored::shown(&self.catalog)));
        let work = Work::on(&call.arguments);
        let settled = match self.schema_of(&call) {
            Some(compiled) => self.coerced(&call, compiled, &work),
            None if call.arguments.is_object() => Ok(None),
            None => Err(explain::not_an_object(&call.arguments)),
        };
        let checked = match settled {
            Ok(coerced) => {
                if let Some((arguments, repairs)) = coerced {
                    call.arguments = arguments;
                    repairs.into_iter().for_each(|repair| repair.note(&mut call.repairs));
                }
                Ok(call)
            }
            Err(message) => {
                let raw = if raw.is_empty() { call.raw_arguments.clone() } else { raw.to_owned() };
                Err(Box::new(Rejected::of(call, RejectedKind::InvalidArguments, raw, message)))
            }
        };
        (checked, work.done())
    }

    fn coerced(&self, call: &Call, compiled: &CompiledSchema, work: &Work) -> CoercionResult {
        let (arguments, raw) = (&call.arguments, &call.raw_arguments);
        coerce::coerce(compiled, arguments, raw, work).or_else(|message| {
            let tool = self.find(call.server.as_deref(), &call.tool);
            // A dropped member of a change might be what limits it.
            let is_read_only = tool.is_some_and(|(tool, _)| tool.is_read_only());
            let known = is_read_only.then(|| coerce::coerce_known(compiled, arguments, raw, work));
            known.flatten().map(Some).ok_or(message)
        })
    }

    /// Checks every call of a message in place: a refused call becomes a rejection in its entry.
    pub fn check_all(&self, assembled: &mut Assembled) {
        assembled.entries.iter_mut().for_each(|entry| self.check_entry(entry));
    }

    /// Checks the call of one entry of a message in place: a refused call becomes a rejection.
    pub fn check_entry(&self, entry: &mut Entry) {
        if let Ok(call) = &mut entry.result {
            // The call or its rejection replaces this placeholder.
            let call = std::mem::replace(call, Call::new(Dialect::UseMcpTool, "", Value::Null));
            entry.result = self.check(call, &entry.raw).map_err(|rejected| *rejected);
        }
    }

    /// Returns `true` if an event may be applied. Only [`Event::Revised`] may be refused: it turns examples into calls,
    /// which requires that the arguments of all of them are accepted. Call this before an event is
    /// [collected](Collector::push).
    pub fn admits(&self, event: &Event<'_>, collected: &Collector) -> bool {
        let Event::Revised { calls, result: Ok(Provenance::FencedFirst), .. } = event else { return true };
        calls.clone().all(|index| {
            let call = collected.entries().iter().find(|entry| entry.index == index).and_then(Entry::call);
            call.is_some_and(|call| self.check(call.clone(), "").is_ok())
        })
    }

    /// Returns a correct call of a tool in a dialect, for feedback besides a rejection's message; for a resource
    /// access, of the first resource in the catalog. `None` if the catalog does not have the name, or if the call would
    /// be longer than [`MAX_CORRECT_CALL`].
    pub fn correct_call(&self, dialect: Dialect, server: Option<&str>, tool: &str) -> Option<String> {
        let text = match self.find(server, tool) {
            Some((tool, _)) => write_tool_call(dialect, &self.catalog, tool, &tool.example_arguments()),
            None if tool == ACCESS_RESOURCE => {
                let mut servers =
                    self.catalog.servers().iter().filter(|s| server.is_none() || s.name.as_deref() == server);
                let (server, resource) = servers.find_map(|s| Some((s, s.resources.first()?)))?;
                let arguments = Map::from_iter([("uri".to_owned(), resource.uri.as_str().into())]);
                write_call(dialect, server.name.as_deref(), ACCESS_RESOURCE, &arguments)
            }
            None => return None,
        };
        (text.len() <= MAX_CORRECT_CALL).then_some(text)
    }

    /// Returns the schema that a call is checked against; without one, only an object is required.
    fn schema_of(&self, call: &Call) -> Option<&CompiledSchema> {
        match self.find(call.server.as_deref(), &call.tool) {
            Some((tool, place)) => compiled(place, tool)?.ok(),
            None if call.tool == ACCESS_RESOURCE => Some(self.resource.get_or_init(|| {
                let schema = json!({"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]});
                CompiledSchema::new(&schema).expect("the schema is constant and valid")
            })),
            None => None,
        }
    }

    fn find(&self, server: Option<&str>, tool: &str) -> Option<(&Tool, &SchemaCell)> {
        let found = self.catalog.find(server, tool).ok()?.tool;
        let place = self.catalog.tools().position(|tool| std::ptr::eq(tool, found))?;
        Some((found, &self.compiled[place]))
    }
}

/// Returns the tool's compiled schema, or the problem with it; `None` without a schema.
fn compiled<'a>(place: &'a SchemaCell, tool: &Tool) -> Option<Result<&'a CompiledSchema, &'a SchemaProblem>> {
    let schema = tool.input_schema.as_ref()?;
    let compiled = place.get_or_init(|| {
        CompiledSchema::new(schema).map_err(|OutputSchemaError { message, source }| SchemaProblem {
            server: tool.server.clone(),
            tool: tool.name.clone(),
            message,
            source,
        })
    });
    Some(compiled.as_ref())
}

fn qualified(server: Option<&str>, tool: &str) -> String {
    match server {
        Some(server) => format!("{server}.{tool}"),
        None => tool.to_owned(),
    }
}

#[cfg(test)]
mod tests;
