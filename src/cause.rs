//! What stands behind an error.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// The error behind an error, shared, so that an error can be cloned and compared.
///
/// It reads as the error itself does and has the same source; [`get`](Cause::get)
/// gives it out, to be downcast. Two are equal if they read the same.
#[derive(Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// The cause that is this error, or this text.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Cause(Arc::from(error.into()))
    }

    /// The error itself.
    pub fn get(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }

    /// An error and its sources in one line. A source whose words end the line already is left out.
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
