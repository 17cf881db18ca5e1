//! The routes, and how each is answered.

mod answer;
mod drive;
mod http;
mod keep_open;
mod listen;
mod missing_routes;
mod ollama;
mod page;
mod ready;
mod search;
mod shared;

pub use answer::{LEFT_OUT_HEADER, ROUNDS_HEADER, USAGE_HEADER};
pub use http::router;
pub use listen::{ServeError, Server};
pub use search::SearchTool;
