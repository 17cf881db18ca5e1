//! The forms in which an endpoint accepts the structure of an answer.
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
//! docs/models.md has the bodies and their sources. An unknown endpoint is tried with OpenAI's form: one that does not
//! support it refuses it or ignores it. A refusal costs no answer: the same request is sent in the next form, at last
//! in none.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use serde_json::{Map, Value, json};

use super::server::ServerKind;
use crate::constrain::{Constrained, Constraint};
use crate::model::ModelError;

/// Maximum number of remembered constraints for which a form was refused that others passed.
const MAX_REMEMBERED: usize = 256;

/// A form of request field in which a constraint on the answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// A GBNF grammar in llama.cpp's field `grammar`.
    Grammar,
    /// A GBNF grammar in vLLM's field `structured_outputs`.
    StructuredOutputs,
    /// A GBNF grammar in SGLang's field `ebnf`.
    Ebnf,
    /// A structural tag in the newer form of xgrammar, which can require a call.
    Tags,
    /// A structural tag in the older form of vLLM and SGLang, which cannot require a call.
    Structures,
    JsonSchema,
    JsonObject,
}

/// The forms of constraints that an endpoint is known to accept or refuse, by model.
#[derive(Debug, Default)]
pub(super) struct Forms {
    /// Pairs of a model and a form that it accepted.
    took: HashSet<(String, Form)>,
    /// Pairs of a model and a form that it refused and never accepted.
    refused: HashSet<(String, Form)>,
    /// Refusals of a form that the model accepted for other constraints: model, form and hash of the constraint.
    refused_once: HashSet<(String, Form, u64)>,
}

impl Forms {
    pub(super) fn is_refused(&self, model: &str, form: Form, constraint: &Constraint) -> bool {
        let model = model.to_owned();
        self.refused.contains(&(model.clone(), form))
            // Checked first, because the fingerprint of many tools is slow to compute.
            || !self.refused_once.is_empty() && self.refused_once.contains(&(model, form, fingerprint(constraint)))
    }

    pub(super) fn takes(&mut self, model: &str, form: Form) {
        self.refused.remove(&(model.to_owned(), form));
        self.took.insert((model.to_owned(), form));
    }

    /// Records that the model refused the form. If the model accepted the form before, or the server is known to
    /// support it, only this constraint is recorded as refused.
    pub(super) fn refuses(&mut self, server: Option<ServerKind>, model: &str, form: Form, constraint: &Constraint) {
        // Other endpoints have models that may support no form at all.
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
    /// Adds the constraint to a request's body in this form.
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

    /// Returns `true` if the constraint can be sent in this form.
    pub(super) fn is_of(self, constraint: &Constraint) -> bool {
        match self {
            Form::Grammar | Form::StructuredOutputs | Form::Ebnf => constraint.grammar.is_some(),
            Form::Tags => constraint.tags.is_some(),
            // The older form cannot require a tag.
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
    /// Returns `true` if the server is known to support a constraint to calls in some form.
    pub fn constrains_calls(self) -> bool {
        forms(Some(self)).iter().any(|form| *form != Form::JsonObject)
    }
}

/// Returns the forms that a server accepts, the best first: those that allow the syntax that the prompt teaches, then
/// any other.
pub(super) fn forms(server: Option<ServerKind>) -> &'static [Form] {
    match server {
        Some(ServerKind::LlamaCpp) => &[Form::Grammar, Form::JsonSchema],
        Some(ServerKind::Vllm) => &[Form::Tags, Form::Structures, Form::StructuredOutputs, Form::JsonSchema],
        Some(ServerKind::Sglang) => &[Form::Tags, Form::Structures, Form::Ebnf, Form::JsonSchema],
        Some(ServerKind::DeepSeek) => &[Form::JsonObject],
        Some(ServerKind::OpenAi) => &[Form::JsonSchema],
        // One that refuses a schema may still promise JSON.
        Some(ServerKind::Ollama | ServerKind::LmStudio) | None => &[Form::JsonSchema, Form::JsonObject],
    }
}

/// Returns `true` if a request may have both a constraint and native tools. Other servers refuse that (`grammar` by
/// llama.cpp: "Cannot use custom grammar constraints with tools."), or the constraint prevents calls.
pub(super) fn beside_tools(server: Option<ServerKind>) -> bool {
    server == Some(ServerKind::OpenAi)
}

/// Returns `true` if an error may be about the form of the constraint, so that the same request may succeed in another
/// form: HTTP 400 and 422, and other statuses with a message about it.
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
