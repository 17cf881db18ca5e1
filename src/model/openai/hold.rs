//! Selects the forms of a structure to try, and records which were accepted.

use super::EndpointInner;
use super::form::{self, Form};
use super::probe::PROBE_TIMEOUT;
use super::server::ServerKind;
use crate::constrain::Constraint;
use crate::model::{ModelError, Request};
use crate::secrets::shown_url;

impl EndpointInner {
    /// Returns the forms of constraint to try for a request, the best first; empty if it has no constraint.
    ///
    /// # Errors
    /// [`ModelError::Unconstrained`] if the constraint is required and the endpoint supports no form of it.
    pub(super) async fn forms(&self, model: &str, request: &Request) -> Result<Vec<Form>, ModelError> {
        let Some(constraint) = &request.constraint else { return Ok(Vec::new()) };
        let server = self.server().await;
        let with_tools = !request.tools.is_empty() && !form::beside_tools(server);
        let learned = self.learned();
        let left = |form: &Form| form.is_of(constraint) && !learned.forms.is_refused(model, *form, constraint);
        let forms: Vec<Form> = form::forms(server).iter().copied().filter(|form| !with_tools && left(form)).collect();
        if forms.is_empty() && constraint.required {
            let message = match with_tools {
                true => "the request has tools, and the endpoint accepts no structure with them",
                false => "the endpoint accepts no known form of the structure",
            };
            return Err(self.unconstrained(message));
        }
        Ok(forms)
    }

    pub(super) fn unconstrained(&self, message: &str) -> ModelError {
        ModelError::Unconstrained { url: shown_url(self.chat.as_str()), message: message.to_owned() }
    }

    /// Returns the server that runs the models, `None` if it is unknown. If nothing is known about it yet, it requests
    /// the list of models, once, and again if there was no answer.
    async fn server(&self) -> Option<ServerKind> {
        if let Some(known) = self.known_server() {
            return Some(known);
        }
        let _ = tokio::time::timeout(PROBE_TIMEOUT, self.listed()).await;
        self.known_server()
    }

    /// Returns the server that runs the models if its host or an earlier response identifies it, else `None`.
    pub(super) fn known_server(&self) -> Option<ServerKind> {
        ServerKind::of_host(&self.chat).or_else(|| {
            let learned = self.learned();
            let mut said = learned.info.values().chain(learned.listed.iter().flatten());
            said.find_map(|info| info.server)
        })
    }

    /// Records which forms of the constraint a model refused, and which one it accepted (`took`).
    pub(super) fn learn_forms(&self, model: &str, constraint: &Constraint, refused: &[Form], took: Option<Form>) {
        let server = self.known_server();
        let mut learned = self.learned();
        for form in refused {
            learned.forms.refuses(server, model, *form, constraint);
        }
        if let Some(form) = took {
            learned.forms.takes(model, form);
        }
    }
}
