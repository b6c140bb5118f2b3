//! A certificate that the browser of a session trusts, beside those that its maker does.
//!
//! The one idea: it is public, so it is part of the environment and travels with the session; and what a
//! browser could not trust, or what should not be handed around, is refused where it is read, and so is
//! nowhere else.

use crate::id::PartHash;
use crate::printable::Printable;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use x509_parser::certificate::X509Certificate;
use x509_parser::error::PEMError;
use x509_parser::extensions::GeneralName;
use x509_parser::pem::Pem;
use x509_parser::prelude::FromDer;

/// The most certificates of a session.
pub const MAX_CERTIFICATES: usize = 20;
/// The longest file of certificates, in bytes.
pub const MAX_PEM: usize = 512 << 10;
/// The longest certificate, in bytes of DER: ten times that of a usual one.
const LONGEST: usize = 16 << 10;
/// The label of a certificate in PEM (RFC 7468, section 5.1).
const LABEL: &str = "CERTIFICATE";
/// How many characters of base64 stand in a line of PEM (RFC 7468, section 2).
const LINE: usize = 64;
/// The most that is shown of a text in a certificate, in characters, and the most of its names.
const SHOWN: usize = 200;
const SHOWN_NAMES: usize = 50;

/// An X.509 certificate (RFC 5280): of an authority, or of a server with its names. It is written as one
/// in PEM.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct Certificate(ParsedCertificate);

/// The bytes of a certificate (DER), and what was read of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ParsedCertificate {
    der: Vec<u8>,
    view: CertificateView,
}

/// What a certificate says of itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CertificateView {
    /// Whose it is, such as `CN=Staging CA, O=Example`.
    pub subject: String,
    /// SHA-256 of it, by which everybody can tell which one it is.
    pub sha256: PartHash,
    /// Whether it is an authority's: then whoever has its key can speak for every site there is.
    pub authority: bool,
    /// The hosts for which a server's counts; of an authority, none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// When it ends; none when that is no instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Timestamp>,
}

/// Why a text is no certificate that a browser could trust.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCertificate {
    /// There is nothing in it.
    #[error(
        "expected certificates in PEM (-----BEGIN CERTIFICATE-----), found none\n\
         openssl x509 -inform der -in FILE makes PEM of a binary one"
    )]
    None,
    /// It is more than one.
    #[error("expected one certificate, found {0}")]
    Several(usize),
    /// There are too many.
    #[error("expected at most {MAX_CERTIFICATES} certificates, found more")]
    TooMany,
    /// It is too long.
    #[error("expected at most {most} bytes, found {found}")]
    TooLong {
        /// How long it may be.
        most: usize,
        /// How long it is.
        found: usize,
    },
    /// It holds a secret.
    #[error(
        "expected certificates alone, found a private key\n\
         certificates are carried and shown with the session: give a file without the key"
    )]
    Key,
    /// It holds something else.
    #[error("expected certificates alone, found {0:?}")]
    Other(String),
    /// Its PEM is damaged.
    #[error("expected whole PEM, found {0}")]
    Pem(&'static str),
    /// It is no X.509.
    #[error("expected an X.509 certificate, found something else: {0}")]
    X509(String),
    /// No browser would ever take it for anything.
    #[error(
        "expected an authority (basicConstraints CA:TRUE) or a server with names \
         (subjectAltName), found {0:?}, which is neither\n\
         browsers do not look at the common name: openssl req -x509 … -addext subjectAltName=DNS:HOST"
    )]
    Neither(String),
}

impl Certificate {
    /// Every certificate of a text in PEM that holds nothing else; at least one.
    pub fn read_all(text: &str) -> Result<Vec<Self>, BadCertificate> {
        if text.len() > MAX_PEM {
            return Err(BadCertificate::TooLong { most: MAX_PEM, found: text.len() });
        }
        let mut all = Vec::new();
        for block in Pem::iter_from_buffer(text.as_bytes()) {
            let block = block.map_err(|error| BadCertificate::Pem(damage(&error)))?;
            if all.len() == MAX_CERTIFICATES {
                return Err(BadCertificate::TooMany);
            }
            all.push(Self::of_block(block)?);
        }
        if all.is_empty() { Err(BadCertificate::None) } else { Ok(all) }
    }

    fn of_block(block: Pem) -> Result<Self, BadCertificate> {
        if block.label.contains("PRIVATE KEY") {
            return Err(BadCertificate::Key);
        }
        if block.label != LABEL {
            return Err(BadCertificate::Other(shown(&block.label)));
        }
        Self::of_der(block.contents)
    }

    /// The certificate with these bytes (DER).
    pub fn of_der(der: Vec<u8>) -> Result<Self, BadCertificate> {
        if der.len() > LONGEST {
            return Err(BadCertificate::TooLong { most: LONGEST, found: der.len() });
        }
        let view = match X509Certificate::from_der(&der) {
            Ok(([], parsed)) => view(&der, &parsed),
            Ok((more, _)) => {
                let found = format!("{} bytes after its end", more.len());
                return Err(BadCertificate::X509(found));
            }
            Err(error) => return Err(BadCertificate::X509(shown(&error.to_string()))),
        };
        if !view.authority && view.names.is_empty() {
            return Err(BadCertificate::Neither(view.subject));
        }
        Ok(Self(ParsedCertificate { der, view }))
    }

    /// Its bytes (DER).
    pub fn der(&self) -> &[u8] {
        &self.0.der
    }

    /// SHA-256 of its bytes.
    pub fn sha256(&self) -> PartHash {
        self.0.view.sha256
    }

    /// What it says of itself.
    pub fn view(&self) -> &CertificateView {
        &self.0.view
    }

    /// Where it lives, for receipts: the beginning of its hash, and whose it is.
    pub fn place(&self) -> String {
        format!("certificate {:.16} {}", self.sha256().to_string(), self.0.view.subject)
    }
}

fn view(der: &[u8], parsed: &X509Certificate<'_>) -> CertificateView {
    let authority = parsed.is_ca();
    let names = parsed.subject_alternative_name().ok().flatten();
    let names = names.into_iter().flat_map(|found| &found.value.general_names).filter_map(name);
    let ends = parsed.validity().not_after.timestamp();
    CertificateView {
        subject: shown(&parsed.subject().to_string()),
        sha256: PartHash::of(der),
        authority,
        names: if authority { Vec::new() } else { names.take(SHOWN_NAMES).collect() },
        ends: Timestamp::from_second(ends).ok(),
    }
}

/// A host that a certificate names (RFC 5280, section 4.2.1.6).
fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(host) => Some(shown(host)),
        GeneralName::IPAddress(bytes) => {
            let four = <[u8; 4]>::try_from(*bytes).map(|it| Ipv4Addr::from(it).to_string());
            let six = || <[u8; 16]>::try_from(*bytes).map(|it| Ipv6Addr::from(it).to_string());
            four.or_else(|_| six()).ok()
        }
        _ => None,
    }
}

/// A text of a certificate, for which no one vouches.
fn shown(text: &str) -> String {
    let short: String = text.chars().take(SHOWN).collect();
    Printable::for_model(&short).as_str().to_owned()
}

fn damage(error: &PEMError) -> &'static str {
    match error {
        PEMError::Base64DecodeError => "a block that is no base64",
        PEMError::IncompletePEM => "a block without an end",
        PEMError::InvalidHeader => "a block whose first line is damaged",
        PEMError::MissingHeader | PEMError::IOError(_) => "no block",
    }
}

impl FromStr for Certificate {
    type Err = BadCertificate;

    /// Exactly one certificate in PEM.
    fn from_str(text: &str) -> Result<Self, BadCertificate> {
        let mut all = Self::read_all(text)?;
        match (all.pop(), all.len()) {
            (Some(only), 0) => Ok(only),
            (_, others) => Err(BadCertificate::Several(others + 1)),
        }
    }
}

impl fmt::Display for Certificate {
    /// PEM (RFC 7468).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = BASE64_STANDARD.encode(&self.0.der);
        writeln!(f, "-----BEGIN {LABEL}-----")?;
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (line, after) = rest.split_at(rest.len().min(LINE));
            writeln!(f, "{line}")?;
            rest = after;
        }
        writeln!(f, "-----END {LABEL}-----")
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({})", self.sha256())
    }
}

impl TryFrom<String> for Certificate {
    type Error = String;

    /// The error is one line: the reader of a document puts the place behind it.
    fn try_from(text: String) -> Result<Self, String> {
        let read = text.parse::<Self>();
        read.map_err(|error| error.to_string().lines().take(1).collect())
    }
}

impl From<Certificate> for String {
    fn from(certificate: Certificate) -> Self {
        certificate.to_string()
    }
}

/// Sorts certificates; each is there once.
pub(crate) fn normalize(certificates: &mut Vec<Certificate>) {
    certificates.sort();
    certificates.dedup();
}
