//! Classifies tools by their effect: by their annotations, or by their names and descriptions if they have none.
//!
//! Names only affect what is shown and proposed, never what may run: the policy decides that, by annotations alone.

use super::Tool;
use crate::tools::words::{is_of, name_words};

/// Effect of a tool, by its name and description.
#[cfg(feature = "agent")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Looks,
    Changes,
    Computes,
    Unknown,
}

/// Returns the effect of a verb, in its base form or the third person; `None` for any other word.
#[cfg(feature = "agent")]
fn effect(verb: &str) -> Option<Effect> {
    let is_one = |kind: &str| {
        let base = [Some(verb), verb.strip_suffix('s'), verb.strip_suffix("es")];
        base.into_iter().flatten().any(|verb| is_of(kind, verb))
    };
    let verbs = [
        ("changes", Effect::Changes),
        ("destroys", Effect::Changes),
        ("looks", Effect::Looks),
        ("computes", Effect::Computes),
    ];
    verbs.into_iter().find(|(kind, _)| is_one(kind)).map(|(_, effect)| effect)
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
    // In `book_status` the description says what the tool does; without one, or for a single word, the name
    // has to.
    let says = first.is_some_and(|word| word.is_ascii());
    let may_be_noun = says && words.first().is_some_and(|word| is_of("noun", word) && words.len() > 1);
    let mut verbs = named.clone().take(1).filter(|_| !may_be_noun).chain(first).chain(named.skip(1));
    // Nothing is known of a tool without a description, and `ssh_command` may do anything.
    let runs = || first.is_none() || words.iter().any(|word| is_of("runs", word));
    let otherwise = || match () {
        () if runs() => Effect::Unknown,
        () if is_order(description) => Effect::Changes,
        () => Effect::Looks,
    };
    verbs.find_map(effect).unwrap_or_else(otherwise)
}

/// Returns `true` if a description begins with a verb and its object: "Inflate a tyre".
#[cfg(feature = "agent")]
fn is_order(description: &str) -> bool {
    let mut words = description.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let verb = words.next().filter(|word| !is_of("no_verb", word));
    verb.and_then(|_| words.next()).is_some_and(|word| is_of("determiner", word))
}

/// Returns `true` if the tool opens the page of an address: Playwright's server calls its `browser_navigate` destructive,
/// but a question about a site is not answered without it.
#[cfg(feature = "agent")]
fn opens_page(tool: &Tool) -> bool {
    let is_opening =
        |word: &String| ["goto", "navigate", "open", "visit"].iter().any(|verb| word.eq_ignore_ascii_case(verb));
    let mut required = tool.parameters().filter(|parameter| parameter.required).map(|parameter| parameter.name);
    let takes_address = matches!((required.next(), required.next()), (Some("url" | "uri"), None));
    takes_address && name_words(&tool.name).iter().any(is_opening)
}

/// Returns `true` if the tool is marked read-only or opens a page, `false` if it is marked otherwise; `None` without that
/// hint.
#[cfg(feature = "agent")]
fn says_it_reads(tool: &Tool) -> Option<bool> {
    if opens_page(tool) {
        return Some(true);
    }
    tool.annotations.as_ref()?.read_only_hint
}

/// Returns `true` if a call of the tool may destroy something, by its annotations or its name.
pub(crate) fn is_destructive(tool: &Tool) -> bool {
    let says = || tool.annotations.as_ref().is_some_and(|hints| hints.destructive_hint == Some(true));
    // The server's own word counts before the name.
    !tool.is_read_only() && (says() || name_words(&tool.name).iter().any(|part| is_of("destroys", part)))
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
            ("list-my-orders", "查询当前用户未出行的订单列表。", true, false),
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
        for (name, member, looks) in [
            ("browser_navigate", "url", true),
            ("open_url", "url", true),
            ("browser_navigate", "text", false),
            ("delete_page", "url", false),
        ] {
            let annotations = Annotations { read_only_hint: Some(false), ..Annotations::default() };
            let schema = serde_json::json!({"properties": {(member): {"type": "string"}}, "required": [member]});
            let tool = Tool { annotations: Some(annotations), ..Tool::new(name).with_schema(schema) };
            assert_eq!((looks_up(&tool), may_change(&tool)), (looks, !looks), "{name} {member}");
        }
    }
}
