//! Servers that are trusted beside those for which an authority of the system stands.

use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use rustls::ClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// What every client of this process trusts.
static HELD: RwLock<Trust> = RwLock::new(Trust::new());

/// Servers that are trusted beside those for which an authority of the system stands.
///
/// The system's authorities count in any case, if it has any; `SSL_CERT_FILE` and `SSL_CERT_DIR` name others in
/// their place. A certificate that stands here is trusted as an authority, and as a server's own:
/// `openssl req -x509` makes such a one, which is both.
#[derive(Clone, Default)]
pub struct Trust {
    certificates: Vec<CertificateDer<'static>>,
    unchecked: Vec<String>,
}

/// A text without a certificate that can be read.
#[derive(Debug, thiserror::Error)]
#[error("no certificate in PEM (\"-----BEGIN CERTIFICATE-----\") stands there")]
#[non_exhaustive]
pub struct NoCertificate;

impl Trust {
    const fn new() -> Self {
        Trust { certificates: Vec::new(), unchecked: Vec::new() }
    }

    /// Trusts the certificates of a text in PEM, those of them that can be read.
    ///
    /// # Errors
    /// It has none.
    pub fn with_pem(mut self, pem: &[u8]) -> Result<Self, NoCertificate> {
        let before = self.certificates.len();
        let found = CertificateDer::pem_slice_iter(pem).flatten();
        self.certificates.extend(found.filter(|certificate| ParsedCertificate::try_from(certificate).is_ok()));
        if self.certificates.len() == before { Err(NoCertificate) } else { Ok(self) }
    }

    /// Takes any certificate of the server of this host name or address. Whoever is between it and
    /// this program can read and change all that is said.
    pub fn with_unchecked(mut self, host: impl Into<String>) -> Self {
        self.unchecked.push(host.into());
        self
    }

    /// Has every client trust this that [`client`](super::client) begins from now on in this process.
    pub fn hold(self) {
        *HELD.write().unwrap_or_else(PoisonError::into_inner) = self;
    }

    /// What every client of this process trusts.
    pub(super) fn held() -> Self {
        HELD.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How TLS is spoken where more is trusted than the system says, or the system names no authority.
    pub(super) fn settings(&self) -> Option<ClientConfig> {
        let provider = CryptoProvider::get_default()?.clone();
        if self.certificates.is_empty() && self.unchecked.is_empty() && has_authorities(&provider) {
            return None;
        }
        let system = Verifier::new_with_extra_roots(self.certificates.iter().cloned(), provider.clone()).ok();
        let algorithms = provider.signature_verification_algorithms;
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
        let verifier = Arc::new(Beside { trust: self.clone(), system, algorithms });
        Some(config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let certificates = self.certificates.len();
        f.debug_struct("Trust").field("certificates", &certificates).field("unchecked", &self.unchecked).finish()
    }
}

/// Whether the system names an authority. A small container has none, and reqwest then makes no client
/// at all, not even one for plain HTTP.
fn has_authorities(provider: &Arc<CryptoProvider>) -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| Verifier::new(provider.clone()).is_ok())
}

/// Asks the system first.
#[derive(Debug)]
struct Beside {
    trust: Trust,
    /// `None` where nobody is trusted as an authority.
    system: Option<Verifier>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Beside {
    fn is_unchecked(&self, name: &ServerName<'_>) -> bool {
        let name = name.to_str();
        self.trust.unchecked.iter().any(|host| host.trim_matches(['[', ']']).eq_ignore_ascii_case(&name))
    }

    /// Whether this very certificate is trusted, and for this name.
    fn is_known(&self, certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> bool {
        let is_there = self.trust.certificates.iter().any(|known| known == certificate);
        is_there
            && ParsedCertificate::try_from(certificate).is_ok_and(|parsed| verify_server_name(&parsed, name).is_ok())
    }
}

impl ServerCertVerifier for Beside {
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
