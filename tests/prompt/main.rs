//! The prompt: what it says of the tools of real servers, and what its page says of it.

#[cfg(feature = "agent")]
mod describe_tool;
#[cfg(feature = "prompt")]
mod prompt;
#[cfg(all(feature = "client", feature = "mcp"))]
mod prompt_docs;
#[cfg(feature = "prompt")]
mod repeated;
