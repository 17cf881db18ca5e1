//! Explains failures of TLS and of a proxy in plain English.

/// Returns the reason why a certificate is not trusted and a remedy, or `None` if `cause` is about something else.
/// `cause` is the text of an error with its sources ([`Cause::chain`](crate::Cause::chain)); `trust` is the remedy for
/// a user who trusts the server.
pub fn certificate_fault(cause: &str, trust: &str) -> Option<String> {
    if !cause.contains("invalid peer certificate") {
        return None;
    }
    let says = |any: [&str; 2]| any.iter().any(|words| cause.contains(words));
    Some(match () {
        () if says(["certificate expired", "Expired"]) => {
            "its certificate has expired: it must be renewed there (or is the clock of this machine wrong?)".to_owned()
        }
        () if says(["not valid yet", "NotValidYet"]) => {
            "its certificate is not valid yet: is the clock of this machine right?".to_owned()
        }
        () if says(["not valid for name", "NotValidForName"]) => {
            "its certificate is for another name: write the URL with a name that is in the certificate".to_owned()
        }
        () => format!("its certificate is from no authority that this machine trusts: {trust}"),
    })
}

/// Returns the reason why a proxy set in the environment fails and a remedy, or `None` if `cause` is about something
/// else. `None` also if a proxy for plain HTTP fails, which looks like a failure of the server.
pub fn proxy_fault(cause: &str) -> Option<&'static str> {
    if cause.contains("proxy authorization required") {
        return Some("the proxy requires a login: write HTTPS_PROXY as http://USER:PASSWORD@HOST:PORT");
    }
    cause.contains("tunnel error").then(|| match cause.contains("failed to create underlying connection") {
        true => "the proxy cannot be reached: correct HTTPS_PROXY (or ALL_PROXY), or name this host in NO_PROXY",
        false => "the proxy does not reach this host: name this host in NO_PROXY, or ask who runs the proxy",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_of_a_certificate_has_its_remedy() {
        let said = |cause: &str| certificate_fault(&format!("error: invalid peer certificate: {cause}"), "trust it");
        assert!(said("UnknownIssuer").unwrap().ends_with("that this machine trusts: trust it"));
        assert!(said("certificate expired: verification time 2 (UNIX)").unwrap().contains("has expired"));
        assert!(said("certificate not valid yet: verification time 2").unwrap().contains("clock"));
        assert!(said("certificate not valid for name \"a\"").unwrap().contains("another name"));
        assert_eq!(certificate_fault("connection refused", "trust it"), None);
    }

    #[test]
    fn a_proxy_is_distinguished_from_the_server_after_it() {
        let dead = "client error (Connect): tunnel error: failed to create underlying connection: tcp connect error";
        assert!(proxy_fault(dead).unwrap().contains("cannot be reached"));
        assert!(proxy_fault("tunnel error: unsuccessful").unwrap().contains("does not reach this host"));
        assert!(proxy_fault("tunnel error: proxy authorization required").unwrap().contains("requires a login"));
        assert_eq!(proxy_fault("tcp connect error: connection refused"), None);
    }
}
