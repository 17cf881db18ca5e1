//! Resources of servers that a question names: `@SERVER:URI`. They go with it as files do.

use toolgraft_mcp::Hub;

use super::attached::Attached;
use crate::base::{Failure, media, words::near};
use crate::front::Terminal;
use crate::mcp::read;
use crate::screen::visible::word as shown;
use toolgraft::route::Toolbox;

/// Characters that end a sentence and rarely a URI.
const ENDS: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '。', '，', '；', '：', '！', '？', '）'];

/// Returns the mentioned resources of a question, as server and URI, each once. A mention `@NAME:SCHEME://…` of an
/// unknown server is an error; other words with `@` are plain text.
fn mentions(question: &str, hub: &Hub) -> Result<Vec<(String, String)>, Failure> {
    let catalog = hub.catalog();
    let servers = hub.config().servers().iter().map(|server| server.name.as_str());
    let servers: Vec<&str> = servers.collect();
    let mut found = Vec::new();
    for word in question.split_whitespace() {
        let named = word.strip_prefix('@').and_then(|word| {
            // A server's name may hold a colon.
            servers.iter().find_map(|server| Some((*server, word.strip_prefix(*server)?.strip_prefix(':')?)))
        });
        let Some((server, uri)) = named.filter(|(_, uri)| !uri.is_empty()) else {
            unknown_server(word, &servers).map_or(Ok(()), Err)?;
            continue;
        };
        let offer = catalog.server(server);
        let is_listed = offer.is_some_and(|offer| offer.resources.iter().any(|resource| resource.uri == uri));
        // A URI that the server lists may end in such a character; another one ends where the sentence
        // does.
        let uri = if is_listed { uri } else { uri.trim_end_matches(ENDS) };
        let mention = (server.to_owned(), uri.to_owned());
        if !uri.is_empty() && !found.contains(&mention) {
            found.push(mention);
        }
    }
    Ok(found)
}

/// Returns a failure if a word can only be a mention of a resource, but its server does not exist.
fn unknown_server(word: &str, servers: &[&str]) -> Option<Failure> {
    let (server, uri) = word.strip_prefix('@')?.split_once(':')?;
    let (scheme, _) = uri.split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if server.is_empty() || scheme.is_empty() || !scheme.chars().all(is_scheme) {
        return None;
    }
    let near = match near(server, servers.iter().copied()) {
        Some(near) => format!("; nearest: {}", shown(near)),
        None => String::new(),
    };
    Some(Failure::usage(format!("{}: no server {}{near}", shown(word), shown(server))))
}

/// Reads the resources that a question mentions, as attached files. The question cannot be sent if one of them cannot
/// be read or belongs to an untrusted server, whose text would be in the user's own message.
pub(super) async fn read(
    question: &str,
    hub: &Hub,
    untrusted: &[String],
    terminal: Option<&Terminal>,
) -> Result<Attached, Failure> {
    let mut attached = Attached::default();
    for (server, uri) in &mentions(question, hub)? {
        let name = format!("@{server}:{uri}");
        if untrusted.contains(server) {
            return Err(Failure::usage(format!(
                "{name}: its server is untrusted (--untrusted), and a resource would become a part of your own \
                 message: let the model read it"
            )));
        }
        let outcome = read::resource(hub, (server, uri), terminal).await;
        if !outcome.is_result() {
            return Err(Failure::job(format!("{name}: {}", outcome.text.trim_end())));
        }
        let media = media::of(&outcome)?;
        if media.is_empty() {
            attached.take(&name, outcome.text.into_bytes(), "resource")?;
        }
        media.into_iter().try_for_each(|(_, bytes)| attached.take(&name, bytes, "resource"))?;
    }
    Ok(attached)
}

/// Returns the completions of a mention that begins with `begun`: servers that have resources, then the resources of
/// the named server.
pub(super) fn following(begun: &str, hub: &Hub, uris: impl Fn(&str, &str) -> Vec<String>) -> Vec<String> {
    let catalog = hub.catalog();
    let offers = catalog.servers().iter().filter(|s| !s.resources.is_empty() || !s.resource_templates.is_empty());
    let names = offers.filter_map(|server| server.name.as_deref());
    let words = names.flat_map(|server| match begun.strip_prefix(&format!("@{server}:")) {
        Some(uri) => uris(server, uri).into_iter().map(|uri| format!("@{server}:{uri}")).collect(),
        None => vec![format!("@{server}:")],
    });
    words.collect()
}
