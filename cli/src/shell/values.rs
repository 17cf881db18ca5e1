//! Completes names that are only known where the command runs. Nothing is started and no other machine is asked for
//! them.

use std::str::FromStr;
use std::time::Duration;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use crate::chat::local_models;
use crate::screen::boxes::clean;
use crate::servers::{LOCAL, config_file::ConfigFile, known, own_file};
use crate::sessions::Store;
use crate::settings::{self, Names};
use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::{Lang, Profile, PromptStyle};
use toolgraft::message::{CarryReasoning, FencedCalls, ReasoningMode, UnknownKeyword};
use toolgraft::prompt::Listing;
use toolgraft::tools::ToolsMode;

/// Maximum time to wait for the lists of models of local servers.
const PATIENCE: Duration = Duration::from_millis(800);

/// Returns the command with candidates for the values of its arguments, including those of subcommands.
pub(super) fn of(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let is_login = ["login", "logout"].contains(&command.get_name());
    let command = command.mut_args(|arg| match values(&arg, is_login) {
        Some(values) => arg.add(ArgValueCandidates::new(values)),
        None => arg,
    });
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, of))
}

/// Returns the function that lists the values of an argument, by the argument's id; `None` if there are no candidates.
fn values(arg: &Arg, is_login: bool) -> Option<fn() -> Vec<CompletionCandidate>> {
    Some(match arg.get_id().as_str() {
        // Elsewhere the argument is a new name, as in `mcp add NAME`.
        "name" if is_login => servers,
        "model" | "round_model" => models,
        "base_url" | "url" => endpoints,
        "server" | "names" | "untrusted" => servers,
        "tool" => tools_of_server,
        "allow" | "deny" => tools,
        "ids" | "id" | "continued" => conversations,
        "key" => keys,
        "profile" => || all(Profile::all().iter().map(|profile| profile.name)),
        "dialect" => || all(Dialect::taught().map(Dialect::name)),
        "lang" => || all(expected::<Lang>().into_iter()),
        "set" => set,
        _ => return None,
    })
}

/// Returns completion candidates for these names, without those that contain characters special to a shell, since
/// servers and endpoints choose names.
fn all(names: impl Iterator<Item = impl Into<String>>) -> Vec<CompletionCandidate> {
    let is_word = |name: &String| name.chars().all(|c| c.is_alphanumeric() || "-_.:/@+".contains(c));
    names.map(Into::into).filter(is_word).map(CompletionCandidate::new).collect()
}

/// Returns the keywords of a type, which are in the error that its parser returns for another text.
fn expected<T: FromStr<Err = UnknownKeyword>>() -> Vec<&'static str> {
    T::from_str("").err().map(|error| error.expected.to_vec()).unwrap_or_default()
}

fn names() -> Names {
    settings::file().unwrap_or_default().names
}

/// Returns the model names of `config.toml`, and the models of local servers.
fn models() -> Vec<CompletionCandidate> {
    let mut names: Vec<String> = names().models().map(str::to_owned).collect();
    names.extend(local_models(PATIENCE));
    names.sort();
    names.dedup();
    all(names.into_iter())
}

fn endpoints() -> Vec<CompletionCandidate> {
    all(names().endpoints())
}

fn servers() -> Vec<CompletionCandidate> {
    let files = [own_file(), Some(LOCAL.into())].into_iter().flatten().filter(|path| path.exists());
    let names = files.filter_map(|path| Some(ConfigFile::open(path).ok()?.names())).flatten();
    all(names)
}

/// Returns the tools of the server that an earlier word of the command line names.
fn tools_of_server() -> Vec<CompletionCandidate> {
    let words: Vec<String> = std::env::args().collect();
    let of_it = known::tools().into_iter().filter(|(server, _)| words.contains(server));
    all(of_it.flat_map(|(_, tools)| tools))
}

fn tools() -> Vec<CompletionCandidate> {
    let of = |(server, tools): (String, Vec<String>)| tools.into_iter().map(move |tool| format!("{server}.{tool}"));
    all(known::tools().into_iter().flat_map(of))
}

fn conversations() -> Vec<CompletionCandidate> {
    let listed = Store::open().ok().and_then(|store| store.list(&[]).ok());
    listed
        .unwrap_or_default()
        .iter()
        .map(|one| CompletionCandidate::new(&one.id).help(Some(clean(&one.title).into())))
        .collect()
}

/// Returns candidates for `--set`: all keys, with their possible values if these are few.
fn set() -> Vec<CompletionCandidate> {
    let words = |key: &str| match key {
        "profile" => Profile::all().iter().map(|profile| profile.name).collect(),
        "dialect" => Dialect::taught().map(Dialect::name).collect(),
        "lang" => expected::<Lang>(),
        "tools_mode" => expected::<ToolsMode>(),
        "prompt_style" => expected::<PromptStyle>(),
        "listing" => expected::<Listing>(),
        "constrain" => expected::<Constrain>(),
        "way" => expected::<Way>(),
        "carry_reasoning" => expected::<CarryReasoning>(),
        "reasoning" => expected::<ReasoningMode>(),
        "fenced_calls" => expected::<FencedCalls>(),
        _ => vec![""],
    };
    let of = |key: &'static str| words(key).into_iter().map(move |word| format!("{key}={word}"));
    settings::key_names().flat_map(of).map(CompletionCandidate::new).collect()
}

fn keys() -> Vec<CompletionCandidate> {
    all(settings::key_names())
}
