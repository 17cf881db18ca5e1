//! Several toolboxes as one.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::{Invocation, Toolbox};
use crate::catalog::Catalog;
use crate::outcome::Outcome;
use crate::tool::ACCESS_RESOURCE;

/// Several toolboxes as one: their catalogs in order, each call to the toolbox
/// that has its server and tool.
///
/// Server names should differ between the toolboxes: of two servers of one name
/// the first that has the tool is called.
#[derive(Default, Clone)]
pub struct Toolboxes {
    boxes: Vec<Arc<dyn Toolbox>>,
}

impl Toolboxes {
    /// No toolbox yet.
    pub fn new() -> Self {
        Toolboxes::default()
    }

    /// Adds a toolbox after the others.
    #[must_use]
    pub fn with(mut self, toolbox: impl Toolbox + 'static) -> Self {
        self.boxes.push(Arc::new(toolbox));
        self
    }

    /// Adds a shared toolbox after the others.
    #[must_use]
    pub fn with_shared(mut self, toolbox: Arc<dyn Toolbox>) -> Self {
        self.boxes.push(toolbox);
        self
    }

    /// The toolbox that a call is for.
    fn of(&self, invocation: &Invocation) -> Result<&dyn Toolbox, String> {
        if invocation.tool == ACCESS_RESOURCE && !self.catalog().knows(ACCESS_RESOURCE) {
            return self.with_resources(invocation);
        }
        let catalog = self.catalog();
        let found = catalog.find(invocation.server.as_deref(), &invocation.tool).map_err(|e| e.to_string())?;
        let server = found.tool.server.as_deref();
        let has_it = |b: &&Arc<dyn Toolbox>| {
            b.catalog().tools().any(|t| t.server.as_deref() == server && t.name == found.tool.name)
        };
        let toolbox = self.boxes.iter().find(has_it);
        // Only a catalog that changed since the look-up gets here.
        toolbox.map(Arc::as_ref).ok_or_else(|| format!("the tool {:?} is no longer there", invocation.tool))
    }

    fn with_resources(&self, invocation: &Invocation) -> Result<&dyn Toolbox, String> {
        let catalog = self.catalog();
        let uri = invocation.arguments.get("uri").and_then(|uri| uri.as_str()).unwrap_or_default();
        let server = catalog.resource_server(invocation.server.as_deref(), uri).map(|s| s.name.as_deref());
        let has_it = |b: &&Arc<dyn Toolbox>| {
            server.is_some_and(|name| b.catalog().servers().iter().any(|s| s.name.as_deref() == name))
        };
        let toolbox = self.boxes.iter().find(has_it);
        toolbox.map(Arc::as_ref).ok_or_else(|| match &invocation.server {
            Some(server) => format!("no server {server:?} with resources"),
            None => "a resource needs its server: name it".to_owned(),
        })
    }
}

impl Toolbox for Toolboxes {
    fn catalog(&self) -> Arc<Catalog> {
        match self.boxes.as_slice() {
            [only] => only.catalog(),
            boxes => {
                let catalogs: Vec<_> = boxes.iter().map(|b| b.catalog()).collect();
                Arc::new(Catalog::new(catalogs.iter().flat_map(|c| c.servers().iter().cloned())))
            }
        }
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Outcome> {
        match self.of(&invocation) {
            Ok(toolbox) => toolbox.call(invocation),
            Err(message) => async { Outcome::error(message) }.boxed(),
        }
    }
}

impl std::fmt::Debug for Toolboxes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolboxes").field("boxes", &self.boxes.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Status;
    use crate::route::Functions;
    use crate::tool::Tool;

    fn says(server: &str, tool: &str) -> Functions {
        let answer = format!("{server} ran {tool}");
        Functions::new(server).with(Tool::new(tool), move |_| {
            let answer = answer.clone();
            async move { Ok::<_, String>(answer) }
        })
    }

    #[tokio::test]
    async fn a_call_goes_to_the_toolbox_of_its_server() {
        let both = Toolboxes::new().with(says("a", "search")).with(says("b", "search")).with(says("c", "find"));
        let names: Vec<_> = both.catalog().servers().iter().map(|s| s.name.clone().unwrap()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(both.call(Invocation::new("search").with_server("b")).await.text, "b ran search");
        assert_eq!(both.call(Invocation::new("find")).await.text, "c ran find");
    }

    #[tokio::test]
    async fn an_ambiguous_or_unknown_call_is_a_tool_error() {
        let both = Toolboxes::new().with(says("a", "search")).with(says("b", "search"));
        let outcome = both.call(Invocation::new("search")).await;
        assert_eq!(outcome.status, Status::ToolError);
        assert!(outcome.text.contains("a.search, b.search"), "{}", outcome.text);
        let outcome = both.call(Invocation::new(ACCESS_RESOURCE)).await;
        assert!(outcome.text.contains("needs its server"), "{}", outcome.text);
    }
}
