//! Examples that a program keeps of tools that have none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::tools::{Tool, ToolExample};

type Find = dyn Fn(&Tool) -> Vec<ToolExample> + Send + Sync;

/// Finds examples of a tool that has none of its own, such as those that
/// [`make_example`](crate::agent::make_example) made. It is asked for each tool that a prompt shows,
/// so what it says should be at hand.
#[derive(Clone, Default)]
pub struct ExampleSource {
    find: Option<Arc<Find>>,
    changes: Arc<AtomicU64>,
}

impl ExampleSource {
    /// Finds them with this function.
    pub fn new(find: impl Fn(&Tool) -> Vec<ToolExample> + Send + Sync + 'static) -> Self {
        ExampleSource { find: Some(Arc::new(find)), changes: Arc::default() }
    }

    /// Counts with this how often what it finds has changed: whoever keeps a prompt writes it anew then.
    #[must_use]
    pub fn counting(self, changes: Arc<AtomicU64>) -> Self {
        ExampleSource { changes, ..self }
    }

    /// How often what it finds has changed.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// The examples of a tool: its own, else those that are found.
    pub(super) fn of(&self, tool: &Tool) -> Vec<ToolExample> {
        match &self.find {
            Some(find) if tool.examples.is_empty() => find(tool),
            _ => tool.examples.clone(),
        }
    }
}

/// Two are equal if they are clones of one, or both find nothing.
impl PartialEq for ExampleSource {
    fn eq(&self, other: &Self) -> bool {
        match (&self.find, &other.find) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

crate::message::opaque_debug!(ExampleSource, self => changes: self.changes);
