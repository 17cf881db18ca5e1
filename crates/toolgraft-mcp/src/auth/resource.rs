//! The resource that a token is for: a server's URL, without the parts that do not identify it.

use reqwest::Url;

use super::error::LoginError;
use crate::config::HostReach;

/// A server's URL as the resource of RFC 8707: without user, password, query and fragment, which may hold a
/// secret and must not reach anybody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource(Url);

impl Resource {
    /// Returns the resource of a server's URL, or an error if no token may be sent there, since it is neither https nor
    /// on this machine.
    pub(super) fn of(url: &str) -> Result<Self, LoginError> {
        let mut url = Url::parse(url).map_err(|e| LoginError::NotForLogins(format!("it has no URL ({e})")))?;
        if !is_private_way(&url) {
            let why = "a token is sent over https only, or to this machine: its URL is neither";
            return Err(LoginError::NotForLogins(why.to_owned()));
        }
        url.set_query(None);
        url.set_fragment(None);
        // Neither can fail for a URL with a host.
        let _ = (url.set_username(""), url.set_password(None));
        Ok(Resource(url))
    }

    pub(super) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(super) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    pub(super) fn way_in(&self) -> HostReach {
        HostReach::to(&self.0)
    }
}

/// Returns `true` if nobody on the network can read a request to this URL: it uses https, or is http on this
/// machine.
pub(super) fn is_private_way(url: &Url) -> bool {
    url.scheme() == "https" && url.has_host() || url.scheme() == "http" && HostReach::to(url) == HostReach::ThisMachine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_the_url_without_what_may_be_secret() {
        let resource = Resource::of("https://me:pw@Host.example:443/mcp?key=k#x").unwrap();
        assert_eq!(resource.as_str(), "https://host.example/mcp");
    }

    #[test]
    fn a_token_goes_over_https_or_stays_on_this_machine() {
        for url in ["https://h/mcp", "http://127.0.0.1:8/mcp", "http://[::1]/mcp", "http://localhost/mcp"] {
            assert!(Resource::of(url).is_ok(), "{url}");
        }
        for url in ["http://h/mcp", "http://192.168.0.1/mcp", "http://localhost.example/", "ftp://localhost/", "x"] {
            assert!(Resource::of(url).is_err(), "{url}");
        }
    }
}
