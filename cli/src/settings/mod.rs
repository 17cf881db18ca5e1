//! What is set where: flags, the environment, and `~/.config/toolgraft/config.toml` with what holds in a folder and
//! what `toolgraft probe` found; then the model's profile.
//!
//! Each source is one [`Settings`]. A command names the places of its flags once
//! ([`Slots`]), and every source fills those that stand open, the strongest first:
//!
//! ```text
//! flags, --set ◀─ environment ◀─ config.toml ◀─ its [[probed]] ◀─ profile of the model ◀─ built in
//!               └──────── defaults() ───────┘  └─ of a model ─┘ └──── the library ────┘
//! ```
//!
//! A further setting is a line of the table in `keys`, a field and a slot among the command's arguments,
//! and the place that it counts for. Only what is set often has a flag of its own beside `--set`.

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
mod sources;
mod variables;

pub(crate) use command::{Args, run};
pub(crate) use file::{names, one, parsed_with, path, read as file};
pub(crate) use folder::Folder;
pub(crate) use keys::{CallDisplay, Images, ReasoningDisplay, Settings, Slots, key_names, slots};
pub(crate) use names::{Names, Place};
pub(crate) use sources::{defaults, environment};
pub(crate) use variables::variable;
