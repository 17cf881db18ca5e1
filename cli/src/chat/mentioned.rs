//! Resources of servers that a question names: `@SERVER:URI`. They go with it as files do.

use toolgraft_mcp::Hub;

use super::attached::Attached;
use crate::base::{Failure, media};
use crate::dialog::elicit::Questions;
use crate::mcp::read;
use toolgraft::route::Toolbox;

/// Characters that end a sentence and seldom a URI.
const ENDS: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '。', '，', '；', '：', '！', '？', '）'];

/// The resources in a question, by server and URI, each once. A word that begins like one and names
/// no server is a word.
fn mentions(question: &str, hub: &Hub) -> Vec<(String, String)> {
    let catalog = hub.catalog();
    let servers = hub.config().servers().iter().map(|server| server.name.as_str());
    let servers: Vec<&str> = servers.collect();
    let mut found = Vec::new();
    for word in question.split_whitespace() {
        let named = word.strip_prefix('@').and_then(|word| {
            // A server's name may hold a colon.
            servers.iter().find_map(|server| Some((*server, word.strip_prefix(*server)?.strip_prefix(':')?)))
        });
        let Some((server, uri)) = named.filter(|(_, uri)| !uri.is_empty()) else { continue };
        let offer = catalog.server(server);
        let is_listed = offer.is_some_and(|offer| offer.resources.iter().any(|resource| resource.uri == uri));
        let uri = if is_listed { uri } else { uri.trim_end_matches(ENDS) };
        let mention = (server.to_owned(), uri.to_owned());
        if !uri.is_empty() && !found.contains(&mention) {
            found.push(mention);
        }
    }
    found
}

/// Reads the resources that a question names, and says which they are. One that cannot be read keeps the question from
/// being sent; so does one of a server whose words nobody trusts, since what it says would stand
/// in the person's own message.
pub(super) async fn read(
    question: &str,
    hub: &Hub,
    untrusted: &[String],
    questions: &Questions,
) -> Result<Attached, Failure> {
    let mut attached = Attached::default();
    for (server, uri) in mentions(question, hub) {
        let name = format!("@{server}:{uri}");
        if untrusted.contains(&server) {
            return Err(Failure::usage(format!(
                "{name}: its server is untrusted (--untrusted), and a resource would become a part of your own \
                 message: let the model read it"
            )));
        }
        let outcome = read::resource(hub, (&server, &uri), questions).await;
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

/// Returns the completions of a mention that has begun: servers that have resources, then the resources of the named
/// server, and where the URIs of its templates begin.
pub(super) fn following(begun: &str, hub: &Hub) -> Vec<String> {
    let mut found = Vec::new();
    for server in hub.catalog().servers() {
        let sign = format!("@{}:", server.name.as_deref().unwrap_or_default());
        let templates = server.resource_templates.iter().filter_map(|known| known.uri_template.split('{').next());
        let uris = server.resources.iter().map(|resource| resource.uri.as_str()).chain(templates);
        let words = uris.map(|uri| if begun.starts_with(&sign) { format!("{sign}{uri}") } else { sign.clone() });
        found.extend(words);
        found.dedup();
    }
    found
}
