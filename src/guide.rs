//! The guides, as pages.
//!
//! They are the files below `docs/` of the repository; the programs in them are
//! compiled and run by the tests.

// A guide links to `agent.md`, so that the link works when the file is read by itself. Here the same labels are defined
// before the guide, so they lead to the pages of this documentation.

/// Guide to running a model with tools (`docs/agent.md`).
///
/// [embedding.md]: https://docs.rs/toolgraft-mcp/latest/toolgraft_mcp/guide/embedding/index.html
/// [events.md]: crate::guide::events
/// [models.md]: crate::guide::models
///
#[doc = include_str!("../docs/agent.md")]
#[cfg(feature = "agent")]
pub mod agent {}

/// Guide to the events of an agent, in their JSON form (`docs/events.md`).
///
/// [agent.md]: crate::guide::agent
/// [agent.md#rejected-calls]: crate::guide::agent#rejected-calls
///
#[doc = include_str!("../docs/events.md")]
pub mod events {}

/// Guide to the parser: how it reads calls, and its guarantees (`docs/parser.md`).
///
/// [../fixtures/parity/json_repair.md]: https://github.com/toolgraft/toolgraft/blob/main/fixtures/parity/json_repair.md
/// [../fuzz/README.md]: https://github.com/toolgraft/toolgraft/blob/main/fuzz/README.md
/// [appendix/reading.md]: https://github.com/toolgraft/toolgraft/blob/main/docs/appendix/reading.md
/// [appendix/reading.md#quotes-and-reasoning]: https://github.com/toolgraft/toolgraft/blob/main/docs/appendix/reading.md#quotes-and-reasoning
/// [appendix/reading.md#what-is-held]: https://github.com/toolgraft/toolgraft/blob/main/docs/appendix/reading.md#what-is-held
/// [appendix/reading.md#what-is-refused]: https://github.com/toolgraft/toolgraft/blob/main/docs/appendix/reading.md#what-is-refused
/// [appendix/template-tokens.md]: https://github.com/toolgraft/toolgraft/blob/main/docs/appendix/template-tokens.md
/// [dialects.md]: https://github.com/toolgraft/toolgraft/blob/main/docs/dialects.md
/// [events.md]: crate::guide::events
///
#[doc = include_str!("../docs/parser.md")]
pub mod parser {}

/// Guide to models and endpoints (`docs/models.md`).
///
/// [agent.md#answers-that-are-held-to-a-form]: crate::guide::agent#answers-that-are-held-to-a-form
/// [prompt.md]: crate::guide::prompt
///
#[doc = include_str!("../docs/models.md")]
pub mod models {}

/// Guide to the prompt and its profiles (`docs/prompt.md`).
///
#[doc = include_str!("../docs/prompt.md")]
pub mod prompt {}

/// Guide to recordings of models (`docs/replay.md`).
///
#[doc = include_str!("../docs/replay.md")]
#[cfg(feature = "agent")]
pub mod recording {}
