//! The certificates that TLS connections of a client are verified with.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use rustls::ClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// The certificates with which TLS connections are verified: the system's, and those that are added.
///
/// The system's authorities are always trusted, if it has any; `SSL_CERT_FILE` and `SSL_CERT_DIR` name others in their
/// place. An added certificate is trusted both as an authority and as a server's own; `openssl req -x509` creates one
/// that is both.
///
/// A clone is independent: what is added to one is not in the other.
///
/// ```no_run
/// # fn build() -> Result<(), Box<dyn std::error::Error>> {
/// use toolgraft::OpenAi;
/// use toolgraft::http::Trust;
///
/// let trust = Trust::default().with_pem_file("company-ca.pem")?;
/// let model = OpenAi::builder("https://models.company.example/v1", "qwen3").trust(trust).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Trust(Arc<ExtraTrust>);

/// The certificates and hosts that are trusted in addition to the system's authorities.
#[derive(Clone, Default, PartialEq, Eq)]
struct ExtraTrust {
    certificates: Vec<CertificateDer<'static>>,
    unchecked: Vec<String>,
}

/// The reason why a text in PEM adds no certificate to a [`Trust`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PemError {
    /// The text has no certificate in PEM; it may be a key, or a certificate in DER.
    #[error("no certificate in PEM (\"-----BEGIN CERTIFICATE-----\") was found")]
    NoCertificate,
    /// The text has certificates, none of which is well-formed.
    #[error("none of its certificates is well-formed")]
    Malformed,
}

/// The reason why a file adds no certificate to a [`Trust`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Unreadable {
        /// Path of the file.
        file: PathBuf,
        /// The system's error of reading the file.
        source: std::io::Error,
    },
    /// The file has no certificate that can be used.
    #[error("{}: {source}", file.display())]
    Pem {
        /// Path of the file.
        file: PathBuf,
        /// The reason why its text cannot be used.
        source: PemError,
    },
}

impl Trust {
    /// Adds the certificates of a text in PEM. Malformed ones are skipped.
    ///
    /// # Errors
    /// The text has no well-formed certificate.
    pub fn with_pem(mut self, pem: &[u8]) -> Result<Self, PemError> {
        let mut found = CertificateDer::pem_slice_iter(pem).peekable();
        if found.peek().is_none() {
            return Err(PemError::NoCertificate);
        }
        let added = Arc::make_mut(&mut self.0);
        let before = added.certificates.len();
        let is_well_formed = |certificate: &CertificateDer<'_>| ParsedCertificate::try_from(certificate).is_ok();
        added.certificates.extend(found.flatten().filter(is_well_formed));
        if added.certificates.len() == before { Err(PemError::Malformed) } else { Ok(self) }
    }

    /// Adds the certificates of a file in PEM. Malformed ones are skipped.
    ///
    /// # Errors
    /// The file cannot be read, or has no well-formed certificate.
    pub fn with_pem_file(self, file: impl AsRef<Path>) -> Result<Self, TrustError> {
        let file = file.as_ref();
        let pem = std::fs::read(file).map_err(|source| TrustError::Unreadable { file: file.to_owned(), source })?;
        self.with_pem(&pem).map_err(|source| TrustError::Pem { file: file.to_owned(), source })
    }

    /// Turns off the verification of certificates for the server of this host name or address (insecure): whoever is
    /// between it and this program can read and change everything.
    #[must_use]
    pub fn with_unchecked(mut self, host: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.0).unchecked.push(host.into());
        self
    }

    /// Adds the certificates and unchecked hosts of another `Trust` to this one.
    #[must_use]
    pub fn and(mut self, other: &Trust) -> Self {
        if self == Trust::default() {
            return other.clone();
        }
        let (added, others) = (Arc::make_mut(&mut self.0), &other.0);
        added.certificates.extend_from_slice(&others.certificates);
        added.unchecked.extend_from_slice(&others.unchecked);
        self
    }

    /// Returns a builder of HTTP clients that trust these certificates, with the name of this library as their user
    /// agent.
    ///
    /// The library brings reqwest without cryptography of its own. TLS uses the process's default provider of rustls;
    /// if the program has set none, this method sets ring. A program that builds a client for
    /// [`http_client`](crate::model::openai::OpenAiBuilder::http_client) begins here, or depends on reqwest with a
    /// provider.
    ///
    /// The clients request responses without compression, since a compressed stream is delayed until a block is full. A
    /// response that is compressed nevertheless (gzip, deflate) is decompressed.
    pub fn client(&self) -> reqwest::ClientBuilder {
        if CryptoProvider::get_default().is_none() {
            // Another thread may have been quicker: then there is one.
            let _ = ring::default_provider().install_default();
        }
        let plain = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
        let builder = reqwest::Client::builder().user_agent(concat!("toolgraft/", env!("CARGO_PKG_VERSION")));
        let builder = match self.tls_config() {
            Some(config) => builder.tls_backend_preconfigured(config),
            None => builder,
        };
        builder.default_headers(plain)
    }

    /// Returns the TLS configuration; `None` if reqwest's default is equivalent.
    fn tls_config(&self) -> Option<ClientConfig> {
        let provider = CryptoProvider::get_default()?.clone();
        if *self == Trust::default() && has_authorities(&provider) {
            return None;
        }
        let system = Verifier::new_with_extra_roots(self.0.certificates.iter().cloned(), provider.clone()).ok();
        let algorithms = provider.signature_verification_algorithms;
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
        let verifier = Arc::new(TrustVerifier { trust: self.clone(), system, algorithms });
        Some(config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
    }
}

crate::message::opaque_debug!(Trust, self => certificates: self.0.certificates.len(), unchecked: self.0.unchecked);

/// Returns `true` if the system has a certificate authority. A small container has none, and reqwest then builds no
/// client at all, not even one for plain HTTP. The answer is cached, since reading the authorities takes five
/// milliseconds.
fn has_authorities(provider: &Arc<CryptoProvider>) -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| Verifier::new(provider.clone()).is_ok())
}

/// Verifies certificates: first with the system's authorities, then with the added certificates.
#[derive(Debug)]
struct TrustVerifier {
    trust: Trust,
    /// The verifier with the system's and the added authorities; `None` if there are no authorities.
    system: Option<Verifier>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl TrustVerifier {
    fn is_unchecked(&self, name: &ServerName<'_>) -> bool {
        let name = name.to_str();
        // A URL has brackets around an IPv6 address, a server's name has none.
        self.trust.0.unchecked.iter().any(|host| host.trim_matches(['[', ']']).eq_ignore_ascii_case(&name))
    }

    /// Returns `true` if this certificate itself was added, and is valid for this host name.
    fn is_known(&self, certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> bool {
        let is_there = self.trust.0.certificates.iter().any(|known| known == certificate);
        is_there
            && ParsedCertificate::try_from(certificate).is_ok_and(|parsed| verify_server_name(&parsed, name).is_ok())
    }
}

impl ServerCertVerifier for TrustVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let judged = match &self.system {
            Some(system) => system.verify_server_cert(certificate, between, name, ocsp, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        };
        match judged {
            Err(_) if self.is_unchecked(name) || self.is_known(certificate, name) => {
                Ok(ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CERTIFICATE: &str = include_str!("../../cli/tests/tls/own.pem");
    const KEY: &str = include_str!("../../cli/tests/tls/key.pem");
    const MALFORMED: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

    #[test]
    fn a_text_adds_its_well_formed_certificates_or_is_refused() {
        let trust = |pem: &str| Trust::default().with_pem(pem.as_bytes());
        let own = trust(CERTIFICATE).unwrap();
        assert_eq!(trust(&format!("{MALFORMED}{CERTIFICATE}{KEY}")).unwrap(), own);
        assert_ne!(own, Trust::default());
        assert_eq!(trust("").unwrap_err(), PemError::NoCertificate);
        assert_eq!(trust(KEY).unwrap_err(), PemError::NoCertificate);
        assert_eq!(trust(MALFORMED).unwrap_err(), PemError::Malformed);
    }

    #[test]
    fn an_error_names_the_file_and_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let error = |name: &str| Trust::default().with_pem_file(folder.path().join(name)).unwrap_err().to_string();
        std::fs::write(folder.path().join("key.pem"), KEY).unwrap();
        let shown = error("none.pem");
        assert!(shown.starts_with("cannot read ") && shown.contains("none.pem: "), "{shown}");
        let shown = error("key.pem");
        assert!(shown.contains("key.pem: no certificate in PEM"), "{shown}");
    }

    #[test]
    fn what_is_added_to_a_clone_is_not_in_the_original() {
        let original = Trust::default();
        let changed = original.clone().with_unchecked("localhost");
        assert_eq!(original, Trust::default());
        assert_ne!(changed, original);
        let other = original.clone().with_unchecked("other");
        assert_eq!(changed.clone().and(&other), changed.with_unchecked("other"));
        assert_eq!(original.and(&other), other);
    }
}
