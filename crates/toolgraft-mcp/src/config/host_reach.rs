//! Network distance of a URL's host.

use std::net::IpAddr;

use reqwest::Url;

/// The group of hosts that can reach a host, judged by its name or address alone. Names are not
/// resolved here: rmcp checks the resolved address when it connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostReach {
    Anybody,
    Neighbours,
    ThisMachine,
}

impl HostReach {
    pub(crate) fn to(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        // `::ffff:10.0.0.1` is the same host as 10.0.0.1.
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match address.map(|address| address.to_canonical()) {
            // A connection to `0.0.0.0` or `[::]` reaches this machine.
            Ok(address) if address.is_loopback() || address.is_unspecified() => HostReach::ThisMachine,
            Ok(IpAddr::V4(address)) if address.is_private() || address.is_link_local() => HostReach::Neighbours,
            Ok(IpAddr::V6(address)) if address.is_unique_local() || address.is_unicast_link_local() => {
                HostReach::Neighbours
            }
            Ok(_) => HostReach::Anybody,
            // All names below `localhost` are this machine, too (RFC 6761, section 6.3).
            Err(_) if host == "localhost" || host.ends_with(".localhost") => HostReach::ThisMachine,
            Err(_) => HostReach::Anybody,
        }
    }
}

/// Returns `true` if a URL's host is this machine, judged by its name or address alone.
pub(crate) fn is_this_machine(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| HostReach::to(&url) == HostReach::ThisMachine)
}
