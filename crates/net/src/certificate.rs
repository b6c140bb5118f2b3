//! The certificate that a node makes itself, for the listener of its peers, and how a peer pins it.
//!
//! The one idea: the key counts, and nothing else in the certificate. It is made of a secret that the node
//! keeps anyway, so it is the same for as long as the node is; the certificate around it is made anew whenever
//! half of its time is over, and its pin (the SHA-256 of the `SubjectPublicKeyInfo`, as in RFC 7469) stays. A
//! peer that pins it asks no authority, and looks at no name and no date.

use baton_session::invitation::CertificatePin;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PublicKeyData};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use tokio_rustls::rustls::sign::{CertifiedKey, SigningKey};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, ServerConfig,
    SignatureScheme,
};

/// How long a certificate lasts.
const LIFE: Duration = Duration::from_hours(90 * 24);
/// How far back it begins: the clocks of two machines differ.
const BEFORE: Duration = Duration::from_hours(24);
/// A private key of Ed25519 in PKCS #8 is this and 32 bytes (RFC 8410, section 7).
const ED25519: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// A certificate cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CertificateFault {
    /// Around this key.
    #[error("could not make a certificate: {0}")]
    NotMade(#[from] rcgen::Error),
    /// TLS does not take it.
    #[error("could not use the certificate of this node: {0}")]
    NotTaken(#[from] Error),
}

/// What a node speaks TLS with that makes its certificate itself.
pub struct OwnCertificate {
    pair: KeyPair,
    signing: Arc<dyn SigningKey>,
    current: RwLock<Current>,
}

struct Current {
    shown: Arc<CertifiedKey>,
    made: SystemTime,
}

impl OwnCertificate {
    /// The certificate whose key is made of this secret.
    pub fn new(secret: &[u8; 32], now: SystemTime) -> Result<Self, CertificateFault> {
        let der = PrivatePkcs8KeyDer::from([ED25519.as_slice(), secret].concat());
        let pair = KeyPair::try_from(&der)?;
        let signing = aws_lc_rs::sign::any_eddsa_type(&der)?;
        let shown = Arc::new(make(&pair, &signing, now)?);
        Ok(Self { pair, signing, current: RwLock::new(Current { shown, made: now }) })
    }

    /// By what peers know it.
    pub fn pin(&self) -> CertificatePin {
        CertificatePin::of(&self.pair.subject_public_key_info())
    }

    /// What speaks TLS with it.
    pub fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, CertificateFault> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// The certificate as it is shown `now`.
    fn shown(&self, now: SystemTime) -> Arc<CertifiedKey> {
        let known = {
            let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
            let age = now.duration_since(current.made);
            // One from the future was made before somebody set the clock back.
            if age.is_ok_and(|age| age < LIFE / 2) {
                return Arc::clone(&current.shown);
            }
            Arc::clone(&current.shown)
        };
        match make(&self.pair, &self.signing, now) {
            Ok(shown) => {
                let shown = Arc::new(shown);
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                *current = Current { shown: Arc::clone(&shown), made: now };
                tracing::info!("renewed the certificate of the listener for peers; its key stays");
                shown
            }
            Err(error) => {
                tracing::error!(%error, "the certificate for peers was not renewed");
                known
            }
        }
    }
}

fn make(
    pair: &KeyPair,
    signing: &Arc<dyn SigningKey>,
    now: SystemTime,
) -> Result<CertifiedKey, CertificateFault> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "a node of Baton");
    params.not_before = now.checked_sub(BEFORE).unwrap_or(now).into();
    params.not_after = (now + LIFE).into();
    let made = params.self_signed(pair)?;
    Ok(CertifiedKey::new(vec![made.der().clone()], Arc::clone(signing)))
}

impl ResolvesServerCert for OwnCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.shown(SystemTime::now()))
    }
}

impl fmt::Debug for OwnCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnCertificate({})", self.pin())
    }
}

/// What another machine shows has another key than the one that is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("another machine answers there: its certificate has another key than the invitation says")]
pub struct OtherCertificate;

/// Trusts the certificates with one key, and no other ones.
#[derive(Debug)]
struct Pinned {
    pin: CertificatePin,
    provider: Arc<CryptoProvider>,
}

/// TLS with whoever has the key of this pin.
pub fn pinned(pin: CertificatePin) -> Result<ClientConfig, Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Arc::new(Pinned { pin, provider: Arc::clone(&provider) });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(config)
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let shown = ParsedCertificate::try_from(end_entity)?;
        if CertificatePin::of(&shown.subject_public_key_info()) == self.pin {
            return Ok(ServerCertVerified::assertion());
        }
        Err(CertificateError::Other(OtherError(Arc::new(OtherCertificate))).into())
    }

    /// That the other side has the key of the certificate, and does not only show it.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::{LIFE, OwnCertificate, pinned};
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::pki_types::ServerName;

    fn own(secret: u8) -> Arc<OwnCertificate> {
        Arc::new(OwnCertificate::new(&[secret; 32], SystemTime::now()).unwrap())
    }

    /// Whether whoever pins the one gets through to the other, or why not.
    async fn meet(server: &Arc<OwnCertificate>, pinned_to: &OwnCertificate) -> Result<(), String> {
        let (here, there) = duplex(4096);
        let acceptor = server.acceptor().unwrap();
        let answering = tokio::spawn(async move {
            let mut stream = acceptor.accept(there).await.ok()?;
            stream.write_all(b"hello").await.ok()
        });
        let connector = TlsConnector::from(Arc::new(pinned(pinned_to.pin()).unwrap()));
        let name = ServerName::try_from("192.0.2.7").unwrap();
        let mut stream = connector.connect(name, here).await.map_err(|error| error.to_string())?;
        let mut heard = [0; 5];
        stream.read_exact(&mut heard).await.map_err(|error| error.to_string())?;
        answering.await.unwrap();
        assert_eq!(&heard, b"hello");
        Ok(())
    }

    #[tokio::test]
    async fn whoever_pins_the_key_gets_through_whatever_the_machine_is_called_and_nobody_else() {
        let (server, other) = (own(1), own(2));
        meet(&server, &server).await.unwrap();
        let refused = meet(&server, &other).await.unwrap_err();
        assert!(refused.contains("OtherCertificate"), "{refused}");
    }

    #[tokio::test]
    async fn a_certificate_is_renewed_before_it_ends_and_its_pin_stays() {
        let (server, now) = (own(1), SystemTime::now());
        let first = server.shown(now);
        assert!(Arc::ptr_eq(&first, &server.shown(now + LIFE / 3)));
        let later = server.shown(now + LIFE / 2 + Duration::from_secs(1));
        assert_ne!(first.cert, later.cert);
        assert_eq!(server.pin(), own(1).pin(), "and it is the same after a restart");
        meet(&server, &own(1)).await.unwrap();
    }
}
