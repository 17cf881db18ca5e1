//! Classifies tools by their effect: by their annotations, or by their names and descriptions if they have none.
//!
//! Names only affect what is shown and proposed, never what may run: the policy decides that, by annotations alone.

use super::Tool;

/// Verbs of tools that destroy something.
const DESTROYING: &[&str] =
    &["delete", "remove", "drop", "erase", "wipe", "purge", "destroy", "kill", "truncate", "uninstall", "reset"];

/// Verbs of tools that look something up.
#[cfg(feature = "agent")]
const LOOKING: &[&str] = &[
    "access", "analyze", "ask", "browse", "check", "compare", "count", "crawl", "describe", "detect", "determine",
    "discover", "display", "enumerate", "evaluate", "examine", "explain", "explore", "extract", "fetch", "filter",
    "find", "get", "identify", "inspect", "list", "locate", "look", "looksup", "lookup", "measure", "monitor",
    "observe", "peek", "poll", "predict", "preview", "print", "provide", "query", "rank", "read", "recommend",
    "resolve", "retrieve", "return", "scan", "scrape", "search", "show", "suggest", "summarize", "tell", "trace",
    "track", "verify", "view",
];

/// Verbs of tools that change something.
#[cfg(feature = "agent")]
const CHANGING: &[&str] = &[
    "accept", "activate", "add", "adjust", "allow", "append", "apply", "approve", "archive", "assign", "attach", "ban",
    "block", "book", "build", "buy", "cancel", "change", "checkout", "clear", "click", "clone", "close", "commit",
    "complete", "configure", "confirm", "connect", "copy", "create", "deactivate", "decline", "decrease", "deliver",
    "deny", "deploy", "deposit", "detach", "disable", "disconnect", "dismiss", "dispatch", "download", "draft", "drag",
    "duplicate", "edit", "enable", "enqueue", "enroll", "execute", "export", "fill", "finish", "fork", "forward",
    "freeze", "grant", "hide", "import", "increase", "ingest", "initialize", "insert", "install", "invite", "invoke",
    "join", "launch", "leave", "lock", "login", "logout", "lower", "make", "manage", "mark", "merge", "migrate",
    "modify", "move", "mute", "navigate", "notify", "open", "order", "pause", "pay", "perform", "place", "play",
    "post", "press", "promote", "provision", "publish", "pull", "purchase", "push", "put", "raise", "reboot", "record",
    "refresh", "refund", "regenerate", "register", "reject", "rename", "renew", "reorder", "replace", "reply",
    "reschedule", "reserve", "resize", "restart", "restore", "resume", "revoke", "rotate", "run", "save", "scale",
    "schedule", "sell", "send", "set", "share", "snooze", "start", "stop", "submit", "subscribe", "swap", "swipe",
    "switch", "sync", "take", "terminate", "toggle", "transfer", "trigger", "turn", "type", "unarchive", "unassign",
    "unblock", "unfollow", "unlink", "unlock", "unmerge", "unmute", "unpause", "unpin", "unpublish", "unsubscribe",
    "untag", "update", "upgrade", "upload", "upsert", "withdraw", "write",
];

/// Verbs of tools that work with nothing but their arguments.
#[cfg(feature = "agent")]
const COMPUTING: &[&str] = &[
    "calculate", "compute", "convert", "decode", "echo", "encode", "estimate", "format", "generate", "optimize",
    "parse", "think", "translate", "validate", "wait",
];

/// Verbs that are nouns as well: `book_room`, `book_status`. The description decides.
#[cfg(feature = "agent")]
const NOUNS: &[&str] = &[
    "access", "book", "build", "change", "check", "copy", "count", "display", "draft", "filter", "format", "list",
    "lock", "look", "mark", "measure", "monitor", "order", "peek", "place", "play", "poll", "post", "preview", "query",
    "rank", "record", "run", "scale", "search", "share", "start", "swap", "trace", "track", "type", "view",
];

/// Words in the names of tools that run anything.
#[cfg(feature = "agent")]
const RUNNING: &[&str] = &["bash", "cmd", "command", "console", "exec", "script", "shell", "terminal"];

/// The effect of a tool without annotations.
#[cfg(feature = "agent")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Looks,
    Changes,
    Computes,
    Unknown,
}

/// Returns the effect of a verb, in its base form or the third person.
#[cfg(feature = "agent")]
fn effect(verb: &str) -> Option<Effect> {
    let is_one = |words: &[&str]| {
        let base = [Some(verb), verb.strip_suffix('s'), verb.strip_suffix("es")];
        base.into_iter().flatten().any(|verb| is_of(words, verb))
    };
    let verbs = [
        (CHANGING, Effect::Changes),
        (DESTROYING, Effect::Changes),
        (LOOKING, Effect::Looks),
        (COMPUTING, Effect::Computes),
    ];
    verbs.into_iter().find(|(words, _)| is_one(words)).map(|(_, effect)| effect)
}

/// Returns a tool's effect by the verb at the beginning of its name, else of its description, else anywhere in its name
/// (of 2,774 tools of public servers half have no verb at the beginning of their names). A description that begins with
/// another verb says what is done: "Inflate a tyre". A tool without a verb is named after its result: `forecast`.
#[cfg(feature = "agent")]
fn named_effect(tool: &Tool) -> Effect {
    let words = name_words(&tool.name);
    let description = tool.description.as_deref().unwrap_or_default();
    let first = description.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let named = words.iter().map(String::as_str);
    let may_be_noun = first.is_some() && words.first().is_some_and(|word| is_of(NOUNS, word) && words.len() > 1);
    let mut verbs = named.clone().take(1).filter(|_| !may_be_noun).chain(first).chain(named.skip(1));
    let runs = || first.is_none() || words.iter().any(|word| is_of(RUNNING, word));
    let otherwise = || match () {
        () if runs() => Effect::Unknown,
        () if is_order(description) => Effect::Changes,
        () => Effect::Looks,
    };
    verbs.find_map(effect).unwrap_or_else(otherwise)
}

/// Words that follow a verb at the beginning of a description.
#[cfg(feature = "agent")]
const DETERMINERS: &[&str] = &["a", "all", "an", "any", "each", "existing", "multiple", "one", "the", "this", "your"];

/// Words that begin a description and are no verbs, although one of those may follow.
#[cfg(feature = "agent")]
const NO_VERBS: &[&str] = &[
    "about", "after", "all", "are", "as", "at", "before", "both", "by", "during", "for", "from", "given", "how", "if",
    "in", "is", "like", "of", "on", "once", "only", "per", "to", "what", "when", "where", "whether", "which", "who",
    "why", "with", "within", "without",
];

/// Returns `true` if a description begins with a verb and its object: "Inflate a tyre".
#[cfg(feature = "agent")]
fn is_order(description: &str) -> bool {
    let mut words = description.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let verb = words.next().filter(|word| !is_of(NO_VERBS, word));
    verb.and_then(|_| words.next()).is_some_and(|word| is_of(DETERMINERS, word))
}

/// Returns the words of a name: `list`, `all`, `Events` for `list_allEvents`.
pub(crate) fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_lower = false;
    for c in name.chars() {
        let parts = !c.is_alphanumeric();
        if parts || is_lower && c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| !parts) {
            word.push(c);
        }
        is_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_of(words: &[&str], part: &str) -> bool {
    words.iter().any(|word| part.eq_ignore_ascii_case(word))
}

/// Returns `true` if the tool is marked read-only, `false` if it is marked otherwise; `None` without that hint.
#[cfg(feature = "agent")]
fn says_it_reads(tool: &Tool) -> Option<bool> {
    let says = tool.annotations.as_ref().is_some_and(|hints| hints.read_only_hint.is_some());
    (says || tool.is_read_only()).then(|| tool.is_read_only())
}

/// Returns `true` if a call of the tool may destroy something, by its annotations or its name.
pub(crate) fn is_destructive(tool: &Tool) -> bool {
    let says = || tool.annotations.as_ref().is_some_and(|hints| hints.destructive_hint == Some(true));
    !tool.is_read_only() && (says() || name_words(&tool.name).iter().any(|part| is_of(DESTROYING, part)))
}

/// Returns `true` if the tool looks something up, by its annotations or what it is called.
#[cfg(feature = "agent")]
pub(crate) fn looks_up(tool: &Tool) -> bool {
    says_it_reads(tool).unwrap_or_else(|| named_effect(tool) == Effect::Looks)
}

/// Returns `true` if the tool looks something up or computes it from its arguments, and so changes nothing.
#[cfg(feature = "agent")]
pub(crate) fn changes_nothing(tool: &Tool) -> bool {
    says_it_reads(tool).unwrap_or_else(|| matches!(named_effect(tool), Effect::Looks | Effect::Computes))
}

/// Returns `true` if the tool's name says that it lists items.
#[cfg(feature = "agent")]
pub(crate) fn lists(tool: &Tool) -> bool {
    name_words(&tool.name).first().is_some_and(|part| part.eq_ignore_ascii_case("list"))
}

/// Returns `true` if the tool may change something, by its annotations or what it is called.
#[cfg(feature = "agent")]
pub(crate) fn may_change(tool: &Tool) -> bool {
    let is_named = || is_destructive(tool) || named_effect(tool) == Effect::Changes;
    says_it_reads(tool).map_or_else(is_named, |reads| !reads)
}

#[cfg(all(test, feature = "agent"))]
mod tests {
    use super::*;
    use crate::tools::Annotations;

    #[test]
    fn a_verb_of_the_name_or_the_description_tells_the_effect_of_a_tool() {
        for (name, description, looks, changes) in [
            ("git_diff", "Shows the differences", true, false),
            ("git_add", "Adds files to the index", false, true),
            ("slack_get_thread_replies", "", true, false),
            ("listNotionDatabases", "All of them", true, false),
            ("forecast", "Forecast for the next days", true, false),
            ("book_status", "Tells whether a book is lent", true, false),
            ("order_history", "Past orders", true, false),
            ("book_room", "Book a room for a day", false, true),
            ("book_room", "", false, true),
            ("permanently_ignore", "Set the status of a group", false, true),
            ("convert_time", "Convert a time between zones", false, false),
            ("ssh_command", "Command on a host", false, false),
            ("bash", "Run a command", false, true),
            ("bing_search", "使用必应搜索指定的关键词", true, false),
            ("vim", "", false, false),
            ("scale_deployment", "Scale a deployment", false, true),
            ("refund_order", "Refund an order, in full or in part", false, true),
            ("tyre", "Inflate a tyre", false, true),
            ("book_state", "Whether a copy is on the shelf", true, false),
            ("track_shipment", "Track a shipment", true, false),
        ] {
            let tool = Tool::new(name).with_description(description);
            assert_eq!((looks_up(&tool), may_change(&tool)), (looks, changes), "{name}");
        }
    }

    #[test]
    fn what_a_tool_says_counts_before_its_name() {
        for (name, says, looks, changes, destroys) in [
            ("get_ticket", None, true, false, false),
            ("get_ticket", Some(false), false, true, false),
            ("weather", None, false, false, false),
            ("assign_ticket", None, false, true, false),
            ("assign_ticket", Some(true), true, false, false),
            ("db-purge", None, false, true, true),
            ("delete_file", Some(true), true, false, false),
            ("playlist", None, false, false, false),
        ] {
            let annotations = Annotations { read_only_hint: says, ..Annotations::default() };
            let tool = Tool { annotations: Some(annotations), ..Tool::new(name) };
            let found = (looks_up(&tool), may_change(&tool), is_destructive(&tool));
            assert_eq!(found, (looks, changes, destroys), "{name} {says:?}");
        }
    }
}
