//! Where events go.

use crate::event::Event;

/// What takes events. Dynamic, so that the parser is compiled once.
pub(crate) type Sink<'s> = dyn FnMut(Event<'_>) + 's;
