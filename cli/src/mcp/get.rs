//! `toolgraft mcp get`.

use serde_json::json;

use crate::base::{Failure, output, words};
use crate::front::Terminal;
use crate::mcp::call;
use crate::screen::excerpt::names as shown_names;
use crate::servers::ServerArgs;
use toolgraft::message::Role;
use toolgraft_mcp::{Hub, McpPrompt, PromptMessage};

/// Options of `toolgraft mcp get`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-get.txt").trim_end())]
pub(crate) struct GetArgs {
    /// Server, as the configuration names it
    server: String,

    /// Prompt of that server; `toolgraft mcp tools` lists them
    prompt: String,

    /// Arguments; a prompt with one argument takes the words as they are
    #[arg(value_name = "NAME=VALUE")]
    arguments: Vec<String>,

    /// Print one JSON object: server, prompt, messages with role and text
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    servers: ServerArgs,
}

/// Runs `toolgraft mcp get`.
pub(crate) fn run(args: GetArgs) -> Result<(), Failure> {
    let (server, name) = (args.server.as_str(), args.prompt.as_str());
    let messages = call::with_server(&args.servers, (server, false), async |hub, terminal| {
        filled(hub, (server, name), &args.arguments, terminal).await
    })?;
    show(&messages, (server, name), args.json)
}

/// Requests a server's prompt, filled in with the words of the command line.
async fn filled(
    hub: &Hub,
    (server, name): (&str, &str),
    words: &[String],
    terminal: &Terminal,
) -> Result<Vec<PromptMessage>, Failure> {
    let prompts = hub.prompts();
    let prompt = prompts.iter().find(|prompt| prompt.name == name).ok_or_else(|| unknown(name, &prompts))?;
    let arguments = words::of_prompt(prompt, words).map_err(Failure::usage)?;
    let missing = prompt.arguments.iter().filter(|a| a.required && !arguments.contains_key(&a.name));
    let missing: Vec<String> = missing.map(|a| format!("{}=…", a.name)).collect();
    if !missing.is_empty() {
        return Err(Failure::usage(format!("the prompt {name:?} also needs {}", shown_names(missing))));
    }
    let what = format!("filling in {server}.{name}");
    terminal.watch(hub, what, hub.prompt(server, name, arguments)).await.map_err(Failure::job)
}

/// Prints the messages of a server's prompt, as text or JSON.
fn show(messages: &[PromptMessage], (server, name): (&str, &str), as_json: bool) -> Result<(), Failure> {
    match as_json {
        true => output::emit_json(&json!({ "server": server, "prompt": name, "messages": messages })),
        false => output::emit(&shown(messages)),
    }
}

fn unknown(name: &str, prompts: &[McpPrompt]) -> Failure {
    let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    match names.as_slice() {
        [] => Failure::usage(format!("no prompt {name:?}: the server has none")),
        names => Failure::usage(format!("no prompt {name:?}; there are: {}", shown_names(names))),
    }
}

/// Returns the text of one message unchanged; of several, each after its role.
fn shown(messages: &[PromptMessage]) -> String {
    if let [one] = messages {
        return format!("{}\n", one.text.trim_end());
    }
    let who = |role: Role| if role == Role::Assistant { "the model" } else { "you" };
    let said = messages.iter().map(|message| format!("{}:\n{}\n", who(message.role), message.text.trim_end()));
    said.collect::<Vec<_>>().join("\n")
}
