//! The cause of an error.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// The underlying error of another error, shared, so that the other error can be cloned and compared.
///
/// Its message and its source are those of the underlying error; [`get`](Cause::get) returns that error, for a
/// downcast. Two causes are equal if their messages are.
#[derive(Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// Creates a cause from an error or a text.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Cause(Arc::from(error.into()))
    }

    /// Returns the underlying error.
    pub fn get(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }

    /// Returns the messages of an error and its sources on one line, joined by `: `. A source whose message is already
    /// at the end of the line is omitted.
    pub fn chain(error: &dyn Error) -> String {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(e) = source {
            let more = e.to_string();
            if !text.ends_with(&more) {
                text = format!("{text}: {more}");
            }
            source = e.source();
        }
        text
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}
