//! Which forms of a structure are tried, and what is learned of them.

use super::Inner;
use super::form::{self, Form};
use super::probe::PROBE_TIMEOUT;
use super::server::ServerKind;
use crate::constrain::Constraint;
use crate::model::{ModelError, Request};
use crate::secrets::shown_url;

impl Inner {
    /// The forms to try for a request, the best first; none where nothing is to be held.
    ///
    /// # Errors
    /// [`ModelError::Unconstrained`] where one is required and the endpoint takes none.
    pub(super) async fn forms(&self, model: &str, request: &Request) -> Result<Vec<Form>, ModelError> {
        let Some(constraint) = &request.constraint else { return Ok(Vec::new()) };
        let server = self.server().await;
        let with_tools = !request.tools.is_empty() && !form::beside_tools(server);
        let learned = self.learned();
        let left = |form: &Form| form.is_of(constraint) && !learned.forms.is_refused(model, *form, constraint);
        let forms: Vec<Form> = form::forms(server).iter().copied().filter(|form| !with_tools && left(form)).collect();
        if forms.is_empty() && constraint.required {
            let message = match with_tools {
                true => "the request carries tools, and the endpoint takes no structure beside them",
                false => "the endpoint takes the structure in no form that is known",
            };
            return Err(self.unconstrained(message));
        }
        Ok(forms)
    }

    pub(super) fn unconstrained(&self, message: &str) -> ModelError {
        ModelError::Unconstrained { url: shown_url(self.chat.as_str()), message: message.to_owned() }
    }

    /// What serves the models. Only where nothing was said of it yet the list of models is asked
    /// for, once, but again where nobody answered.
    async fn server(&self) -> Option<ServerKind> {
        if let Some(known) = self.known_server() {
            return Some(known);
        }
        let _ = tokio::time::timeout(PROBE_TIMEOUT, self.listed()).await;
        self.known_server()
    }

    /// What serves the models, as far as it is known: by the host, or as it said itself.
    pub(super) fn known_server(&self) -> Option<ServerKind> {
        ServerKind::of_host(&self.chat).or_else(|| {
            let learned = self.learned();
            let mut said = learned.info.values().chain(learned.listed.iter().flatten());
            said.find_map(|info| info.server)
        })
    }

    /// Keeps what became of the forms of a request that was answered: those before the last
    /// were refused.
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
