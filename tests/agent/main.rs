//! The agent: its events, and a model that has lost its plan. Recordings: the format, the recorder
//! of an agent, and the formats of other programs.

#[cfg(feature = "typed")]
mod event_schema;
#[cfg(feature = "agent")]
mod events_docs;
#[cfg(feature = "agent")]
mod history;
mod import;
#[cfg(feature = "agent")]
mod played_again;
#[cfg(feature = "agent")]
mod reasoning;
#[cfg(feature = "agent")]
mod recorder;
mod recording;
#[cfg(feature = "agent")]
mod stored_config;
#[cfg(feature = "agent")]
mod weak_context;
