//! Which servers are trusted beside those that the system trusts: flags that commands with an
//! endpoint share.

use std::path::PathBuf;

use toolgraft::http::Trust;

use crate::base::{Failure, output, trust::of_system};

/// Which servers are trusted.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct TrustArgs {
    /// Trust the certificates of this file (PEM), besides the system's
    ///
    /// May be given several times. Those of authorities, and a server's own, such as one that
    /// `openssl req -x509` makes. They count for MCP servers, too.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    ca: Vec<PathBuf>,

    /// Do not verify this host's TLS certificate (insecure)
    ///
    /// May be given several times. --ca FILE is safer: it takes one certificate.
    #[arg(long, value_name = "HOST", hide_short_help = true)]
    insecure: Vec<String>,
}

impl TrustArgs {
    /// Reads the certificate files, and warns of each host whose certificate is not verified.
    pub(crate) fn read(&self) -> Result<Trust, Failure> {
        let mut trust = of_system();
        for file in &self.ca {
            let wrong = |error| Failure::usage(format!("--ca: {error}"));
            trust = trust.with_pem_file(file).map_err(wrong)?;
        }
        for host in &self.insecure {
            output::warn(&format!(
                "the certificate of {host} is not verified: others on the network can read and change the traffic"
            ));
            trust = trust.with_unchecked(host);
        }
        Ok(trust)
    }
}
