//! The sources of settings: flags, the environment, and `~/.config/toolgraft/config.toml` with those of a folder and
//! of `toolgraft probe`; then the model's profile.
//!
//! Each source is one [`Settings`]. A command takes its options into one, [`set_args::SetArgs::under`] adds `--set`,
//! and [`Settings::resolve`] the weaker sources; what is left is read at the place that it counts for:
//!
//! ```text
//! flags, --set ◀─ environment ◀─ config.toml ◀─ its [[probed]] ◀─ profile of the model ◀─ built in
//!               └───── Settings::resolve ──┘  └─ of a model ─┘ └──── the library ────┘
//! ```
//!
//! A further setting is a line of the table in `keys`, which says who reads it, and the place that it counts for. Only
//! what is set often has an option of its own beside `--set`: a field of the command's clap struct, which the command
//! takes over into its settings.

pub(crate) mod offer_args;
pub(crate) mod profiles;
pub(crate) mod prompt_settings;
pub(crate) mod saved_profiles;
pub(crate) mod set_args;
pub(crate) mod trust_args;

mod command;
mod explain;
mod file;
mod folder;
mod keys;
pub(crate) mod learned;
mod names;
mod probed;
mod sources;
mod variables;
mod wrong;

pub(crate) use command::{ConfigArgs, run};
pub(crate) use file::{parsed_with, path, read as file};
pub(crate) use folder::Folder;
pub(crate) use keys::{CallDisplay, Images, Reader, ReasoningDisplay, Settings, key_names};
pub(crate) use names::{Names, Place};
pub(crate) use set_args::{changeable_keys, changed};
pub(crate) use sources::{Source, source_of, warn_of_variables};
pub(crate) use variables::variable;
