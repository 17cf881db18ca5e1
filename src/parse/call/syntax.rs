//! Arguments as one object in a syntax that is not JSON.

use std::fmt;

use super::out::CallOut;
use crate::json::window::{Match, No, Window};
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};

/// An object in a syntax that is not JSON, in an open call.
pub(crate) trait ObjectSyntax: fmt::Debug + Send + Sync {
    /// Reads on from the cursor in an object that begins at `start`; yields where it ends, once that is known.
    ///
    /// # Errors
    /// The text there is no such object.
    fn next(
        &mut self,
        start: u64,
        cursor: &mut u64,
        window: &Window<'_>,
        out: &mut CallOut<'_, '_>,
    ) -> Result<Option<u64>, Fault>;

    /// Returns what closes an object that was cut off.
    fn missing(&self) -> &'static str;

    /// Matches `text`, after the object and without its closer, if the object continues there.
    fn goes_on(&self, _text: &str, _more: bool) -> Match<()> {
        Err(No)
    }

    /// Reads the whole object into the call.
    fn read(&self, text: &str, call: &mut UnresolvedCall);
}
