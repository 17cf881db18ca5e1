//! What a client says of itself at a URL of its own: a client ID metadata document
//! (draft-ietf-oauth-client-id-metadata-document), which stands in the place of a registration.

use reqwest::Url;
use serde_json::{Value, json};

use super::error::LoginError;
use super::listener::redirect_uri;
use super::login::CLIENT_NAME;

/// The document to publish at `id`, an https URL with a path, which is the `clientId` of a server's
/// entry from then on. With a `port` it is for the `callbackPort` of that number alone; without
/// one the authorization server must take any port of 127.0.0.1 (RFC 8252, 7.3).
///
/// # Errors
/// No authorization server would take such a URL.
pub fn client_document(id: &str, port: Option<u16>) -> Result<Value, LoginError> {
    let wrong = |why: &str| LoginError::NotForLogins(format!("{id:?} cannot be the id of a client: {why}"));
    let url = Url::parse(id).map_err(|e| wrong(&e.to_string()))?;
    let has_dots = id.split(['/', '?']).any(|part| part == "." || part == "..");
    match () {
        () if url.scheme() != "https" => Err(wrong("it must begin with https://")),
        () if url.path() == "/" => Err(wrong("it needs a path, such as /toolgraft.json")),
        () if url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() || has_dots => {
            Err(wrong("it has a fragment, a user or dots as a part of its path"))
        }
        // It is compared letter by letter.
        () if url.as_str() != id => Err(wrong(&format!("write it as {url}"))),
        () => Ok(json!({
            "client_id": id,
            "client_name": CLIENT_NAME,
            "redirect_uris": [redirect_uri(port)],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_names_its_own_place_and_where_the_browser_goes() {
        let id = "https://example.com/toolgraft.json";
        let document = client_document(id, None).unwrap();
        assert_eq!(
            (&document["client_id"], &document["redirect_uris"][0]),
            (&json!(id), &json!("http://127.0.0.1/callback"))
        );
        let document = client_document(id, Some(8765)).unwrap();
        assert_eq!(document["redirect_uris"], json!(["http://127.0.0.1:8765/callback"]));
        for (id, why) in [
            ("http://example.com/a", "https://"),
            ("https://example.com", "needs a path"),
            ("https://me@example.com/a", "a user"),
            ("https://example.com/a#b", "a fragment"),
            ("https://example.com/a/../b", "dots"),
            ("https://Example.com/a", "write it as https://example.com/a"),
            ("a", "cannot be the id"),
        ] {
            let refused = client_document(id, None).unwrap_err().to_string();
            assert!(refused.contains(why), "{id}: {refused}");
        }
    }
}
