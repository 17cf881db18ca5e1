//! `toolgraft prompt`.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use crate::base::{Failure, output, tokens};
use crate::servers::{ServerArgs, tool_file};
use crate::settings::{
    self, Place, Reader, Settings, Source, profiles::dialect_file, prompt_settings, saved_profiles, set_args::SetArgs,
};
use crate::terminal;
use toolgraft::dialect::{Lang, Profile, SystemPlacement};
use toolgraft::prompt::{Prompt, PromptError, System};
use toolgraft::route::Toolbox;
use toolgraft::tools::{Server, ToolsMode};
use toolgraft::{Catalog, Dialect};

/// Options of `toolgraft prompt`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/prompt.txt").trim_end())]
pub(crate) struct PromptArgs {
    /// Take the tools from a JSON file, or from - for standard input, instead of from servers
    ///
    /// A `tools/list` answer, a list of tools (of MCP or OpenAI), a server with `tools`, or the
    /// output of `toolgraft mcp tools --json`. May be given several times, and
    /// together with --mcp-config.
    #[arg(long = "tool-file", value_name = "FILE")]
    tools: Vec<PathBuf>,

    /// Model that the prompt is for: its profile decides dialect and language
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// File with a call syntax of your own to teach (docs/dialects.md)
    #[arg(long, value_name = "FILE", value_parser = dialect_file, hide_short_help = true)]
    dialect_file: Option<Dialect>,

    /// Language of the instructions: en or zh [default: the model's]
    #[arg(long)]
    lang: Option<Lang>,

    /// Your own system text, which comes first; @FILE reads it from a file
    #[arg(long, value_name = "TEXT|@FILE")]
    system: Option<String>,

    /// Print one JSON object: prompt, tokens, tools (their number), profile, dialect, lang, style, listing, listed, placement
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    set: SetArgs,

    #[command(flatten)]
    servers: ServerArgs,
}

/// Runs `toolgraft prompt`.
pub(crate) fn run(args: PromptArgs) -> Result<(), Failure> {
    if args.servers.server_timeout.is_some() && !args.tools.is_empty() && !args.servers.is_given() {
        let remedy = "with --tool-file no server is started: leave it out, or name servers with --mcp-config FILE";
        return Err(Failure::usage(format!("--server-timeout has no effect: {remedy}")));
    }
    let (model, lang, system) = (args.model.clone(), args.lang, args.system.clone());
    let options = Settings { model, lang, system, ..Settings::default() };
    let mut settings = args.set.under(options, &[Reader::Prompt])?.resolve(&Source::EVERYWHERE)?;
    let place = Place { url: settings.base_url.take(), model: settings.model.take(), ..Place::default() };
    let Place { url, model, .. } = settings::file()?.names.locate(place)?;
    settings.teach(args.dialect_file);
    let model = model.as_deref();
    if let Some(saved) = model.map_or(Ok(None), |model| saved_profiles::find(url.as_deref(), model))? {
        settings.over(&Settings::from(&saved));
    }
    let profile = settings.profile.unwrap_or_else(|| model.map_or_else(Default::default, Profile::for_model));
    let options = settings.prompt_options(profile, profile.style_for(model.unwrap_or_default(), None))?.within(None);
    let prompt = Prompt::new(options).map_err(failure)?;
    let (listed, complete) = listed_servers(&args)?;
    let catalog = prompt.options().callable(Arc::new(Catalog::new(listed)));
    let System { text, listed, .. } = prompt.compose(&catalog, &[]).map_err(failure)?;
    let (tokens, tools) = (tokens::count(&text), catalog.offered().count());
    if args.json {
        let options = prompt.options();
        let object = json!({
            "prompt": text, "tokens": tokens, "tools": tools, "profile": profile.name,
            "dialect": options.dialect.name(), "lang": options.lang, "style": options.style, "listing": options.listing.as_str(),
            "listed": prompt_settings::as_json(&listed), "placement": profile.system,
        });
        output::emit_json(&object)?;
    } else {
        output::emit(&format!("{text}\n"))?;
        let (shown, style) = (terminal::counted(tools, "tool"), prompt.options().style);
        output::tell_stderr(format_args!("{tokens} tokens (o200k), {shown}, style {style}, {}", placement(profile)));
        if settings.tools_mode == Some(ToolsMode::Native) {
            output::tell_stderr(
                "chat offers these tools in the request (tools_mode native) and does not send this text",
            );
        }
        // Without a budget of the user's own it is told where it shortened something.
        let is_told = settings.tool_budget.is_some() || listed.count(prompt.options().listing) < tools;
        if let Some(fitted) = prompt_settings::fitted(&listed).filter(|_| is_told) {
            output::tell_stderr(fitted);
        }
    }
    if let Some(warning) = prompt_settings::over_budget(&listed) {
        output::warn(&warning);
    }
    if complete { Ok(()) } else { Err(Failure::Reported) }
}

fn placement(profile: &Profile) -> String {
    let place = match profile.system {
        SystemPlacement::User => "goes in front of the first user message",
        _ => "goes into the system message",
    };
    format!("{place} (profile {})", profile.name)
}

/// Returns the tools of the given files, followed by those of the configured servers, and `true` unless a server
/// failed. Without files, the default configuration of servers is used.
fn listed_servers(args: &PromptArgs) -> Result<(Vec<Server>, bool), Failure> {
    let mut listed = Vec::new();
    for file in &args.tools {
        listed.extend(tool_file::read(file)?);
    }
    if !args.tools.is_empty() && !args.servers.is_given() {
        return Ok((listed, true));
    }
    let (connected, complete) = args.servers.with_hub(async move |hub| {
        let complete = hub.servers().iter().all(|server| !server.has_failed());
        Ok((hub.catalog().servers().to_vec(), complete))
    })?;
    listed.extend(connected);
    Ok((listed, complete))
}

fn failure(error: PromptError) -> Failure {
    match error {
        PromptError::Template(_) => Failure::usage(error),
        _ => Failure::job(error),
    }
}
