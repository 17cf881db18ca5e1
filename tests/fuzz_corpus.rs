//! Runs the fuzz targets with the stored inputs (`fixtures/fuzz`), so that each input that a fuzzer
//! once found is tried with every `cargo test`. `make fuzz CORPUS=yes` recreates the files
//! (`fuzz/README.md`).

#![allow(clippy::explicit_auto_deref, reason = "without it the type of what is picked is not known")]

#[path = "../fuzz/fuzz_targets/copied.rs"]
mod copied;
#[path = "../fuzz/fuzz_targets/cuts.rs"]
mod cuts;
#[path = "../fuzz/fuzz_targets/grammar/main.rs"]
mod grammar;
#[path = "../fuzz/fuzz_targets/json.rs"]
mod json;
#[path = "../fuzz/fuzz_targets/laws.rs"]
mod laws;
#[path = "../fuzz/fuzz_targets/recording.rs"]
mod recording;
#[path = "../fuzz/fuzz_targets/repair.rs"]
mod repair;
#[path = "../fuzz/fuzz_targets/validate.rs"]
mod validate;

toolgraft_testkit::targets!(copied grammar json laws recording repair validate);
