//! What is set where: flags, the environment, the folder, `~/.config/toolgraft/config.toml`, what
//! `toolgraft probe` found, the model's profile.
//!
//! Each source is one [`Settings`]. A command names the places of its flags once
//! ([`Slots`]), and every source fills those that stand open, the strongest first:
//!
//! ```text
//! flags ◀─ environment ◀─ config.toml ◀─ profiles.toml ◀─ profile of the model ◀─ built in
//!        └──────── defaults() ───────┘  └─ of a model ─┘ └──── the library ────┘
//! ```
//!
//! A further option is a line of the table below, its words ([`Phrases`]), its flag and slot in
//! the command's arguments, and the place that it counts for.

pub(crate) mod offer_args;
pub(crate) mod profiles;
pub(crate) mod prompt_args;
pub(crate) mod saved_profiles;
pub(crate) mod trust_args;

mod command;
pub(crate) mod examples;
mod file;
mod folder;
mod keys;
pub(crate) mod learned;
mod names;
mod sources;
mod variables;

pub(crate) use command::{Args, one, run};
pub(crate) use file::{names, parsed_with, read as file};
pub(crate) use folder::Folder;
pub(crate) use keys::{CallDisplay, ReasoningDisplay, Settings, Slots, key_names, slots};
pub(crate) use names::{Names, Place};
pub(crate) use sources::{defaults, environment};
pub(crate) use variables::variable;
