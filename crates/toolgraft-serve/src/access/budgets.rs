//! The budgets of a server: upper bounds for what all its requests take together.

use toolgraft::budget::{Budget, MAX_PIXELS_AT_ONCE};
use toolgraft_protocol::PREPARED_BYTES;

/// Makes the budgets from a table; a row has the name, the setter, the default amount and the unit.
macro_rules! budgets {
    ($($(#[$about:meta])+ $name:ident, $setter:ident: $default:expr, $unit:literal;)+) => {
        /// The budgets of all requests of a server together. Clones share the same budgets.
        #[derive(Debug, Clone)]
        pub struct Budgets { $(pub(crate) $name: Budget,)+ }

        impl Default for Budgets {
            fn default() -> Self {
                Budgets { $($name: Budget::new(stringify!($name), $default),)+ }
            }
        }

        impl Budgets {
            /// Returns each budget of the server with its unit, in the order of the table.
            pub(crate) fn rows(&self) -> Vec<(&Budget, &'static str)> {
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
    /// Sets how many connections of clients are open at once; a further one is answered with 503
    /// and closed.
    max_connections, with_max_connections: 4096, "connections";

    /// Sets how many requests are answered at once, each of which has at most one open answer of
    /// the endpoint. A further one is answered with 503.
    max_requests, with_max_requests: 2048, "requests";

    /// Sets how many bytes the bodies of all requests may have together; a body counts from its first byte to the end
    /// of the answer. A request that exceeds the rest is answered with 503, and one whose body alone is larger than
    /// one client's share with 413.
    max_body_bytes, with_max_body_bytes: 256 << 20, "bytes";

    /// Sets how many bytes of memory prepared lists of tools may take, those of running requests and the cached ones
    /// together. At most an eighth is cached for later requests. A request that exceeds the rest is answered with
    /// 503, and one whose list alone is larger than one client's share with 413.
    max_prepared_bytes, with_max_prepared_bytes: PREPARED_BYTES, "bytes";

    /// Sets how many large bodies are read and calls with large schemas checked at once; by default
    /// as many as there are processors. Others wait.
    max_workers, with_max_workers: std::thread::available_parallelism().map_or(1, usize::from), "threads";

    /// Sets the pixels of all pictures of the toolbox that are decoded at once; others wait. The
    /// program passes this budget to its hub ([`max_pixels`](Self::max_pixels)).
    max_pixels, with_max_pixels: MAX_PIXELS_AT_ONCE, "pixels";
}

impl Budgets {
    /// Returns the budget of pixels, for a toolbox that decodes pictures (`HubBuilder::pixels` of `toolgraft-mcp`).
    pub fn max_pixels(&self) -> &Budget {
        &self.max_pixels
    }
}
