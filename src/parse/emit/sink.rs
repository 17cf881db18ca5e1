//! The sink that receives events.

use crate::event::Event;

/// A receiver of events. Dynamic, so that the parser is compiled once.
pub(crate) type Sink<'s> = dyn FnMut(Event<'_>) + 's;
