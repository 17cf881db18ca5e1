//! The certificates that a server is verified with.

use super::host_reach::is_this_machine;
use super::servers::{ServerConfig, TransportConfig};
use toolgraft::http::Trust;

/// The certificates that a server is verified with: the program's, and those of the file `ca` of its entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerTrust {
    program: Trust,
    ca: Option<String>,
}

impl ServerTrust {
    /// Returns `true` if the server's entry names a file of certificates (`ca`).
    pub(crate) fn has_ca(&self) -> bool {
        self.ca.is_some()
    }

    /// Returns a builder of HTTP clients for this URL that trust these certificates, and use no proxy for requests to
    /// this machine. The file `ca` is read each time, so that a changed file is used from the next connection on.
    ///
    /// # Errors
    /// The file `ca` cannot be read or has no certificate; the text names the file.
    pub(crate) fn client_builder(&self, url: &str) -> Result<reqwest::ClientBuilder, String> {
        let trust = match &self.ca {
            Some(file) => self.program.clone().with_pem_file(file).map_err(|error| format!("its \"ca\": {error}"))?,
            None => self.program.clone(),
        };
        let builder = trust.client();
        Ok(if is_this_machine(url) { builder.no_proxy() } else { builder })
    }
}

impl ServerConfig {
    /// Returns the certificates that the server is verified with.
    pub(crate) fn server_trust(&self) -> ServerTrust {
        let ca = match &self.transport {
            Ok(TransportConfig::Http { ca, .. }) => ca.clone(),
            _ => None,
        };
        ServerTrust { program: self.trust.clone(), ca }
    }
}
