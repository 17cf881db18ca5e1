//! What all requests of a server may take together: the table of its budgets.

use std::time::Duration;

use super::fault::Fault;
use toolgraft::budget::{Budget, Exhausted, MAX_PIXELS_AT_ONCE};

/// The time after which a client may try again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Makes the table of its rows: name, amount by default, unit.
macro_rules! budgets {
    ($($(#[$about:meta])+ $name:ident, $setter:ident: $default:expr, $unit:literal;)+) => {
        /// What all requests of a server may take together. A clone is the same budgets.
        #[derive(Debug, Clone)]
        pub struct Budgets { $(pub(super) $name: Budget,)+ }

        impl Default for Budgets {
            fn default() -> Self {
                Budgets { $($name: Budget::new(stringify!($name), $default),)+ }
            }
        }

        impl Budgets {
            /// Returns each budget with its unit, in the order of the table.
            pub(super) fn rows(&self) -> Vec<(&Budget, &'static str)> {
                vec![$((&self.$name, $unit),)+]
            }

            $(
                $(#[$about])+
                #[must_use]
                pub fn $setter(mut self, amount: usize) -> Self {
                    self.$name = Budget::new(stringify!($name), amount);
                    self
                }
            )+
        }
    };
}

budgets! {
    /// Sets how many connections of clients are open at once; a further one is answered with 503 and closed.
    max_connections, with_max_connections: 4096, "connections";

    /// Sets how many requests are answered at once, each of which waits for at most one answer of the endpoint. A
    /// further one is answered with 503.
    max_requests, with_max_requests: 2048, "requests";

    /// Sets the bytes that the bodies of all these requests may have together, from the first byte to the answer's
    /// end. Beyond it a request is answered with 503, and with 413 where its body alone is more than one client gets.
    max_body_bytes, with_max_body_bytes: 256 << 20, "bytes";

    /// Sets the bytes that lists of tools may take once they are prepared, those of requests and those that are kept.
    /// At most an eighth is kept for later requests. Beyond it a request is answered with 503, and with 413 where its
    /// list alone is more.
    max_prepared_bytes, with_max_prepared_bytes: 256 << 20, "bytes";

    /// Sets how many large bodies are read and calls of large schemas checked at once; by default as many as there are
    /// processors. Others wait.
    max_workers, with_max_workers: std::thread::available_parallelism().map_or(1, usize::from), "threads";

    /// Sets the pixels of all pictures of the toolbox that are decoded at once; others wait. A program gives its hub
    /// this budget ([`max_pixels`](Self::max_pixels)).
    max_pixels, with_max_pixels: MAX_PIXELS_AT_ONCE, "pixels";
}

impl Budgets {
    /// Returns the budget of pixels, for a toolbox that decodes pictures (`HubBuilder::pixels` of `toolgraft-mcp`).
    pub fn max_pixels(&self) -> &Budget {
        &self.max_pixels
    }
}

impl From<Exhausted> for Fault {
    fn from(exhausted: Exhausted) -> Self {
        let (budget, message) = (exhausted.budget(), exhausted.to_string());
        match exhausted {
            Exhausted::TooLarge { .. } => Fault::door(413, budget, message),
            _ => Fault {
                retry_after: Some(RETRY_AFTER),
                ..Fault::upstream(503, format!("{message}: try again shortly")).with_code(budget)
            },
        }
    }
}
