//! How far away a URL leads.

use std::net::IpAddr;

use reqwest::Url;

/// Who can reach a host, as far as its name or number alone says. What a name leads to is
/// looked at where it is connected to, by rmcp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WayIn {
    Anybody,
    Neighbours,
    ThisMachine,
}

impl WayIn {
    pub(crate) fn to(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        // `::ffff:10.0.0.1` leads where 10.0.0.1 does.
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match address.map(|address| address.to_canonical()) {
            Ok(address) if address.is_loopback() || address.is_unspecified() => WayIn::ThisMachine,
            Ok(IpAddr::V4(address)) if address.is_private() || address.is_link_local() => WayIn::Neighbours,
            Ok(IpAddr::V6(address)) if address.is_unique_local() || address.is_unicast_link_local() => {
                WayIn::Neighbours
            }
            Ok(_) => WayIn::Anybody,
            Err(_) if host == "localhost" || host.ends_with(".localhost") => WayIn::ThisMachine,
            Err(_) => WayIn::Anybody,
        }
    }
}

/// Returns `true` if a URL leads to this machine, as far as its host alone says.
pub(crate) fn is_this_machine(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| WayIn::to(&url) == WayIn::ThisMachine)
}
