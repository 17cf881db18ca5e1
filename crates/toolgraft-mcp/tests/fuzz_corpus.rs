//! Runs the fuzz target for configuration files with the stored inputs.

#[path = "../../../fuzz/fuzz_targets/config.rs"]
mod config;

toolgraft_testkit::targets!(config);
