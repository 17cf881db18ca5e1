//! Decides if a call may run: flags first, then the user.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex};

use super::args::TalkArgs;
use crate::base::{Failure, digest::sha256, lock, output, table::rows};
use crate::front::{Answer, Frontend, NAME, Question};
use crate::labels::capitalised;
use crate::screen::visible::{packed, word};
use crate::screen::{Folded, excerpt::bounded, full_name};
use crate::servers::{
    existing::Existing,
    permissions::{Permissions, change_line, dotted},
    refuse_ambiguous,
};
use crate::settings::{self, Settings};
use serde_json::Value;
use toolgraft::agent::{Approval, ApprovalRequest, AskReason};
use toolgraft::route::Toolbox;
use toolgraft::tools::{
    Annotations, Decision, Definition, Server, conditions, matches, server_pattern, wants_approval,
};
use toolgraft::{Catalog, Policy, Tool};
use toolgraft_mcp::{Hub, ServerConfig};

type Name = (Option<String>, String);

/// Decides on the approval of the calls of a conversation.
pub(crate) struct Approvals {
    front: Arc<dyn Frontend>,
    yes: bool,
    policy: Mutex<Policy>,
    /// Tools that the user approved for the rest of the conversation, with their definitions at that time.
    always: Mutex<BTreeMap<Name, Definition>>,
    /// Saved definitions of the tools that the policy allows.
    permissions: Permissions,
    hub: Arc<Hub>,
    /// Directories of the local servers, to show how a call changes a file in them.
    existing: Existing,
    /// Warnings already shown about calls that could not be approved without a terminal.
    told: Mutex<BTreeSet<String>>,
}

/// Returns the policy of the settings and of the servers' entries (`autoApprove`); with `yes` all other calls run.
fn policy(settings: &Settings, yes: bool, servers: &[ServerConfig]) -> Policy {
    let policy = Policy::new(if yes { Decision::Allow } else { Decision::Ask });
    let policy = servers.iter().flat_map(ServerConfig::approved).fold(policy, Policy::allow);
    let policy = settings.allow.iter().fold(policy, Policy::allow);
    settings.deny.iter().fold(policy, Policy::deny)
}

/// Warns of each `allow` and `deny` pattern that matches none of the tools.
pub(crate) fn warn_unmatched(settings: &Settings, catalog: &Catalog) {
    // The catalog is needed because it decides where a name with several dots is split.
    let allows = |glob: &str, tool: &Tool| {
        let policy = Policy::new(Decision::Deny).allow(glob).in_catalog(catalog);
        policy.decide(tool.server.as_deref(), &tool.name, None, None) != Decision::Deny
    };
    let denies = |glob: &str, tool: &Tool| {
        let names = conditions(glob).map_or(glob, |(names, _)| names);
        Policy::new(Decision::Allow).deny(names).denies(tool.server.as_deref(), &tool.name)
    };
    let warn = |key: &str, glob: &str| {
        let said = match settings::source_of(key, glob) {
            Some(source) => format!("{glob} ({source})"),
            None => format!("--{key} {glob}"),
        };
        output::warn(&format!("{said}: no tool has such a name; `toolgraft mcp tools` lists them"))
    };
    let without = |fits: &dyn Fn(&str, &Tool) -> bool, glob: &str| !catalog.tools().any(|tool| fits(glob, tool));
    settings.allow.iter().filter(|glob| without(&allows, glob)).for_each(|glob| warn("allow", glob));
    settings.deny.iter().filter(|glob| without(&denies, glob)).for_each(|glob| warn("deny", glob));
}

impl Approvals {
    /// # Errors
    /// An `allow` pattern matches tools of several servers, or a pattern cannot be parsed.
    pub(crate) fn new(
        args: &TalkArgs,
        front: Arc<dyn Frontend>,
        (hub, existing): (Arc<Hub>, Existing),
    ) -> Result<Arc<Self>, Failure> {
        let approvals = Approvals {
            policy: Mutex::new(Policy::new(Decision::Ask)),
            permissions: Permissions::of(hub.config().servers()),
            hub,
            existing,
            front,
            yes: args.calls.yes,
            always: Mutex::default(),
            told: Mutex::default(),
        };
        approvals.settle(&args.settings)?;
        Ok(Arc::new(approvals))
    }

    /// Applies the permissions of the settings to the present tools and saves the definitions of those allowed; a
    /// server that is added later gains none of the permissions. Called again once all servers have started.
    ///
    /// # Errors
    /// An `allow` pattern matches tools of several servers, or a pattern cannot be parsed.
    pub(super) fn settle(&self, settings: &Settings) -> Result<(), Failure> {
        let (policy, catalog) = (policy(settings, self.yes, self.hub.config().servers()), self.hub.catalog());
        refuse_ambiguous(&policy, &catalog)?;
        *lock(&self.policy) = self.permissions.settled(policy, &catalog);
        Ok(())
    }

    /// Returns the policy for the present tools, after saving the definitions of newly allowed ones.
    pub(super) fn policy(&self) -> Policy {
        let mut policy = lock(&self.policy);
        *policy = self.permissions.settled(policy.clone(), &self.hub.catalog());
        policy.clone()
    }

    /// Returns the pattern that the argument of `/allow` means, with the server's name; an error if it matches no tool,
    /// tools of several servers, or without a server's name a destructive tool.
    pub(super) fn meant(&self, glob: &str) -> Result<String, Failure> {
        let catalog = self.hub.catalog();
        let fits = |name: &str, tool: &Tool| matches(glob, Some(name), &tool.name);
        let has = |server: &Server| {
            let name = server.name.as_deref().filter(|name| server.tools.iter().any(|tool| fits(name, tool)))?;
            Some((dotted(&server_pattern(name, glob)), destroys(server, glob)))
        };
        let meant: Vec<(String, bool)> = catalog.servers().iter().filter_map(has).collect();
        match meant.as_slice() {
            [] => {
                Err(Failure::usage(format!("/allow {glob}: no tool has such a name; `toolgraft mcp tools` lists them")))
            }
            // Who names the server, too, means this tool and no other.
            _ if glob.contains(['/', '.']) => Ok(dotted(glob)),
            // As for `--allow`: a bare name never lets one run that says so of itself.
            [(pattern, true)] => Err(Failure::usage(format!(
                "/allow {glob}: the tool calls itself destructive: write {pattern} to allow it"
            ))),
            [(pattern, false)] => Ok(pattern.clone()),
            several => {
                let patterns: Vec<&str> = several.iter().map(|(pattern, _)| pattern.as_str()).collect();
                Err(Failure::usage(format!(
                    "/allow {glob}: several servers have this tool: write {}",
                    patterns.join(", ")
                )))
            }
        }
    }

    /// Allows calls that match these patterns without a question from now on.
    pub(super) fn allow(&self, patterns: &[String]) {
        let mut policy = lock(&self.policy);
        let more = patterns.iter().fold(policy.clone(), |policy, pattern| policy.allow(pattern));
        *policy = self.permissions.settled(more, &self.hub.catalog());
    }

    /// Decides on a call for which the agent requests approval, by asking the user if necessary.
    pub(super) async fn decide(self: Arc<Self>, mut request: ApprovalRequest) -> Approval {
        let name = (request.server.clone(), request.tool.clone());
        if request.reason == AskReason::Repeated && self.front.room().is_none() {
            // Where nobody can be asked, it is decided as if it were the first.
            let (tool, arguments) = (self.tool(&name), Some(&request.arguments));
            let decision = self.policy().decide(name.0.as_deref(), &name.1, tool.as_ref(), arguments);
            // No policy lets a call run that the model itself wants approved (`requires_approval`).
            if decision == Decision::Allow && !wants_approval(&request.arguments) {
                return Approval::Approved;
            }
            request.reason = AskReason::Policy;
        }
        let each_time = is_asked_each_time(request.reason);
        let mut now = self.definition(&name);
        let before = lock(&self.always).get(&name).cloned();
        let changes_since = before.as_ref().map(|before| before.changes(&now));
        let same = changes_since.as_ref().is_some_and(Vec::is_empty);
        let mut changes = changes_since.unwrap_or_else(|| request.changes.clone());
        // Nothing that was said before the foreign words came was said of what they lead to.
        let led = request.reason == AskReason::Untrusted;
        if self.yes && !led || (!each_time && same && !wants_approval(&request.arguments)) {
            return Approval::Approved;
        }
        loop {
            let Some(room) = self.front.room() else {
                let why = nobody(&request);
                if lock(&self.told).insert(why.clone()) {
                    output::warn(&why);
                }
                return Approval::Denied { reason: Some(for_the_model(request.reason)) };
            };
            let question = self.question(&request, (&now, &changes), room);
            let answer = self.front.approve(&question).await;
            let then = std::mem::replace(&mut now, self.definition(&name));
            if !matches!(answer, Answer::No(_)) && hash(&now) != question.definition {
                // Nobody has said yes to what the tool has become meanwhile.
                changes = then.changes(&now);
                continue;
            }
            return match answer {
                Answer::Always if !each_time => {
                    // What the policy allows is the tool as it is now, from now on.
                    if request.reason == AskReason::Changed {
                        self.tool(&name).iter().for_each(|tool| self.permissions.accept(tool));
                    }
                    lock(&self.always).insert(name, now);
                    Approval::Approved
                }
                // What is asked about each time is approved one by one.
                Answer::Once | Answer::Always => Approval::Approved,
                Answer::No(None) => Approval::Denied { reason: None },
                Answer::No(Some(reason)) => {
                    Approval::Denied { reason: Some(format!("the user declined the call: {reason}")) }
                }
            };
        }
    }

    /// Returns the question about a call of a tool with this definition, which has these changes since it was allowed.
    fn question(
        &self,
        request: &ApprovalRequest,
        (definition, changes): (&Definition, &[String]),
        room: (usize, usize),
    ) -> Question {
        let ApprovalRequest { server, tool, .. } = request;
        let hints = self.tool(&(server.clone(), tool.clone())).and_then(|tool| tool.annotations);
        // Asked without the tool, the policy ignores that it calls itself destructive: only a pattern
        // allows it then.
        let by_pattern =
            self.policy().decide(server.as_deref(), tool, None, Some(&request.arguments)) == Decision::Allow;
        let value = Value::Object(request.arguments.clone());
        let whole_name = full_name(server.as_deref(), tool);
        let name = bounded(&whole_name, NAME);
        let changed = (!changes.is_empty())
            .then(|| word(&format!("{name} has changed since it was allowed: {}", changes.join("; "))));
        let arguments = self.existing.arguments(server.as_deref(), &value);
        let parts = (name != whole_name).then_some(whole_name).into_iter().chain(changed).chain([arguments]);
        Question {
            id: request.id.clone(),
            name,
            why: packed(&why(request, hints.as_ref(), by_pattern)),
            body: Folded::of(&parts.collect::<Vec<_>>().join("\n\n"), room),
            line: word(&value.to_string()),
            is_doubtful: is_asked_each_time(request.reason),
            definition: hash(definition),
        }
    }

    /// Returns the present definition of the tool with this name from the catalog.
    fn tool(&self, (server, tool): &Name) -> Option<Tool> {
        Some(self.hub.catalog().find(server.as_deref(), tool).ok()?.tool.clone())
    }

    fn definition(&self, name: &Name) -> Definition {
        self.tool(name).as_ref().map(Definition::of).unwrap_or_default()
    }
}

/// Returns the SHA-256 hash of a tool's definition, which identifies it.
fn hash(definition: &Definition) -> String {
    sha256(serde_json::to_string(definition).unwrap_or_default().as_bytes())
}

/// Returns `true` if the server has a tool of exactly this name that declares itself destructive.
fn destroys(server: &Server, name: &str) -> bool {
    server.tools.iter().any(|tool| {
        tool.name == name && tool.annotations.as_ref().is_some_and(|hints| hints.destructive_hint == Some(true))
    })
}

/// Returns `true` if each call with this reason for approval is asked about, whatever was allowed before: it may be a
/// draft or an example, it repeats one that ran, or untrusted text may have led to it.
fn is_asked_each_time(reason: AskReason) -> bool {
    !matches!(reason, AskReason::FirstUse | AskReason::Changed | AskReason::Policy)
}

/// Returns a warning that a call was not run because there is no terminal to ask on, with the option that allows it.
fn nobody(request: &ApprovalRequest) -> String {
    let name = bounded(&full_name(request.server.as_deref(), &request.tool), NAME);
    let why = match doubt(request.reason) {
        Some(doubt) => {
            let remedy = match request.reason {
                AskReason::Untrusted => format!("--allow {name} runs the call all the same"),
                AskReason::NoReasoningTag => format!(
                    "if the model writes no reasoning, use --set reasoning=auto (with --allow '{name}'); --yes runs \
                     the call as it is"
                ),
                _ => "--yes runs such calls".to_owned(),
            };
            format!("{doubt}, and there is no terminal to ask on; {remedy}")
        }
        None if request.reason == AskReason::Changed => format!(
            "{}; there is no terminal to ask on",
            change_line(request.server.as_deref(), &request.tool, &request.changes)
        ),
        None if wants_approval(&request.arguments) => "the model itself wants the call approved, and there is no \
             terminal to ask on; --yes runs such calls"
            .to_owned(),
        None => format!("there is no terminal to ask on; allow it with --allow '{name}', or all with --yes"),
    };
    format!("{name} was not run: {why}")
}

/// Returns the message for the model that a call was not run because no user is present.
fn for_the_model(reason: AskReason) -> String {
    let why = row(reason).map(|(_, _, why)| format!(", and {why}")).unwrap_or_default();
    format!("no user is present to approve the call{why}")
}

/// Reasons for which a call may not be meant, each with its description for the user and with advice for the model.
static REASONS: LazyLock<Vec<(AskReason, String, String)>> =
    LazyLock::new(|| rows(include_str!("approve/reasons.toml")));

fn row(reason: AskReason) -> Option<&'static (AskReason, String, String)> {
    REASONS.iter().find(|(other, ..)| *other == reason)
}

/// Returns the reason that the call may not be meant, as text; `None` if there is no such doubt.
fn doubt(reason: AskReason) -> Option<&'static str> {
    row(reason).map(|(_, doubt, _)| doubt.as_str()).filter(|doubt| !doubt.is_empty())
}

/// Returns the reason that the call needs approval: the doubt that it is meant, or else the nature of its tool.
fn why(request: &ApprovalRequest, hints: Option<&Annotations>, by_pattern: bool) -> String {
    doubt(request.reason).map_or_else(|| nature(request, hints, by_pattern), |doubt| format!("{}.", capitalised(doubt)))
}

/// Returns a sentence on the tool's annotations (destructive, read-only) and on why no permission covers the call.
fn nature(request: &ApprovalRequest, hints: Option<&Annotations>, by_pattern: bool) -> String {
    let hint = |says: fn(&Annotations) -> Option<bool>| hints.and_then(says);
    let nature = match (hint(|h| h.destructive_hint), hint(|h| h.read_only_hint)) {
        (Some(true), _) => "The tool calls itself destructive",
        (_, Some(true)) => "The tool says that it only reads",
        (Some(false), _) => "The tool says that it destroys nothing",
        _ => "The tool does not say whether it changes anything",
    };
    match wants_approval(&request.arguments) {
        _ if request.reason == AskReason::Changed => format!("{nature}, and it has changed since it was allowed."),
        true => format!("{nature}, and the model wants this call approved."),
        // A pattern is no consent to destroy something.
        false if by_pattern => format!("{nature}, and it is allowed by a pattern only, not by its full name."),
        false => format!("{nature}, and nothing allows it yet."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::terminal;

    #[test]
    fn a_question_says_what_the_server_says_of_its_tool() {
        let mut request = ApprovalRequest::new("call_1", "f", serde_json::Map::new(), AskReason::Policy);
        let hints =
            |destructive, reads| Annotations::default().with_destructive_hint(destructive).with_read_only_hint(reads);
        for (hints, says) in [
            (hints(Some(true), None), "The tool calls itself destructive, and nothing allows it yet."),
            (hints(None, Some(true)), "The tool says that it only reads, and nothing allows it yet."),
            (hints(Some(false), None), "The tool says that it destroys nothing, and nothing allows it yet."),
        ] {
            assert_eq!(why(&request, Some(&hints), false), says);
        }
        request.arguments.insert("requires_approval".to_owned(), true.into());
        assert!(why(&request, None, false).ends_with("and the model wants this call approved."));
    }

    #[test]
    fn each_doubt_has_words_for_the_user_and_for_the_model() {
        assert!(REASONS.len() == 16 && REASONS.iter().all(|(_, _, why)| !why.is_empty()));
        assert_eq!(doubt(AskReason::InALine), Some("the call does not begin its line and may be an example"));
        assert_eq!(doubt(AskReason::Changed), None);
        assert!(
            for_the_model(AskReason::Mended)
                .ends_with("call, and a value of it was taken from text without quotation marks")
        );
    }

    #[test]
    fn deny_wins_and_what_no_glob_names_is_asked_about() {
        let settings =
            Settings { allow: vec!["files.*".into()], deny: vec!["*.delete_*".into()], ..Settings::default() };
        let approving = {
            let mut server = ServerConfig::stdio("web", "x", [""; 0]);
            server.auto_approve = vec!["get_*".into()];
            server
        };
        let policy = policy(&settings, false, std::slice::from_ref(&approving));
        assert_eq!(policy.decide(Some("files"), "read", None, None), Decision::Allow);
        assert_eq!(policy.decide(Some("files"), "delete_all", None, None), Decision::Deny);
        assert_eq!(policy.decide(Some("web"), "search", None, None), Decision::Ask);
        assert_eq!(policy.decide(Some("web"), "get_page", None, None), Decision::Allow, "autoApprove");
        assert_eq!(policy.decide(Some("other"), "get_page", None, None), Decision::Ask, "of that server alone");
        let yes = super::policy(&settings, true, &[approving]);
        assert_eq!(yes.decide(Some("web"), "search", None, None), Decision::Allow);
        assert_eq!(yes.decide(Some("files"), "delete_all", None, None), Decision::Deny);
    }

    #[test]
    fn a_question_says_why_a_call_may_only_be_a_draft() {
        for (reason, why) in [
            (AskReason::Promoted, "The model only drafted the call in its reasoning. Run demo.f {}? [y/n] "),
            (
                AskReason::NoReasoningTag,
                "No reasoning tag came, so the model may only have drafted the call. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::FencedFirst,
                "The call is in a code fence with prose after it and may be an example. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::AfterProse,
                "The call follows prose without a marker and may be an example. Run demo.f {}? [y/n] ",
            ),
            (AskReason::InALine, "The call does not begin its line and may be an example. Run demo.f {}? [y/n] "),
            (
                AskReason::Echoed,
                "The call, or a text in it, is a copy from a result, a file, the description of another server or a message of the program. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::InsteadOfRead,
                "The call may change what the rejected call before it only wanted to read. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::Repeated,
                "The same call has already run, and nothing new came in between. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::Policy,
                "The tool does not say whether it changes anything, and nothing allows it yet.\nRun demo.f {}? [y/a/n] ",
            ),
        ] {
            let mut request = ApprovalRequest::new("call_1", "f", serde_json::Map::new(), reason);
            request.server = Some("demo".into());
            let asked = Question {
                id: request.id.clone(),
                name: "demo.f".to_owned(),
                why: super::why(&request, None, false),
                body: Folded::of("{}", (80, 24)),
                line: "{}".to_owned(),
                is_doubtful: is_asked_each_time(reason),
                definition: String::new(),
            };
            assert_eq!(terminal::question(&asked), why);
            let (words, help) = terminal::words(asked.is_doubtful);
            let has_always = reason == AskReason::Policy;
            assert_eq!((words.contains(&"always"), help.contains(", a (yes")), (has_always, has_always), "{why}");
            assert_eq!(
                nobody(&request).contains("--allow"),
                matches!(reason, AskReason::Policy | AskReason::NoReasoningTag),
                "{}",
                nobody(&request)
            );
        }
    }
}
