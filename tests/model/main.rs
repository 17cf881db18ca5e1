//! The model client against a scripted endpoint over real HTTP.
#![cfg(feature = "client")]

#[path = "../common/endpoint.rs"]
mod endpoint;
#[path = "../common/files.rs"]
mod files;

mod constraint;
mod model_client;
mod native_tools;
mod trace;
