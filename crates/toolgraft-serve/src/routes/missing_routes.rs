//! Messages for paths that this server does not have, with the setting that corrects the client.

use axum::http::{HeaderMap, header};

use toolgraft_protocol::{Fault, is_doubled};

/// Paths below `/v1` as clients request them if their base URL lacks it.
const BELOW_V1: [&str; 7] =
    ["/chat/completions", "/messages", "/responses", "/completions", "/embeddings", "/models", "/v1beta/openai"];

/// Returns the fault (HTTP 404) of a request for a path that does not exist.
pub(crate) fn fault(path: &str, headers: &HeaderMap) -> Fault {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    Fault::door(404, "not_found", missing(path, host))
}

/// Returns the message for a path that does not exist, with the remedy where a setting of the
/// client is wrong. `host` is the name under which the client reached the server.
fn missing(path: &str, host: Option<&str>) -> String {
    let base = format!("http://{}", host.unwrap_or("127.0.0.1:8787"));
    let there_is = format!("there is no {path} here");
    let is_below = |path: &str| BELOW_V1.iter().any(|known| path == *known || path.starts_with(&format!("{known}/")));
    if path.starts_with("/openai/") {
        // Azure's clients, by the deployment or with /openai/v1.
        return format!("{there_is}: Azure's paths are not known; set the base URL {base}/v1 in an OpenAI client");
    }
    if path.strip_prefix("/api/v1").is_some_and(is_below) {
        return format!("{there_is}: set the base URL {base}/v1");
    }
    if is_doubled(path) {
        return format!("{there_is}: this client adds the version itself; set the base URL {base}");
    }
    if path.starts_with("/V1") {
        return format!("{there_is}: paths are in lower case; set the base URL {base}/v1");
    }
    if path == "/v1/chat" {
        return format!("{there_is}: the path is /v1/chat/completions, below the base URL {base}/v1");
    }
    // Clients that check the base URL itself ask for `/v1`, others leave `/v1` out.
    if is_below(path) || path == "/v1" || path == "/v1/" {
        return format!("{there_is}: the base URL of an OpenAI client ends in /v1; set {base}/v1");
    }
    there_is
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn a_wrong_base_url_is_named_with_the_right_one() {
        let host = Some("localhost:8787");
        for (path, remedy) in [
            ("/chat/completions", "set http://localhost:8787/v1"),
            ("/messages/count_tokens", "set http://localhost:8787/v1"),
            ("/models", "set http://localhost:8787/v1"),
            ("/v1", "set http://localhost:8787/v1"),
            ("/v1/v1/messages", "set the base URL http://localhost:8787"),
            ("/v1/api/chat", "set the base URL http://localhost:8787"),
            ("/api/api/chat", "set the base URL http://localhost:8787"),
            ("/v1beta/v1beta/models/m:generateContent", "set the base URL http://localhost:8787"),
            ("/V1/chat/completions", "set the base URL http://localhost:8787/v1"),
            ("/v1/chat", "the path is /v1/chat/completions"),
            ("/api/v1/chat/completions", "set the base URL http://localhost:8787/v1"),
            ("/openai/deployments/m/chat/completions", "set the base URL http://localhost:8787/v1"),
        ] {
            let told = missing(path, host);
            assert!(told.starts_with(&format!("there is no {path} here: ")) && told.contains(remedy), "{told}");
        }
        assert_eq!(missing("/favicon.ico", host), "there is no /favicon.ico here");
    }
}
