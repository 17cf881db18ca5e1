//! The model client against a scripted endpoint over real HTTP.
#![cfg(feature = "client")]

mod constraint;
mod model_client;
mod native_tools;
mod trace;
