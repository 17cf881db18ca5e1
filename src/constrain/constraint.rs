//! A constraint in all its forms.

use serde_json::Value;

use super::calls::Calls;
use super::form::{Constrained, StructuralTags, Thinking};
use crate::dialect::Dialect;
use crate::tools::{Catalog, ToolChoice};

/// Most calls of one message that a grammar takes, unless fewer may be made. A weak model that
/// is held to calls finds no end by itself.
pub const MAX_CALLS: usize = 8;

/// Text that does not begin with a tag, in GBNF.
#[cfg(feature = "agent")]
const PROSE: &str = "[^<\\x00-\\x20] [^\\x00]*";

/// The structure of an answer, in each form in which endpoints take it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Constraint {
    /// What is to have this structure.
    pub of: Constrained,
    /// JSON Schema of the whole answer. A call is one as the dialect
    /// [`Json`](Dialect::Json) has it.
    pub schema: Option<Value>,
    /// GBNF of the whole answer, as llama.cpp takes it (`grammars/README.md`).
    pub grammar: Option<String>,
    /// Tags: they bind what follows an opener that the model writes.
    pub tags: Option<StructuralTags>,
    /// Whether the request must not be sent where the endpoint takes no form.
    pub required: bool,
}

impl Constraint {
    /// The answer is a JSON value that this schema accepts. The schema goes out as it is.
    pub fn answer(schema: Value) -> Self {
        Constraint { of: Constrained::Answer, schema: Some(schema), grammar: None, tags: None, required: false }
    }

    /// The answer is text that does not begin with a tag, as calls in most dialects do.
    #[cfg(feature = "agent")]
    pub(crate) fn prose() -> Self {
        let grammar = Some(format!("root ::= {PROSE}\n"));
        Constraint { of: Constrained::Prose, schema: None, grammar, tags: None, required: false }
    }

    /// The same calls where the model begins one, or text that does not begin with a tag; `None` without a grammar.
    #[cfg(feature = "agent")]
    pub(crate) fn or_prose(&self) -> Option<Self> {
        let (root, rules) = self.grammar.as_deref()?.strip_prefix("root ::= ")?.split_once('\n')?;
        let grammar = Some(format!("root ::= {root} | {PROSE}\n{rules}"));
        Some(Constraint { of: Constrained::BegunCalls, schema: None, grammar, tags: None, required: false })
    }

    /// The answer is one or several calls of the tools that `choice` admits, up to `most` and
    /// up to [`MAX_CALLS`], in the dialect that the prompt teaches. A dialect that is no
    /// JSON (`tool_tag`), or is written with control tokens, has the forms of `json` alone. `None` where no tool is admitted.
    ///
    /// ```
    /// use toolgraft::constrain::{Constraint, Thinking};
    /// use toolgraft::tools::ToolChoice;
    /// use toolgraft::{Catalog, Dialect, Tool};
    ///
    /// let schema = serde_json::json!({"properties": {"city": {"type": "string"}}, "required": ["city"]});
    /// let catalog = Catalog::from_tools([Tool::new("weather").with_schema(schema)]);
    /// let calls = Constraint::calls(Dialect::TypeMarker, &catalog, &ToolChoice::Required, Thinking::Off, 1);
    /// let grammar = calls.and_then(|calls| calls.grammar).unwrap();
    /// assert!(grammar.starts_with(r#"root ::= "TYPE: MCP\n" r"#));
    /// assert!(grammar.contains(r#""{\"tool_name\": \"weather\", \"parameters\": " r0 "}""#));
    /// ```
    pub fn calls(
        dialect: Dialect,
        catalog: &Catalog,
        choice: &ToolChoice,
        thinking: Thinking,
        most: usize,
    ) -> Option<Self> {
        let all = [dialect, Dialect::Json].map(|dialect| Calls::new(dialect, catalog, choice));
        Constraint::of_calls(dialect, all, thinking, most)
    }

    /// The answer is one call of those that `narrowed` admits.
    #[cfg(feature = "agent")]
    pub(crate) fn narrowed(
        dialect: Dialect,
        catalog: &Catalog,
        narrowed: &super::Narrowed,
        thinking: Thinking,
    ) -> Option<Self> {
        let calls = |dialect| Calls::of(dialect, catalog, &|tool| narrowed.arguments(tool));
        let all = [dialect, Dialect::Json].map(|dialect| calls(dialect).filter(|calls| !calls.is_empty()));
        Constraint::of_calls(dialect, all, thinking, 1)
    }

    /// Calls in a dialect and in JSON, in each form.
    fn of_calls(dialect: Dialect, [own, json]: [Option<Calls>; 2], thinking: Thinking, most: usize) -> Option<Self> {
        let most = most.clamp(1, MAX_CALLS);
        let own = own.filter(|_| dialect != Dialect::Json);
        let constraint = Constraint {
            of: Constrained::Calls,
            schema: json.and_then(|calls| calls.schema()),
            grammar: own.as_ref().map(|calls| calls.grammar(thinking, most)),
            tags: own.as_ref().and_then(|calls| calls.tags(true, most)),
            required: false,
        };
        constraint.has_form().then_some(constraint)
    }

    /// Calls in this dialect have their structure where the model begins one; it may as well
    /// answer in prose. `None` for a dialect that is no JSON or is written with control tokens, or without tools.
    pub fn begun_calls(dialect: Dialect, catalog: &Catalog) -> Option<Self> {
        let calls = Calls::new(dialect, catalog, &ToolChoice::Auto).filter(|_| dialect != Dialect::Json)?;
        let tags = Some(calls.tags(false, MAX_CALLS)?);
        Some(Constraint { of: Constrained::BegunCalls, schema: None, grammar: None, tags, required: false })
    }

    /// Demands that the endpoint holds the answer to it.
    #[must_use]
    pub fn require(self) -> Self {
        Constraint { required: true, ..self }
    }

    /// Without the forms that nobody reads: a schema of calls needs the dialect
    /// [`Json`](Dialect::Json) among those that are read, the others the taught one.
    #[cfg(feature = "agent")]
    pub(crate) fn read_by(mut self, read: crate::dialect::DialectSet, taught: Dialect) -> Option<Self> {
        self.schema = self.schema.filter(|_| read.contains(Dialect::Json));
        self.grammar = self.grammar.filter(|_| read.contains(taught));
        self.tags = self.tags.filter(|_| read.contains(taught));
        self.has_form().then_some(self)
    }

    /// The same in the form of a grammar alone, in which calls begin as the prompt teaches them; `None`
    /// where it has none.
    #[cfg(feature = "agent")]
    pub(crate) fn as_grammar(&self) -> Option<Self> {
        let grammar = Some(self.grammar.clone()?);
        Some(Constraint { of: self.of, schema: None, grammar, tags: None, required: false })
    }

    fn has_form(&self) -> bool {
        self.schema.is_some() || self.grammar.is_some() || self.tags.is_some()
    }
}
