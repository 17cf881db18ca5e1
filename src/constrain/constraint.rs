//! A constraint in all its forms.

use serde_json::Value;

use super::calls::CallFrames;
use super::form::{Constrained, StructuralTags, Thinking};
use crate::dialect::Dialect;
#[cfg(feature = "agent")]
use crate::dialect::write_tool_call;
use crate::tools::{Catalog, ToolChoice};

/// Maximum number of calls of one message in a grammar, unless a lower one is set. A weak model whose answer is
/// constrained to calls does not stop by itself.
pub const MAX_CALLS: usize = 8;

/// GBNF grammar for text that does not begin with a tag.
#[cfg(feature = "agent")]
const PROSE: &str = "[^<\\x00-\\x20] [^\\x00]*";

/// GBNF grammar for a text in a code fence, which keeps a small model from explaining it.
#[cfg(feature = "agent")]
const FENCED: &str = "root ::= \"```\\n\" line+ \"```\"\nline ::= ([^`\\n] [^\\n]*)? \"\\n\"\n";

/// The constraint on an answer, in each form that endpoints accept.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Constraint {
    /// The part of the answer that is constrained.
    pub of: Constrained,
    /// JSON Schema of the whole answer. A call is written as in the dialect [`Json`](Dialect::Json).
    pub schema: Option<Value>,
    /// GBNF grammar of the whole answer, for llama.cpp (`grammars/README.md`).
    pub grammar: Option<String>,
    /// Structural tags, which constrain the text after an opening delimiter that the model writes.
    pub tags: Option<StructuralTags>,
    /// `true` if the request must fail at an endpoint that accepts no form of the constraint.
    pub required: bool,
    /// The only answer that the constraint allows, if there is just one. A client returns it without a request.
    pub only: Option<String>,
}

impl Constraint {
    /// Constrains the answer to a JSON value that this schema accepts. The schema is sent unchanged.
    pub fn answer(schema: Value) -> Self {
        Constraint { schema: Some(schema), ..Constraint::of(Constrained::Answer) }
    }

    /// Creates a constraint that has no form yet.
    fn of(of: Constrained) -> Self {
        Constraint { of, schema: None, grammar: None, tags: None, required: false, only: None }
    }

    /// Constrains the answer to text that does not begin with a tag, as calls in most dialects do.
    #[cfg(feature = "agent")]
    pub(crate) fn prose() -> Self {
        Constraint { grammar: Some(format!("root ::= {PROSE}\n")), ..Constraint::of(Constrained::Prose) }
    }

    /// Constrains the answer to a text in a code fence.
    #[cfg(feature = "agent")]
    pub(crate) fn fenced() -> Self {
        Constraint { grammar: Some(FENCED.to_owned()), ..Constraint::of(Constrained::Prose) }
    }

    /// Constrains the answer to the calls of this constraint, or to text that does not begin with a tag; `None` without
    /// a grammar.
    #[cfg(feature = "agent")]
    pub(crate) fn or_prose(&self) -> Option<Self> {
        let (root, rules) = self.grammar.as_deref()?.strip_prefix("root ::= ")?.split_once('\n')?;
        let grammar = Some(format!("root ::= {root} | {PROSE}\n{rules}"));
        Some(Constraint { grammar, ..Constraint::of(Constrained::BegunCalls) })
    }

    /// Constrains the answer to calls of the tools that `choice` allows, from one to `most` (at most [`MAX_CALLS`]), in
    /// the dialect that the prompt teaches. For a dialect that is not JSON (`tool_tag`), or is written with control
    /// tokens, the constraint is a schema of calls in the dialect `json`. `None` if no tool is allowed.
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
        let all = [dialect, Dialect::Json].map(|dialect| CallFrames::new(dialect, catalog, choice));
        Constraint::of_calls(dialect, all, thinking, most)
    }

    /// Constrains the answer to one of the calls that `narrowed` allows; `None` if it allows none.
    #[cfg(feature = "agent")]
    pub(crate) fn narrowed(
        dialect: Dialect,
        catalog: &Catalog,
        narrowed: &super::Narrowed,
        thinking: Thinking,
    ) -> Option<Self> {
        let calls = |dialect| CallFrames::of(dialect, catalog, &|tool| narrowed.arguments(tool));
        let all = [dialect, Dialect::Json].map(|dialect| calls(dialect).filter(|calls| !calls.is_empty()));
        let only = narrowed.only_call(catalog);
        let only = only.map(|(tool, arguments)| write_tool_call(dialect, catalog, tool, &arguments));
        Some(Constraint { only, ..Constraint::of_calls(dialect, all, thinking, 1)? })
    }

    /// Returns the constraint for calls in a dialect and in JSON, in each form that they have; `None` if they have
    /// none.
    fn of_calls(
        dialect: Dialect,
        [own, json]: [Option<CallFrames>; 2],
        thinking: Thinking,
        most: usize,
    ) -> Option<Self> {
        let most = most.clamp(1, MAX_CALLS);
        // Calls in this dialect are constrained by the schema.
        let own = own.filter(|_| dialect != Dialect::Json);
        let constraint = Constraint {
            schema: json.and_then(|calls| calls.schema()),
            grammar: own.as_ref().map(|calls| calls.grammar(thinking, most)),
            tags: own.as_ref().and_then(|calls| calls.tags(true, most)),
            ..Constraint::of(Constrained::Calls)
        };
        constraint.has_form().then_some(constraint)
    }

    /// Constrains calls in this dialect only once the model begins one; the model may also answer in prose. `None` for
    /// a dialect that is not JSON or is written with control tokens, or without tools.
    pub fn begun_calls(dialect: Dialect, catalog: &Catalog) -> Option<Self> {
        // Any JSON object in an answer may begin like such a call.
        let calls = CallFrames::new(dialect, catalog, &ToolChoice::Auto).filter(|_| dialect != Dialect::Json)?;
        let tags = Some(calls.tags(false, MAX_CALLS)?);
        Some(Constraint { tags, ..Constraint::of(Constrained::BegunCalls) })
    }

    /// Makes the constraint required: the request fails if the endpoint does not apply it.
    #[must_use]
    pub fn require(self) -> Self {
        Constraint { required: true, ..self }
    }

    /// Removes the forms whose output the parser would not read: the schema of calls needs [`Json`](Dialect::Json) in
    /// `read`, the dialects that are parsed; the other forms need the taught dialect there. `None` if no form is left.
    #[cfg(feature = "agent")]
    pub(crate) fn read_by(mut self, read: crate::dialect::DialectSet, taught: Dialect) -> Option<Self> {
        self.schema = self.schema.filter(|_| read.contains(Dialect::Json));
        self.grammar = self.grammar.filter(|_| read.contains(taught));
        self.tags = self.tags.filter(|_| read.contains(taught));
        self.only = self.only.filter(|_| read.contains(taught));
        self.has_form().then_some(self)
    }

    /// Returns the constraint with only its grammar, in which calls begin as the prompt teaches them; `None` if it has
    /// no grammar.
    #[cfg(feature = "agent")]
    pub(crate) fn as_grammar(&self) -> Option<Self> {
        let grammar = Some(self.grammar.clone()?);
        Some(Constraint { grammar, ..Constraint::of(self.of) })
    }

    fn has_form(&self) -> bool {
        self.schema.is_some() || self.grammar.is_some() || self.tags.is_some()
    }
}
