//! Completions after the name of a server's prompt or in a URI: names of arguments, and the
//! values that the server proposes for them.

use std::collections::HashMap;
use std::time::Duration;

use tokio::runtime::Handle;

use toolgraft::route::Toolbox;
use toolgraft_mcp::{Hub, McpPrompt};

/// Longest wait of somebody who has pressed the tabulator.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns the completions for a prompt's argument after these, of which another has `begun`.
/// Not from within the runtime: the server is asked.
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

/// Returns the resources of a server whose URIs begin so; of a template that ends in a variable, the
/// values that the server proposes.
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

/// Waits for what a server proposes: whoever types needs no server to go on.
fn proposed<E>(runtime: &Handle, asked: impl Future<Output = Result<Vec<String>, E>>) -> Vec<String> {
    let values = runtime.block_on(async { tokio::time::timeout(PATIENCE, asked).await });
    values.ok().and_then(Result::ok).unwrap_or_default()
}

/// Returns the names that were not given yet, each as its value follows.
pub(crate) fn unnamed<'a>(names: impl Iterator<Item = &'a str>, given: &[&str]) -> Vec<String> {
    let is_given = |name: &str| given.iter().any(|word| word.split_once('=').is_some_and(|(known, _)| known == name));
    names.filter(|name| !is_given(name)).map(|name| format!("{name}=")).collect()
}
