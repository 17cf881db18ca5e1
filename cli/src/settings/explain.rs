//! `toolgraft config explain` and `accept`: which rule decides about the calls of a tool, and that a tool that has
//! changed is allowed as it is now.

use std::path::PathBuf;

use serde_json::{Map, Value};
use toolgraft::route::Toolbox;
use toolgraft::tools::{Annotations, Decision, Judgement, Rule, conditions};
use toolgraft::{Catalog, Policy, Tool};
use toolgraft_mcp::{Hub, ServerConfig};

use super::keys::Settings;
use super::sources::Source;
use crate::base::{Failure, output};
use crate::screen::{excerpt::names, full_name, visible::word};
use crate::servers::ServerArgs;
use crate::servers::given::Given;
use crate::servers::permissions::{Permissions, change_line};

/// A tool of a server.
#[derive(Debug, clap::Args)]
pub(super) struct ToolArgs {
    /// Server, as the configuration names it
    server: String,

    /// Tool of that server; `toolgraft mcp tools` lists them
    tool: String,

    /// Configuration of MCP servers; without it the one that chat takes
    #[arg(long, value_name = "FILE")]
    mcp_config: Vec<PathBuf>,
}

/// A call, or all calls of a tool.
#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    tool: ToolArgs,

    /// Arguments of the call: NAME=VALUE words; or one JSON object, @FILE, or - for standard input
    #[arg(value_name = "NAME=VALUE|JSON")]
    arguments: Vec<String>,
}

impl ToolArgs {
    /// Starts the MCP servers and runs a function with their hub and the tool that these arguments name.
    fn with_tool(&self, job: impl FnOnce(&Hub, &Tool) -> Result<(), Failure>) -> Result<(), Failure> {
        let servers = ServerArgs { mcp_config: self.mcp_config.clone(), ..ServerArgs::default() };
        servers.with_hub(async move |hub| {
            let catalog = hub.catalog();
            let found = catalog.find(Some(&self.server), &self.tool);
            let found = found.map_err(|error| Failure::usage(format!("{error}; `toolgraft mcp tools` lists them")))?;
            job(&hub, found.tool)
        })
    }
}

/// A pattern that allows or denies tools.
struct Pattern {
    text: String,
    /// Name of the key that contains the pattern, and of the source that sets it.
    from: String,
    is_denial: bool,
    /// `true` if the pattern applies to `serve` as well as to `chat`.
    is_in_serve: bool,
}

impl Pattern {
    /// Returns `true` if the pattern denies only some calls of the tool, depending on their arguments.
    fn denies_some(&self, tool: &Tool) -> bool {
        let denies = |names: &str| Policy::default().deny(names).denies(tool.server.as_deref(), &tool.name);
        self.is_denial && conditions(&self.text).is_some_and(|(names, _)| denies(names))
    }

    fn add_to(&self, policy: Policy) -> Policy {
        if self.is_denial { policy.deny(&self.text) } else { policy.allow(&self.text) }
    }

    /// Returns `true` if this pattern, in a policy for this catalog, gives the rule that decides about a call.
    fn is(&self, rule: &Rule, (tool, arguments): (&Tool, Option<&Map<String, Value>>), catalog: &Catalog) -> bool {
        let alone = self.add_to(Policy::default()).in_catalog(catalog);
        alone.judge(tool.server.as_deref(), &tool.name, None, arguments).rule.as_ref() == Some(rule)
    }
}

/// Prints which rule in `chat` and in `serve` decides about a call, or about the calls of a tool.
pub(super) fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let given = (!args.arguments.is_empty()).then(|| Given::read(&args.arguments)).transpose()?;
    let sources = Source::ALL.into_iter().map(|source| Ok((source, source.settings()?)));
    let sources = sources.collect::<Result<Vec<_>, Failure>>()?;
    args.tool.with_tool(|hub, tool| {
        let arguments = given.map(|given| given.of_tool(tool)).transpose()?;
        let (catalog, servers) = (hub.catalog(), hub.config().servers());
        let mut patterns: Vec<Pattern> = servers.iter().flat_map(approved).collect();
        patterns.extend(sources.iter().flat_map(of_settings));
        let permissions = Permissions::of(servers);
        let mut text = format!("{}\n", full_name(tool.server.as_deref(), &tool.name));
        for (program, default) in [("chat", Decision::Ask), ("serve", Decision::Deny)] {
            let counts = |pattern: &&Pattern| program == "chat" || pattern.is_in_serve;
            let policy = patterns.iter().filter(counts).fold(Policy::new(default), |policy, one| one.add_to(policy));
            let policy = permissions.informed(policy, &catalog);
            let judged = policy.judge(tool.server.as_deref(), &tool.name, Some(tool), arguments.as_ref());
            let from = judged.rule.as_ref().map(|rule| {
                let from = patterns
                    .iter()
                    .filter(counts)
                    .find(|pattern| pattern.is(rule, (tool, arguments.as_ref()), &catalog));
                from.map(|pattern| format!("{} ({})", word(&pattern.text), word(&pattern.from))).unwrap_or_default()
            });
            text += &format!("  {program}: {}\n", outcome(&judged, from.as_deref(), tool, program == "chat"));
        }
        // With the arguments of a call, the rule above already says if it is denied.
        for pattern in patterns.iter().filter(|pattern| arguments.is_none() && pattern.denies_some(tool)) {
            text += &format!("  what {} ({}) denies does not run\n", word(&pattern.text), word(&pattern.from));
        }
        text += &after_untrusted(&sources, &patterns, (tool, arguments.as_ref()), &catalog);
        output::emit(&text)
    })
}

/// Saves the current definition of a tool as the one that is allowed, and prints its changes.
pub(super) fn accept(args: &ToolArgs) -> Result<(), Failure> {
    args.with_tool(|hub, tool| {
        let permissions = Permissions::of(hub.config().servers());
        let (name, changes) = (full_name(tool.server.as_deref(), &tool.name), permissions.changes(tool));
        permissions.accept(tool);
        match changes.is_empty() {
            true => output::tell(&format!("{name} is known as it is now")),
            false => output::tell(&format!("{name} is allowed as it is now: {}", changes.join("; "))),
        }
    })
}

/// Returns the `autoApprove` patterns in the configuration of a server, which apply to `chat` only.
fn approved(server: &ServerConfig) -> impl Iterator<Item = Pattern> + '_ {
    let from = format!("autoApprove at {}", server.place);
    server.approved().map(move |text| Pattern { text, from: from.clone(), is_denial: false, is_in_serve: false })
}

/// Returns the `allow` and `deny` patterns of a settings source.
fn of_settings((source, settings): &(Source, Settings)) -> Vec<Pattern> {
    let is_in_serve = *source != Source::Folder;
    let lists = [("allow", false, &settings.allow), ("deny", true, &settings.deny)];
    let patterns = lists.into_iter().flat_map(|(key, is_denial, list)| {
        list.iter().map(move |text| Pattern { text: text.clone(), from: source.name(key), is_denial, is_in_serve })
    });
    patterns.collect()
}

/// Returns a description of the decision on a call and of the rule that led to it.
fn outcome(judged: &Judgement, from: Option<&str>, tool: &Tool, is_attended: bool) -> String {
    let unless_allowed = if is_attended { "you are asked" } else { "does not run" };
    let from = from.unwrap_or_default();
    match (&judged.rule, judged.decision) {
        (Some(Rule::Deny(_)), _) => format!("does not run: denied by {from}"),
        (Some(Rule::Allow(text)), Decision::Allow) if conditions(text).is_some() => {
            format!("calls with such arguments run: allowed by {from}")
        }
        (Some(Rule::Allow(_)), Decision::Allow) => format!("runs: allowed by {from}"),
        (Some(Rule::Allow(_)), _) if !judged.changes.is_empty() => {
            let line = change_line(tool.server.as_deref(), &tool.name, &judged.changes);
            format!("{unless_allowed}: allowed by {from}, but {line}")
        }
        (Some(Rule::Allow(_)), _) => {
            format!("{unless_allowed}: it calls itself destructive, for which {from} does not suffice; name it in full")
        }
        _ => format!("{unless_allowed}: nothing allows it"),
    }
}

/// Returns a line with the decision after output of untrusted servers; empty if that changes nothing.
fn after_untrusted(
    sources: &[(Source, Settings)],
    patterns: &[Pattern],
    (tool, arguments): (&Tool, Option<&Map<String, Value>>),
    catalog: &Catalog,
) -> String {
    let untrusted: Vec<String> = sources.iter().flat_map(|(_, settings)| settings.untrusted.iter().cloned()).collect();
    let policy = patterns.iter().fold(Policy::default(), |policy, one| one.add_to(policy)).in_catalog(catalog);
    let annotations: Option<&Annotations> = tool.annotations.as_ref();
    if untrusted.is_empty()
        || !policy.can_be_led(tool.server.as_deref(), &tool.name, annotations, arguments, &untrusted)
    {
        return String::new();
    }
    format!(
        "  after output of {} (untrusted): you are asked in chat, and it does not run in serve\n",
        names(&untrusted)
    )
}
