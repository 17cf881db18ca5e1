//! Values that a server proposes for an argument that the user types (`completion/complete`).

use std::collections::HashMap;

use rmcp::model::{ArgumentInfo, CompleteRequest, CompleteRequestParams, CompletionContext, Reference};
use serde_json::Value;

use super::connection::Connection;
use super::request::RequestError;

impl Connection {
    /// Returns proposed values for an argument of a prompt or of a template, in the server's order.
    /// `begun` is the text typed so far, `given` has the other arguments. The list is empty if the
    /// server does not propose values.
    pub(crate) async fn complete(
        &self,
        of: Reference,
        (name, begun): (&str, &str),
        given: HashMap<String, String>,
    ) -> Result<Vec<String>, RequestError> {
        let proposes = self.peer.peer_info().is_some_and(|info| info.capabilities.completions.is_some());
        if !proposes {
            return Ok(Vec::new());
        }
        let params = CompleteRequestParams::new(of, ArgumentInfo::new(name, begun));
        let params = params.with_context(CompletionContext::with_arguments(given));
        let answer = self.request(CompleteRequest::new(params).into(), self.limits.call).await?;
        let result = answer.value().map_err(RequestError::Broken)?;
        let values = result.pointer("/completion/values").and_then(Value::as_array);
        let values = values.ok_or_else(|| RequestError::Broken("the answer has no \"values\"".to_owned()))?;
        Ok(values.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }
}
