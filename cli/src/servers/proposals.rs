//! Completions after the name of a server's prompt or in a URI: names of arguments, and the
//! values that the server proposes for them.

use std::collections::HashMap;
use std::time::Duration;

use tokio::runtime::Handle;

use toolgraft::route::Toolbox;
use toolgraft_mcp::{Hub, McpPrompt};

/// Maximum time to wait for a server's completions after the Tab key.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns the completions for the next argument of a prompt, after the `given` ones, where the word `begun` is typed.
/// Must not be called within the runtime, since it blocks on a request to the server.
pub(crate) fn of_prompt(
    (hub, runtime): (&Hub, &Handle),
    prompt: &McpPrompt,
    given: &[&str],
    begun: &str,
) -> Vec<String> {
    let names = prompt.arguments.iter().map(|argument| argument.name.as_str());
    let Some((name, value)) = begun.split_once('=') else { return unnamed(names, given) };
    let others: HashMap<String, String> =
        given.iter().filter_map(|word| word.split_once('=')).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
    let asked = hub.complete_prompt(&prompt.server, &prompt.name, (name, value), others);
    proposed(runtime, asked).into_iter().map(|value| format!("{name}={value}")).collect()
}

/// Returns candidate URIs of a server's resources; for templates with one variable at their end, the values that the
/// server proposes, or the text before the variable. The candidates are not filtered by `begun`.
pub(crate) fn of_uri((hub, runtime): (&Hub, &Handle), server: &str, begun: &str) -> Vec<String> {
    let catalog = hub.catalog();
    let Some(offer) = catalog.server(server) else { return Vec::new() };
    let mut uris: Vec<String> = offer.resources.iter().map(|resource| resource.uri.clone()).collect();
    for template in &offer.resource_templates {
        let variable = template.uri_template.strip_suffix('}').and_then(|template| template.rsplit_once('{'));
        // The other variables of a template would have to be known first.
        let Some((before, name)) = variable.filter(|(before, _)| !before.contains('{')) else { continue };
        let Some(value) = begun.strip_prefix(before) else {
            uris.push(before.to_owned());
            continue;
        };
        let asked = hub.complete_template(server, &template.uri_template, (name, value));
        uris.extend(proposed(runtime, asked).into_iter().map(|value| format!("{before}{value}")));
    }
    uris
}

/// Waits for a server's completions up to a time limit; empty after it or on an error, since the user can type on.
fn proposed<E>(runtime: &Handle, asked: impl Future<Output = Result<Vec<String>, E>>) -> Vec<String> {
    let values = runtime.block_on(async { tokio::time::timeout(PATIENCE, asked).await });
    values.ok().and_then(Result::ok).unwrap_or_default()
}

/// Returns `NAME=` for each argument name that is not among the given arguments.
pub(crate) fn unnamed<'a>(names: impl Iterator<Item = &'a str>, given: &[&str]) -> Vec<String> {
    let is_given = |name: &str| given.iter().any(|word| word.split_once('=').is_some_and(|(known, _)| known == name));
    names.filter(|name| !is_given(name)).map(|name| format!("{name}=")).collect()
}
