//! The fuzz target of configuration files over the inputs that earlier walks found.

#[path = "../../../fuzz/fuzz_targets/config.rs"]
mod config;

toolgraft_testkit::targets!(config);
