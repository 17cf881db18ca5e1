//! Combines several toolboxes into one.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;

use super::{Invocation, Toolbox};
use crate::outcome::Outcome;
use crate::tools::{ACCESS_RESOURCE, Catalog};

/// Several toolboxes combined into one, with their catalogs in order. A call goes to the toolbox that has its server
/// and tool.
///
/// Server names should differ between the toolboxes: of two servers with one name, the first that has the tool is
/// called.
#[derive(Default, Clone)]
pub struct Toolboxes {
    boxes: Vec<Arc<dyn Toolbox>>,
    /// Joined catalog that was returned last, and the toolboxes' catalogs that it was made of. The agent makes prompt
    /// and validator anew for each new catalog, so the same one is returned while these catalogs are the same.
    joined: Arc<Mutex<Option<JoinedCatalog>>>,
}

struct JoinedCatalog {
    parts: Vec<Arc<Catalog>>,
    whole: Arc<Catalog>,
}

impl JoinedCatalog {
    fn of(parts: Vec<Arc<Catalog>>) -> Self {
        let whole = Arc::new(Catalog::new(parts.iter().flat_map(|part| part.servers().iter().cloned())));
        JoinedCatalog { parts, whole }
    }

    fn is_of(&self, parts: &[Arc<Catalog>]) -> bool {
        self.parts.len() == parts.len() && self.parts.iter().zip(parts).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

impl Toolboxes {
    /// Creates an empty combination of toolboxes.
    pub fn new() -> Self {
        Toolboxes::default()
    }

    /// Adds a toolbox after the others; to share a toolbox, pass it in an `Arc`.
    #[must_use]
    pub fn with(mut self, toolbox: impl Toolbox + 'static) -> Self {
        self.boxes.push(Arc::new(toolbox));
        self
    }

    /// Returns the toolbox that has the tool or resource of a call; an error message if there is none.
    fn of(&self, invocation: &Invocation) -> Result<&dyn Toolbox, String> {
        // A tool with this name counts before the built-in one.
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
        // Only a catalog that has changed since the look-up leads here.
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
                let parts: Vec<_> = boxes.iter().map(|b| b.catalog()).collect();
                let mut joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
                match &*joined {
                    Some(known) if known.is_of(&parts) => known.whole.clone(),
                    _ => joined.insert(JoinedCatalog::of(parts)).whole.clone(),
                }
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

crate::message::opaque_debug!(Toolboxes, self => boxes: self.boxes.len());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Status;
    use crate::route::Functions;
    use crate::tools::Tool;

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

    #[test]
    fn the_catalog_is_the_same_until_one_of_its_parts_changes() {
        struct Changing(Mutex<Arc<Catalog>>);
        impl Toolbox for Changing {
            fn catalog(&self) -> Arc<Catalog> {
                self.0.lock().unwrap().clone()
            }
            fn call(&self, _: Invocation) -> BoxFuture<'_, Outcome> {
                async { Outcome::result("") }.boxed()
            }
        }
        let changing = Arc::new(Changing(Mutex::default()));
        let both = Toolboxes::new().with(says("a", "search")).with(changing.clone());
        let first = both.catalog();
        assert!(Arc::ptr_eq(&first, &both.catalog()) && Arc::ptr_eq(&first, &both.clone().catalog()));
        *changing.0.lock().unwrap() = Arc::new(Catalog::from_tools([Tool::new("new")]));
        let second = both.catalog();
        assert!(second.knows("new") && !first.knows("new"));
        assert!(Arc::ptr_eq(&second, &both.catalog()));
        let three = both.clone().with(says("c", "find")).catalog();
        assert!(three.knows("find") && !both.catalog().knows("find"));
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
