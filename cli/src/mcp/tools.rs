//! `toolgraft mcp tools`.

use std::io::{IsTerminal, stdout};

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::base::{Failure, output};
use crate::screen::visible::plain;
use crate::screen::wrap::hanging;
use crate::servers::{self, ListedArgs, app::App, status::head};
use crate::terminal::{self, shortened};
use toolgraft::route::Toolbox;
use toolgraft::tools::Server;
use toolgraft::{Catalog, Tool};
use toolgraft_mcp::{Hub, McpPrompt, ServerStatus};

/// Maximum width of a description in columns; on a wide terminal it takes up to two rows.
const DESCRIPTION: usize = 100;

/// Maximum width in columns of a name beside which its description is aligned.
const NAME: usize = 32;

/// Indent in columns of a description that is below its name, since the name is too wide.
const BELOW: usize = 8;

/// Options of `toolgraft mcp tools`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-tools.txt").trim_end())]
pub(crate) struct ToolsArgs {
    /// Print one JSON object: per server its state, error, tools with schemas, resources, prompts
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    listed: ListedArgs,
}

/// Runs `toolgraft mcp tools`.
pub(crate) fn run(args: ToolsArgs) -> Result<(), Failure> {
    let config = args.listed.servers().load()?;
    let (statuses, catalog, prompts) =
        App::start(None)?.with_hub(&config, async |hub| Ok((hub.servers(), hub.catalog(), hub.prompts())))?;
    let text = || as_text(&statuses, (&catalog, &prompts));
    output::emit_either(args.json, &as_json(&statuses, &catalog, &prompts), text)?;
    verdict(&statuses)
}

/// Returns a list of the servers and their tools, resources and prompts, as text.
pub(crate) fn listing(hub: &Hub) -> String {
    as_text(&hub.servers(), (&hub.catalog(), &hub.prompts()))
}

/// Fails if an enabled server failed.
pub(crate) fn verdict(statuses: &[ServerStatus]) -> Result<(), Failure> {
    let failed: Vec<_> = statuses.iter().filter(|s| s.has_failed()).collect();
    let lines: Vec<_> = failed.iter().map(|s| servers::failed_line(s)).collect();
    match failed.as_slice() {
        [] => Ok(()),
        // A wrong entry is a mistake of usage (exit code 2), even beside servers that failed otherwise.
        failed if failed.iter().any(|s| s.misconfigured) => Err(Failure::usages(lines)),
        _ => Err(Failure::jobs(lines)),
    }
}

fn as_json(statuses: &[ServerStatus], catalog: &Catalog, prompts: &[McpPrompt]) -> Value {
    let servers: Vec<Value> = statuses
        .iter()
        .map(|status| {
            let mut object = json!(status);
            let server = catalog.server(&status.name).map(|s| json!(s));
            if let (Some(object), Some(Value::Object(server))) = (object.as_object_mut(), server) {
                object.extend(server);
            }
            let prompts: Vec<_> = prompts.iter().filter(|prompt| prompt.server == status.name).collect();
            if let (Some(object), false) = (object.as_object_mut(), prompts.is_empty()) {
                object.insert("prompts".to_owned(), json!(prompts));
            }
            object
        })
        .collect();
    json!({ "servers": servers })
}

fn as_text(statuses: &[ServerStatus], (catalog, prompts): (&Catalog, &[McpPrompt])) -> String {
    if statuses.is_empty() {
        return "the configuration has no servers\n".to_owned();
    }
    let blocks = statuses.iter().map(|status| {
        let mut text = head(status);
        if let Some(server) = catalog.server(&status.name) {
            let prompts = prompts.iter().filter(|prompt| prompt.server == status.name).collect::<Vec<_>>();
            body(&mut text, server, &prompts);
        }
        for note in &status.notes {
            push(&mut text, &format!("  note: {}", plain(note)));
        }
        text
    });
    blocks.collect::<Vec<_>>().join("\n")
}

fn body(text: &mut String, server: &Server, prompts: &[&McpPrompt]) {
    // Elsewhere than on a terminal an entry is a line.
    let columns = if stdout().is_terminal() { terminal::columns() } else { usize::MAX };
    let of_tool = |t: &Tool| signature(&t.name, t.parameters().map(|p| (p.name.to_string(), p.required)));
    let tools: Vec<_> = server.tools.iter().map(|t| (of_tool(t), t.description.as_deref())).collect();
    let resources = server.resources.iter().map(|r| (r.uri.clone(), r.description.as_deref().or(Some(&r.name))));
    let templates =
        server.resource_templates.iter().map(|r| (r.uri_template.clone(), r.description.as_deref().or(Some(&r.name))));
    let of_prompt = |p: &McpPrompt| signature(&p.name, p.arguments.iter().map(|a| (a.name.clone(), a.required)));
    let prompts = prompts.iter().map(|prompt| (of_prompt(prompt), prompt.description.as_deref()));
    let lists: [(&str, Vec<_>); 4] = [
        ("tools", tools),
        ("resources", resources.collect()),
        ("resource templates", templates.collect()),
        ("prompts", prompts.collect()),
    ];
    for (at, (title, entries)) in lists.into_iter().enumerate() {
        // That a server has no tools is worth a line.
        if entries.is_empty() && at > 0 {
            continue;
        }
        push(text, &format!("  {title} ({})", entries.len()));
        let width = entries.iter().map(|(name, _)| plain(name).width()).filter(|w| *w <= NAME).max().unwrap_or(0);
        let room = match columns {
            usize::MAX => DESCRIPTION,
            columns => (2 * columns.saturating_sub(width + BELOW)).max(DESCRIPTION),
        };
        for (name, description) in &entries {
            let name = plain(name);
            let pad = " ".repeat(width.saturating_sub(name.width()));
            let description = shortened(&plain(description.unwrap_or_default()), room);
            if name.width() > width && columns < usize::MAX && !description.is_empty() {
                // A name that is longer than the column has its description below it.
                push(text, &hanging("    ", &name, columns));
                push(text, &hanging(&" ".repeat(BELOW), &description, columns));
            } else {
                push(text, hanging(&format!("    {name}{pad}  "), &description, columns).trim_end());
            }
        }
    }
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Returns the signature of a tool or prompt, such as `name(required, optional?)`.
fn signature(name: &str, parameters: impl Iterator<Item = (String, bool)>) -> String {
    let parameters = parameters.map(|(name, required)| if required { name } else { format!("{name}?") });
    format!("{name}({})", parameters.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_marks_what_may_be_left_out() {
        let schema = json!({ "properties": { "city": {}, "date": {} }, "required": ["city"] });
        let tool = Tool::new("weather").with_schema(schema);
        let parameters = tool.parameters().map(|p| (p.name.to_string(), p.required));
        assert_eq!(signature(&tool.name, parameters), "weather(city, date?)");
    }

    #[test]
    fn a_description_cannot_reach_the_terminal() {
        assert_eq!(plain("a\u{1b}[31m red\nline\u{7}\u{200b}"), "a␛[31m red line␇⟨U+200B⟩");
    }
}
