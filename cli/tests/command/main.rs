//! The built program, driven as people and other programs drive it.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod browser;
mod process;

#[cfg(target_os = "linux")]
mod attack;
mod call;
mod chat;
mod chat_endpoint;
#[cfg(target_os = "linux")]
mod chat_here;
#[cfg(target_os = "linux")]
mod chat_mcp;
#[cfg(target_os = "linux")]
mod chat_screen;
#[cfg(target_os = "linux")]
mod chat_terminal;
#[cfg(unix)]
mod command_lines;
mod completions;
mod context_overflow;
mod demo;
mod devtools;
mod diagnose;
mod dialect_file;
#[cfg(unix)]
mod documented;
#[cfg(target_os = "linux")]
mod elicit;
mod embedding;
mod examples;
mod extract;
mod inspect;
mod inspect_page;
mod install;
#[cfg(unix)]
mod launch;
mod login;
#[cfg(target_os = "linux")]
mod loss;
mod mcp;
mod mcp_config;
#[cfg(unix)]
mod mcp_errors;
#[cfg(unix)]
mod models;
mod models_docs;
#[cfg(target_os = "linux")]
mod new_user;
mod pages;
#[cfg(target_os = "linux")]
mod pictures;
mod plain_errors;
mod probe;
#[cfg(target_os = "linux")]
mod progress;
mod prompt;
mod readme;
mod real_servers;
mod replay;
mod replay_page;
#[cfg(unix)]
mod safety;
mod serve;
#[cfg(target_os = "linux")]
mod serve_page;
mod sessions;
mod settings;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(unix)]
mod stateful;
mod stderr;
mod template;
mod trust;
mod up;
#[cfg(target_os = "linux")]
mod up_page;
