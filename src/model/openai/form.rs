//! In which form an endpoint takes the structure of an answer.
//!
//! | endpoint | known by | calls | an answer | tags where the model begins a call |
//! |---|---|---|---|---|
//! | llama.cpp | `owned_by: llamacpp` | `grammar`, else `json_schema` | `json_schema` | |
//! | vLLM | `owned_by: vllm` | `structural_tag`, else `structured_outputs`, else `json_schema` | `json_schema` | `structural_tag` |
//! | SGLang | `owned_by: sglang` | `structural_tag`, else `ebnf`, else `json_schema` | `json_schema` | `structural_tag` |
//! | DeepSeek | its host | | `json_object` | |
//! | OpenAI | its host | `json_schema` | `json_schema` | |
//! | others (LM Studio, Ollama, …) | | `json_schema` | `json_schema`, else `json_object` | |
//!
//! docs/models.md has the bodies and where they are written down. An unknown endpoint is
//! asked in OpenAI's form: what refuses it says so, and what ignores it answers as before.
//! A refusal costs no answer: the same request goes out in the next form, at last in none.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use serde_json::{Map, Value, json};

use super::server::ServerKind;
use crate::constrain::{Constrained, Constraint};
use crate::model::ModelError;

/// Constraints that one form was refused for, while others passed, at most.
const MAX_REMEMBERED: usize = 256;

/// A form in which a structure goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// GBNF, in llama.cpp's field.
    Grammar,
    /// The same in vLLM's.
    StructuredOutputs,
    /// The same in SGLang's.
    Ebnf,
    /// Tags as xgrammar has them since it can demand one.
    Tags,
    /// Tags as vLLM and SGLang took them first.
    Structures,
    JsonSchema,
    JsonObject,
}

/// What is known of the forms that an endpoint takes.
#[derive(Debug, Default)]
pub(super) struct Forms {
    /// Forms that a model took.
    took: HashSet<(String, Form)>,
    /// Forms that it refused and never took.
    refused: HashSet<(String, Form)>,
    /// Constraints for which it refused a form that it took for others.
    refused_once: HashSet<(String, Form, u64)>,
}

impl Forms {
    pub(super) fn is_refused(&self, model: &str, form: Form, constraint: &Constraint) -> bool {
        let model = model.to_owned();
        self.refused.contains(&(model.clone(), form))
            // The fingerprint of many tools takes its time.
            || !self.refused_once.is_empty() && self.refused_once.contains(&(model, form, fingerprint(constraint)))
    }

    pub(super) fn takes(&mut self, model: &str, form: Form) {
        self.refused.remove(&(model.to_owned(), form));
        self.took.insert((model.to_owned(), form));
    }

    /// Where the model took the form before, or the server is known to, this constraint was at fault.
    pub(super) fn refuses(&mut self, server: Option<ServerKind>, model: &str, form: Form, constraint: &Constraint) {
        // The others have models of which some take no form at all.
        let takes_its_forms = matches!(server, Some(ServerKind::LlamaCpp | ServerKind::Vllm | ServerKind::Sglang));
        if !takes_its_forms && !self.took.contains(&(model.to_owned(), form)) {
            self.refused.insert((model.to_owned(), form));
        } else if self.refused_once.len() < MAX_REMEMBERED {
            self.refused_once.insert((model.to_owned(), form, fingerprint(constraint)));
        }
    }
}

fn fingerprint(constraint: &Constraint) -> u64 {
    BuildHasherDefault::<DefaultHasher>::new().hash_one(format!("{constraint:?}"))
}

impl Form {
    /// Adds the form to a request's body.
    pub(super) fn insert(self, body: &mut Map<String, Value>, constraint: &Constraint) {
        let (schema, grammar) = (&constraint.schema, &constraint.grammar);
        let name = if constraint.of == Constrained::Answer { "answer" } else { "call" };
        let (field, value) = match self {
            Form::Grammar => ("grammar", json!(grammar)),
            Form::StructuredOutputs => ("structured_outputs", json!({"grammar": grammar})),
            Form::Ebnf => ("ebnf", json!(grammar)),
            Form::Tags => ("response_format", tags(constraint)),
            Form::Structures => ("response_format", structures(constraint)),
            Form::JsonSchema => {
                ("response_format", json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema}}))
            }
            Form::JsonObject => ("response_format", json!({"type": "json_object"})),
        };
        body.insert(field.to_owned(), value);
    }

    /// Whether the constraint has this form.
    pub(super) fn is_of(self, constraint: &Constraint) -> bool {
        match self {
            Form::Grammar | Form::StructuredOutputs | Form::Ebnf => constraint.grammar.is_some(),
            Form::Tags => constraint.tags.is_some(),
            // They cannot demand a tag.
            Form::Structures => constraint.tags.as_ref().is_some_and(|tags| !tags.at_least_one),
            Form::JsonSchema => constraint.schema.is_some(),
            Form::JsonObject => constraint.of == Constrained::Answer,
        }
    }
}

fn tags(constraint: &Constraint) -> Value {
    let Some(all) = &constraint.tags else { return Value::Null };
    let tag = |tag: &crate::constrain::StructuralTag| json!({"begin": tag.begin, "content": {"type": "json_schema", "json_schema": tag.schema}, "end": tag.end});
    json!({"type": "structural_tag", "format": {
        "type": "triggered_tags",
        "triggers": [all.trigger],
        "tags": all.tags.iter().map(tag).collect::<Vec<_>>(),
        "at_least_one": all.at_least_one,
        "stop_after_first": all.only_one,
    }})
}

fn structures(constraint: &Constraint) -> Value {
    let Some(all) = &constraint.tags else { return Value::Null };
    let tag = |tag: &crate::constrain::StructuralTag| json!({"begin": tag.begin, "schema": tag.schema, "end": tag.end});
    json!({
        "type": "structural_tag",
        "structures": all.tags.iter().map(tag).collect::<Vec<_>>(),
        "triggers": [all.trigger],
    })
}

impl ServerKind {
    /// Whether calls that have to have a structure get it there: whether it takes one in some
    /// form, as far as that is known.
    pub fn constrains_calls(self) -> bool {
        forms(Some(self)).iter().any(|form| *form != Form::JsonObject)
    }
}

/// The forms that a server takes, the best first: the syntax that the prompt teaches, then any.
pub(super) fn forms(server: Option<ServerKind>) -> &'static [Form] {
    match server {
        Some(ServerKind::LlamaCpp) => &[Form::Grammar, Form::JsonSchema],
        Some(ServerKind::Vllm) => &[Form::Tags, Form::Structures, Form::StructuredOutputs, Form::JsonSchema],
        Some(ServerKind::Sglang) => &[Form::Tags, Form::Structures, Form::Ebnf, Form::JsonSchema],
        Some(ServerKind::DeepSeek) => &[Form::JsonObject],
        Some(ServerKind::OpenAi) => &[Form::JsonSchema],
        Some(ServerKind::Ollama | ServerKind::LmStudio) | None => &[Form::JsonSchema, Form::JsonObject],
    }
}

/// Whether a structure may stand beside tools in one request. Elsewhere it is refused
/// (`grammar` by llama.cpp: "Cannot use custom grammar constraints with tools."), or
/// leaves no way to call.
pub(super) fn beside_tools(server: Option<ServerKind>) -> bool {
    server == Some(ServerKind::OpenAi)
}

/// Whether an error may be about the form of a structure, so that the same request may pass
/// in another: most endpoints answer HTTP 400 or 422, others fail in words about it.
pub(super) fn may_be_of_form(error: &ModelError) -> bool {
    match error {
        ModelError::Refused { status: 400 | 422, .. } => true,
        ModelError::Refused { status: 404 | 500 | 501, message, .. } | ModelError::BadAnswer { message, .. } => {
            let words = message.to_lowercase();
            let about = ["response_format", "json_schema", "schema", "grammar", "structured", "structural", "guided"];
            about.iter().any(|word| words.contains(word))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_was_taken_before_is_refused_for_one_constraint_only() {
        let answer = |name: &str| Constraint::answer(json!({"type": name}));
        let mut forms = Forms::default();
        forms.refuses(None, "m", Form::Grammar, &answer("object"));
        assert!(forms.is_refused("m", Form::Grammar, &answer("array")));
        assert!(!forms.is_refused("n", Form::Grammar, &answer("array")));
        forms.takes("m", Form::JsonSchema);
        forms.refuses(None, "m", Form::JsonSchema, &answer("object"));
        assert!(forms.is_refused("m", Form::JsonSchema, &answer("object")));
        assert!(!forms.is_refused("m", Form::JsonSchema, &answer("array")));
        // A server that is known to take it.
        forms.refuses(Some(ServerKind::LlamaCpp), "n", Form::Grammar, &answer("object"));
        assert!(!forms.is_refused("n", Form::Grammar, &answer("array")));
    }
}
