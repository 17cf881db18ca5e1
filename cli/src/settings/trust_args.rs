//! Which servers are trusted beside those that the system trusts: flags that commands with an
//! endpoint share.

use std::path::PathBuf;

use toolgraft::http::Trust;

use crate::base::{Failure, output};

/// Which servers are trusted.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct TrustArgs {
    /// Trust the certificates of this file (PEM) beside the system's
    ///
    /// May be given several times. Those of authorities, and a server's own, such as one that
    /// `openssl req -x509` makes. They count for MCP servers, too.
    #[arg(long, value_name = "FILE")]
    ca: Vec<PathBuf>,

    /// Take any certificate of this host; whoever is on the way there can read and change all
    ///
    /// May be given several times. --ca FILE is safer: it takes one certificate.
    #[arg(long, value_name = "HOST")]
    insecure: Vec<String>,
}

impl TrustArgs {
    /// Has every client of this process trust them, and what `SSL_CERT_FILE` names.
    pub(crate) fn hold(&self) -> Result<(), Failure> {
        let mut trust = Trust::default();
        // What is to stand in the system's place may be a server's own, too; one that cannot be read
        // is told by whoever connects.
        if let Some(named) = std::env::var_os("SSL_CERT_FILE").and_then(|file| std::fs::read(file).ok()) {
            trust = trust.clone().with_pem(&named).unwrap_or(trust);
        }
        for file in &self.ca {
            let wrong = |error: &dyn std::fmt::Display| Failure::usage(format!("--ca {}: {error}", file.display()));
            let text = std::fs::read(file).map_err(|error| wrong(&error))?;
            trust = trust.with_pem(&text).map_err(|error| wrong(&error))?;
        }
        for host in &self.insecure {
            output::warn(&format!("nobody checks who {host} is: what goes there can be read and changed on the way"));
            trust = trust.with_unchecked(host);
        }
        trust.hold();
        Ok(())
    }
}
