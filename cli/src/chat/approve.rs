//! Whether a call may run: flags first, then the person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::args::CallArgs;
use super::existing::Existing;
use crate::base::Failure;
use crate::base::output;
use crate::dialog::ask::Asker;
use crate::phrases::Phrases;
use crate::screen::excerpt::bounded;
use crate::screen::visible::word;
use crate::screen::{Frame, arguments, boxes, fits_screen, full_name};
use crate::servers::refuse_ambiguous;
use crate::terminal::{columns, grouped};
use serde_json::Value;
use toolgraft::agent::{Approval, ApprovalRequest, AskReason};
use toolgraft::route::Toolbox;
use toolgraft::tools::{
    Annotations, Decision, DefaultDecision, Definition, Server, matches, server_pattern, wants_approval,
};
use toolgraft::{Catalog, Policy, Tool};
use toolgraft_mcp::Hub;
use toolgraft_mcp::ServerConfig;

/// Most columns of the arguments in a question; the box above has all of them.
const ARGUMENTS: usize = 60;

/// Fewest columns of them, however long the tool's name is.
const LEAST_ARGUMENTS: usize = 16;

type Name = (Option<String>, String);

/// Answers for the calls of a conversation.
pub(super) struct Approvals {
    asker: Option<Asker>,
    yes: bool,
    policy: Mutex<Policy>,
    /// Tools that were approved for all of the conversation, as they were then.
    always: Mutex<BTreeMap<Name, Definition>>,
    /// No box above a question shows the call.
    quiet: bool,
    hub: Arc<Hub>,
    /// Files that a call may change.
    existing: Existing,
    /// Cancels the turn that runs.
    cancel: Mutex<CancellationToken>,
    /// What was said of calls that nobody could be asked about.
    told: Mutex<BTreeSet<String>>,
    say: Phrases,
}

/// What somebody answered.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Once,
    Always,
    /// Not yet: all of the call, please.
    Show,
    No(Option<String>),
}

/// The policy of the flags and of the servers' entries (`autoApprove`).
fn policy(args: &CallArgs, servers: &[ServerConfig]) -> Policy {
    let policy = Policy::new(if args.yes { DefaultDecision::Allow } else { DefaultDecision::Ask });
    let policy = servers.iter().flat_map(ServerConfig::approved).fold(policy, Policy::allow);
    let policy = args.allow.iter().fold(policy, |policy, glob| policy.allow(glob));
    args.deny.iter().fold(policy, |policy, glob| policy.deny(glob))
}

/// Warns of each pattern that fits none of the tools.
fn warn_unmatched(args: &CallArgs, catalog: &Catalog, say: Phrases) {
    // With the catalog, since it says where a name with several dots is cut.
    let allows = |glob: &str, tool: &Tool| {
        let policy = Policy::new(DefaultDecision::Deny).allow(glob).in_catalog(catalog);
        policy.decide(tool.server.as_deref(), &tool.name, None) != Decision::Deny
    };
    let denies = |glob: &str, tool: &Tool| {
        Policy::new(DefaultDecision::Allow).deny(glob).denies(tool.server.as_deref(), &tool.name)
    };
    let warn = |flag: &str, glob: &str| output::warn_in(say, &say.no_such_glob(flag, glob));
    let without = |fits: &dyn Fn(&str, &Tool) -> bool, glob: &str| !catalog.tools().any(|tool| fits(glob, tool));
    args.allow.iter().filter(|glob| without(&allows, glob)).for_each(|glob| warn("--allow", glob));
    args.deny.iter().filter(|glob| without(&denies, glob)).for_each(|glob| warn("--deny", glob));
}

impl Approvals {
    /// # Errors
    /// An `--allow` means tools of several servers.
    pub(super) fn new(
        (args, quiet): (&CallArgs, bool),
        asker: Option<Asker>,
        (hub, existing): (Arc<Hub>, Existing),
        say: Phrases,
    ) -> Result<Arc<Self>, Failure> {
        let (policy, catalog) = (policy(args, hub.config().servers()), hub.catalog());
        refuse_ambiguous(&policy, &catalog)?;
        warn_unmatched(args, &catalog, say);
        Ok(Arc::new(Approvals {
            // Settled now: a server that comes later takes no permission over.
            policy: Mutex::new(policy.in_catalog(&catalog)),
            hub,
            existing,
            asker,
            yes: args.yes,
            quiet,
            always: Mutex::default(),
            cancel: Mutex::default(),
            told: Mutex::default(),
            say,
        }))
    }

    /// What runs without a question, and what does not run.
    pub(super) fn policy(&self) -> Policy {
        lock(&self.policy).clone()
    }

    /// The pattern that a person means: one for tools of one server, with its name.
    pub(super) fn meant(&self, glob: &str) -> Result<String, Failure> {
        let catalog = self.hub.catalog();
        let fits = |name: &str, tool: &Tool| matches(glob, Some(name), &tool.name);
        let has = |server: &Server| {
            let name = server.name.as_deref().filter(|name| server.tools.iter().any(|tool| fits(name, tool)))?;
            Some((server_pattern(name, glob), destroys(server, glob)))
        };
        let meant: Vec<(String, bool)> = catalog.servers().iter().filter_map(has).collect();
        match meant.as_slice() {
            [] => Err(Failure::usage(self.say.no_such_glob("/allow", glob))),
            _ if glob.contains(['/', '.']) => Ok(glob.to_owned()),
            // As for `--allow`: a bare name never lets one run that says so of itself.
            [(pattern, true)] => Err(Failure::usage(self.say.allow_destroys(glob, pattern))),
            [(pattern, false)] => Ok(pattern.clone()),
            several => {
                let patterns: Vec<&str> = several.iter().map(|(pattern, _)| pattern.as_str()).collect();
                Err(Failure::usage(self.say.allow_is_ambiguous(glob, patterns.join(", "))))
            }
        }
    }

    /// Lets calls that fit these run without a question from now on.
    pub(super) fn allow(&self, patterns: &[String]) {
        let mut policy = lock(&self.policy);
        let more = patterns.iter().fold(policy.clone(), |policy, pattern| policy.allow(pattern));
        *policy = more.in_catalog(&self.hub.catalog());
    }

    /// A turn begins; Ctrl-C at a question cancels it.
    pub(super) fn begin(&self, cancel: CancellationToken) {
        *lock(&self.cancel) = cancel;
    }

    /// Answers a question of the agent.
    pub(super) async fn decide(self: Arc<Self>, request: ApprovalRequest) -> Approval {
        let promoted = is_promoted(request.reason);
        let name = (request.server.clone(), request.tool.clone());
        let now = self.definition(&name);
        let before = lock(&self.always).get(&name).cloned();
        let changes = before.as_ref().map(|before| before.changes(&now));
        let same = changes.as_ref().is_some_and(Vec::is_empty);
        // Nothing that was said before the foreign words came was said of what they lead to.
        let led = request.reason == AskReason::Untrusted;
        if self.yes && !led || (!promoted && same && !wants_approval(&request.arguments)) {
            return Approval::Approved;
        }
        if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
            let name = full_name(name.0.as_deref(), &name.1);
            let changes = self.say.tool_has_changed(name, changes.join("; "));
            output::warn_in(self.say, &word(&changes));
        }
        let Some(asker) = &self.asker else {
            let why = nobody(&request, self.say);
            if lock(&self.told).insert(why.clone()) {
                output::warn_in(self.say, &why);
            }
            return Approval::Denied { reason: Some(for_the_model(request.reason).to_owned()) };
        };
        let by_pattern = self.policy().decide(name.0.as_deref(), &name.1, None) == Decision::Allow;
        let value = Value::Object(request.arguments.clone());
        let file = |path: &str| self.existing.text(request.server.as_deref(), path);
        let arguments = arguments(&value, file, self.say);
        // What does not fit on the screen is no call that somebody has seen.
        let is_long = !self.shows_whole(&arguments);
        let mut seen = !is_long;
        let question = question(&request, (self.hints(&name).as_ref(), by_pattern, is_long), self.say);
        loop {
            let Some(line) = asker.ask(&question).await else {
                lock(&self.cancel).cancel();
                // The turn ends, and with it this question.
                return std::future::pending().await;
            };
            match answer(&line, (promoted, is_long)) {
                Some(Answer::Once | Answer::Always) if !seen => {
                    output::warn_in(self.say, self.say.see_arguments_first());
                }
                Some(Answer::Show) => {
                    seen = true;
                    let title = full_name(request.server.as_deref(), &request.tool);
                    let rows = boxes::draw(&title, &arguments, Frame::Drawn, columns());
                    rows.iter().for_each(|row| anstream::eprintln!("{row}"));
                }
                None if promoted => output::warn_in(self.say, self.say.approval_help_once()),
                None => output::warn_in(self.say, self.say.approval_help()),
                Some(Answer::Once) => return Approval::Approved,
                Some(Answer::Always) => {
                    lock(&self.always).insert(name, now);
                    return Approval::Approved;
                }
                Some(Answer::No(None)) => return Approval::Denied { reason: None },
                Some(Answer::No(Some(reason))) => {
                    return Approval::Denied { reason: Some(format!("the user declined the call: {reason}")) };
                }
            }
        }
    }

    /// Whether all of these arguments stand on the screen with the question.
    fn shows_whole(&self, arguments: &str) -> bool {
        match self.quiet {
            true => boxes::width(&word(arguments)) <= LEAST_ARGUMENTS,
            false => fits_screen(arguments),
        }
    }

    /// What the server says of its tool.
    fn hints(&self, (server, tool): &Name) -> Option<Annotations> {
        self.hub.catalog().find(server.as_deref(), tool).ok()?.tool.annotations.clone()
    }

    fn definition(&self, (server, tool): &Name) -> Definition {
        let catalog = self.hub.catalog();
        catalog.find(server.as_deref(), tool).map(|found| Definition::of(found.tool)).unwrap_or_default()
    }
}

/// Whether the tool of this very name calls itself destructive.
fn destroys(server: &Server, name: &str) -> bool {
    server.tools.iter().any(|tool| {
        tool.name == name && tool.annotations.as_ref().is_some_and(|hints| hints.destructive_hint == Some(true))
    })
}

/// Whether the call may only be a draft or an example: each is asked about, whatever is allowed.
fn is_promoted(reason: AskReason) -> bool {
    !matches!(reason, AskReason::FirstUse | AskReason::Changed | AskReason::Policy)
}

/// Why a call was not run that nobody could be asked about, and what runs it.
fn nobody(request: &ApprovalRequest, say: Phrases) -> String {
    let name = bounded(&full_name(request.server.as_deref(), &request.tool), NAME);
    let why = match request.reason {
        AskReason::Untrusted => say.nobody_untrusted(&name),
        AskReason::Promoted => say.nobody_drafted().to_owned(),
        AskReason::FencedFirst => say.nobody_fenced().to_owned(),
        AskReason::BehindProse => say.nobody_behind_prose().to_owned(),
        AskReason::BeforeProse => say.nobody_before_prose().to_owned(),
        AskReason::InALine => say.nobody_in_a_line().to_owned(),
        AskReason::FencedBehindProse => say.nobody_fenced_behind_prose().to_owned(),
        AskReason::Echoed => say.nobody_echoed().to_owned(),
        AskReason::NoReasoningTag => say.nobody_untagged(&name),
        _ if wants_approval(&request.arguments) => say.nobody_wanted().to_owned(),
        _ => say.nobody_allowed(&name),
    };
    say.was_not_run(name, why)
}

/// The same for the model: what it can do itself.
fn for_the_model(reason: AskReason) -> &'static str {
    match reason {
        AskReason::Untrusted => {
            "nobody is there to approve the call, and what leads to it may be the words of a page or a mail"
        }
        AskReason::FencedFirst => {
            "nobody is there to approve the call, and it may be an example: it stands in a code fence with prose behind it"
        }
        AskReason::BehindProse => {
            "nobody is there to approve the call, and it may be an example: it stands behind prose; a message that begins \
             with the call is taken as meant"
        }
        AskReason::BeforeProse => {
            "nobody is there to approve the call, and it may be an example: prose stands behind it; a message that is the \
             call alone is taken as meant"
        }
        AskReason::InALine => {
            "nobody is there to approve the call, and it may be an example: it does not begin its line; a call at the \
             start of a line is taken as meant"
        }
        AskReason::FencedBehindProse => {
            "nobody is there to approve the call, and it may be an example: it stands in a code fence behind prose; a call \
             outside of fences is taken as meant"
        }
        AskReason::Echoed => {
            "nobody is there to approve the call, and it stands in a result or a file, where everything is data"
        }
        AskReason::NoReasoningTag => {
            "nobody is there to approve the call, and it may only be a draft: it stands behind other text where reasoning \
             was expected; a message that begins with the call is taken as meant"
        }
        _ => "nobody is there to approve the call",
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is done under these locks that could panic half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Most columns of a tool's name in a question.
const NAME: usize = 60;

fn question(
    request: &ApprovalRequest,
    (hints, by_pattern, is_long): (Option<&Annotations>, bool, bool),
    say: Phrases,
) -> String {
    let name = bounded(&full_name(request.server.as_deref(), &request.tool), NAME);
    let arguments = word(&Value::Object(request.arguments.clone()).to_string());
    let keys = |keys: &str| if is_long { format!("{keys}/s") } else { keys.to_owned() };
    let (keys, keys_once) = (keys("y/a/n"), keys("y/n"));
    // The question and its answers stand in one row, with room for a letter, where a little of the call fits in.
    let rest = boxes::width(&say.run_call(&name, &keys)) + 2;
    let room = columns().saturating_sub(rest).clamp(LEAST_ARGUMENTS, ARGUMENTS);
    let call = format!("{name} {}", boxes::fit(&arguments, room));
    let long = match is_long {
        true => format!("{} ", say.arguments_are_long(grouped(arguments.chars().count() as u64))),
        false => String::new(),
    };
    let doubt = match request.reason {
        AskReason::Untrusted => say.behind_untrusted(),
        AskReason::Promoted => say.only_drafted(),
        AskReason::NoReasoningTag => say.maybe_drafted(),
        AskReason::FencedFirst => say.maybe_fenced(),
        AskReason::BehindProse => say.maybe_behind_prose(),
        AskReason::BeforeProse => say.maybe_before_prose(),
        AskReason::InALine => say.maybe_in_a_line(),
        AskReason::FencedBehindProse => say.maybe_fenced_behind_prose(),
        AskReason::Echoed => say.maybe_echoed(),
        _ => return format!("{}\n{long}{}", why(request, hints, by_pattern, say), say.run_call(call, keys)),
    };
    format!("{doubt} {long}{}", say.run_call(call, keys_once))
}

/// What the server says of the tool, and why the call is asked about.
fn why(request: &ApprovalRequest, hints: Option<&Annotations>, by_pattern: bool, say: Phrases) -> String {
    let hint = |says: fn(&Annotations) -> Option<bool>| hints.and_then(says);
    let nature = match (hint(|h| h.destructive_hint), hint(|h| h.read_only_hint)) {
        (Some(true), _) => say.is_destructive(),
        (_, Some(true)) => say.only_reads(),
        (Some(false), _) => say.destroys_nothing(),
        _ => say.says_nothing(),
    };
    match wants_approval(&request.arguments) {
        true => say.model_wants_approval(nature),
        // A pattern is no consent to destroy something.
        false if by_pattern => say.by_pattern_only(nature),
        false => say.nothing_allows_it(nature),
    }
}

/// Reads an answer; only one that cannot be meant for something else counts.
fn answer(line: &str, (promoted, is_long): (bool, bool)) -> Option<Answer> {
    let line = line.trim();
    // With the marks of a Chinese keyboard, too.
    const MARKS: [char; 6] = [' ', ',', ':', '，', '：', '\u{3000}'];
    let (word, rest) = line.split_once(MARKS).unwrap_or((line, ""));
    let rest = rest.trim_start_matches(MARKS);
    match word.to_lowercase().as_str() {
        "y" | "yes" | "是" | "批准" if rest.is_empty() => Some(Answer::Once),
        "a" | "always" | "总是" if rest.is_empty() && !promoted => Some(Answer::Always),
        "s" | "show" | "看" if rest.is_empty() && is_long => Some(Answer::Show),
        "n" | "no" | "否" | "拒绝" => Some(Answer::No(Some(rest.to_owned()).filter(|reason| !reason.is_empty()))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::dialect::Lang;

    const ENGLISH: Phrases = Phrases::of(Lang::En);

    #[test]
    fn an_answer_is_taken_only_where_it_is_one() {
        for (line, expected) in [
            ("y", Some(Answer::Once)),
            (" YES ", Some(Answer::Once)),
            ("a", Some(Answer::Always)),
            ("n", Some(Answer::No(None))),
            ("no, ask me first", Some(Answer::No(Some("ask me first".to_owned())))),
            ("n: too far", Some(Answer::No(Some("too far".to_owned())))),
            ("批准", Some(Answer::Once)),
            ("总是", Some(Answer::Always)),
            ("n，太远了", Some(Answer::No(Some("太远了".to_owned())))),
            ("", None),
            ("yes please", None),
            ("and what about Oslo?", None),
        ] {
            assert_eq!(answer(line, (false, false)), expected, "{line}");
        }
        assert_eq!(answer("a", (true, false)), None, "a draft is approved one by one");
        assert_eq!(answer("s", (false, true)), Some(Answer::Show));
        assert_eq!(answer("s", (false, false)), None, "there is no more to show");
    }

    #[test]
    fn a_question_says_why_a_call_may_only_be_a_draft() {
        for (reason, why) in [
            (AskReason::Promoted, "The model only drafted this call in its reasoning. Run demo.f {}? [y/n] "),
            (
                AskReason::NoReasoningTag,
                "No reasoning tag came, so the model may only have drafted this call. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::FencedFirst,
                "The call stands in a code fence with prose behind it and may be an example. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::BehindProse,
                "The call stands behind prose without a marker and may be an example. Run demo.f {}? [y/n] ",
            ),
            (AskReason::InALine, "The call does not begin its line and may be an example. Run demo.f {}? [y/n] "),
            (AskReason::Echoed, "The call stands in a result or a file and may be another's. Run demo.f {}? [y/n] "),
            (
                AskReason::Policy,
                "The tool does not say whether it changes anything, and nothing allows it yet.\nRun demo.f {}? [y/a/n] ",
            ),
        ] {
            let mut request = ApprovalRequest::new("call_1", "f", serde_json::Map::new(), reason);
            request.server = Some("demo".into());
            assert_eq!(question(&request, (None, false, false), ENGLISH), why);
            assert_eq!(
                nobody(&request, ENGLISH).contains("--allow"),
                matches!(reason, AskReason::Policy | AskReason::NoReasoningTag),
                "{}",
                nobody(&request, ENGLISH)
            );
        }
    }

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
            assert_eq!(why(&request, Some(&hints), false, ENGLISH), says);
        }
        request.arguments.insert("requires_approval".to_owned(), true.into());
        assert!(why(&request, None, false, ENGLISH).ends_with("and the model wants this call approved."));
    }

    #[test]
    fn deny_wins_and_what_no_glob_names_is_asked_about() {
        let args = CallArgs {
            allow: vec!["files.*".into()],
            deny: vec!["*.delete_*".into()],
            untrusted: Vec::new(),
            yes: false,
        };
        let approving = {
            let mut server = ServerConfig::stdio("web", "x", [""; 0]);
            server.auto_approve = vec!["get_*".into()];
            server
        };
        let policy = policy(&args, std::slice::from_ref(&approving));
        assert_eq!(policy.decide(Some("files"), "read", None), Decision::Allow);
        assert_eq!(policy.decide(Some("files"), "delete_all", None), Decision::Deny);
        assert_eq!(policy.decide(Some("web"), "search", None), Decision::Ask);
        assert_eq!(policy.decide(Some("web"), "get_page", None), Decision::Allow, "autoApprove");
        assert_eq!(policy.decide(Some("other"), "get_page", None), Decision::Ask, "of that server alone");
        let yes = super::policy(&CallArgs { yes: true, ..args }, &[approving]);
        assert_eq!(yes.decide(Some("web"), "search", None), Decision::Allow);
        assert_eq!(yes.decide(Some("files"), "delete_all", None), Decision::Deny);
    }
}
