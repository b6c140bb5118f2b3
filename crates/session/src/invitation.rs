//! Invitations: how a person takes a node to another one, in one text.
//!
//! The one idea: the text carries all that the two nodes must know of each other before they speak: where the
//! one that invites is asked, which key it signs with, which key its certificate has, and a secret that counts
//! once. A key pair is made of the secret (Ed25519, RFC 8032): the node that invites keeps the public half,
//! which opens nothing, and the one that joins proves with the other half that it has the secret, and does
//! not send it. The proof names both nodes, so it is worth nothing to a third one.
//!
//! The text is `BATON-` and the base32 (RFC 4648, without padding) of: the version, 1; 16 bytes of secret; 32
//! bytes of fingerprint; 1, and 32 bytes of pin, or 0; how many addresses there are, and each of them behind
//! its length; and the first 4 bytes of the SHA-256 of all that. Case, blanks and dashes do not count.

use crate::peer::{BadSignature, Fingerprint, NodeKey, NodeSecret, NodeSignature};
use crate::text_form::{InvalidText, parse_hex, text_form, write_hex};
use data_encoding::BASE32_NOPAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use url::Url;

/// What every code begins with.
const PREFIX: &str = "BATON-";
/// The form of the code.
const VERSION: u8 = 1;
/// How many bytes of the digest stand at the end.
const SUM: usize = 4;
/// How many addresses a code names at most.
pub const ADDRESSES_MAX: usize = 8;
/// The longest code, in characters: no longer one is read.
const CODE_MAX: usize = 4096;
/// What the hash begins with of which the key pair of an invitation is made.
const SECRET_CONTEXT: &[u8] = b"baton invitation v1\0";
/// What a proof begins with.
const PROOF_CONTEXT: &[u8] = b"baton joins v1\0";

/// The SHA-256 of the public key of a certificate (its `SubjectPublicKeyInfo`, in DER), in text 64 hexadecimal
/// digits. It stays when the certificate is renewed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CertificatePin([u8; 32]);

impl CertificatePin {
    /// The pin of a public key in DER.
    pub fn of(public_key: &[u8]) -> Self {
        Self(Sha256::digest(public_key).into())
    }
}

impl FromStr for CertificatePin {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        parse_hex(text).map(Self).ok_or(InvalidText("a pin: 64 hexadecimal digits"))
    }
}

impl fmt::Display for CertificatePin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for CertificatePin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CertificatePin({self})")
    }
}

text_form!(CertificatePin);

/// What counts once: 16 random bytes. Never shown but in a code.
#[derive(Clone, PartialEq, Eq)]
pub struct InvitationSecret([u8; 16]);

/// The public half of what is made of a secret: it checks proofs, and opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvitationKey(NodeKey);

/// Who takes an invitation, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joining {
    /// The node that invites.
    pub inviter: Fingerprint,
    /// The one that joins.
    pub joiner: Fingerprint,
    /// What the one that joins has chosen at random.
    pub nonce: [u8; 16],
}

impl InvitationSecret {
    /// The secret of these random bytes.
    pub fn new(random: [u8; 16]) -> Self {
        Self(random)
    }

    /// What checks its proofs.
    pub fn key(&self) -> InvitationKey {
        InvitationKey(self.pair().key())
    }

    /// Proves that the node that joins has the secret.
    pub fn prove(&self, joining: &Joining) -> NodeSignature {
        self.pair().sign(&joining.message())
    }

    fn pair(&self) -> NodeSecret {
        let seed = Sha256::new().chain_update(SECRET_CONTEXT).chain_update(self.0).finalize();
        NodeSecret::from_seed(&seed.into())
    }
}

impl InvitationKey {
    /// What people, and nodes that join, call the invitation: `inv_` and 16 hexadecimal digits.
    pub fn id(&self) -> String {
        let digest = Sha256::digest(self.0.as_bytes());
        let first = digest.iter().take(8).fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
        let digits = format!("{first:016x}");
        format!("inv_{digits}")
    }

    /// Checks that a node that joins has the secret.
    pub fn verify(&self, joining: &Joining, proof: &NodeSignature) -> Result<(), BadSignature> {
        self.0.verify(&joining.message(), proof)
    }
}

impl FromStr for InvitationKey {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        text.parse().map(Self)
    }
}

impl fmt::Display for InvitationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Joining {
    fn message(&self) -> Vec<u8> {
        [PROOF_CONTEXT, self.inviter.as_bytes(), self.joiner.as_bytes(), &self.nonce].concat()
    }
}

impl fmt::Debug for InvitationSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InvitationSecret(of {})", self.key().id())
    }
}

/// What a code says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitationCode {
    /// What counts once.
    pub secret: InvitationSecret,
    /// The fingerprint of the node that invites.
    pub inviter: Fingerprint,
    /// Which key its certificate has; none where its certificate is checked as others are.
    pub pin: Option<CertificatePin>,
    /// Where it is asked, 1 to [`ADDRESSES_MAX`].
    pub addresses: Vec<Url>,
}

/// A text that is no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected an invitation, BATON-…, found {found}\ngive all of what baton peers invite printed"
)]
pub struct InvalidCode {
    /// What it is instead; never the text.
    found: &'static str,
}

impl InvitationCode {
    /// The text that a person carries. It is a secret as long as it counts.
    pub fn expose(&self) -> String {
        let mut bytes = vec![VERSION];
        bytes.extend(self.secret.0);
        bytes.extend(self.inviter.as_bytes());
        match &self.pin {
            Some(CertificatePin(pin)) => {
                bytes.push(1);
                bytes.extend(pin);
            }
            None => bytes.push(0),
        }
        let addresses: Vec<String> = self.addresses.iter().map(brief).collect();
        bytes.push(u8::try_from(addresses.len()).unwrap_or(u8::MAX));
        for address in addresses {
            bytes.push(u8::try_from(address.len()).unwrap_or(u8::MAX));
            bytes.extend(address.as_bytes());
        }
        bytes.extend(sum(&bytes));
        format!("{PREFIX}{}", BASE32_NOPAD.encode(&bytes))
    }
}

/// An address as it stands in a code: `https://` is left out, and the slash at the end.
fn brief(url: &Url) -> String {
    let text = url.as_str().trim_end_matches('/');
    text.strip_prefix("https://").unwrap_or(text).to_owned()
}

fn sum(bytes: &[u8]) -> [u8; SUM] {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    let [one, two, three, four, ..] = digest;
    [one, two, three, four]
}

impl FromStr for InvitationCode {
    type Err = InvalidCode;

    fn from_str(text: &str) -> Result<Self, InvalidCode> {
        let invalid = |found| InvalidCode { found };
        if text.len() > CODE_MAX {
            return Err(invalid("a text that is too long for one"));
        }
        let is_counted = |letter: &char| !letter.is_whitespace() && *letter != '-';
        let bare: String =
            text.chars().filter(is_counted).map(|letter| letter.to_ascii_uppercase()).collect();
        let digits = bare.strip_prefix("BATON").ok_or(invalid("another text"))?;
        let damaged = invalid("one that was cut short or mistyped");
        let bytes = BASE32_NOPAD.decode(digits.as_bytes()).map_err(|_| damaged)?;
        let (said, found) = bytes.split_last_chunk::<SUM>().ok_or(damaged)?;
        if sum(said) != *found {
            return Err(damaged);
        }
        let mut rest = said;
        let [version] = next(&mut rest).ok_or(damaged)?;
        if version != VERSION {
            return Err(invalid("one of a newer Baton"));
        }
        read(&mut rest).ok_or(damaged)
    }
}

/// Reads what stands behind the version, up to the end.
fn read(rest: &mut &[u8]) -> Option<InvitationCode> {
    let secret = InvitationSecret(next(rest)?);
    let inviter = Fingerprint::from_bytes(next(rest)?);
    let pin = match next(rest)? {
        [0] => None,
        [1] => Some(CertificatePin(next(rest)?)),
        _ => return None,
    };
    let [count] = next(rest)?;
    let addresses: Vec<Url> = (0..count).map(|_| address(rest)).collect::<Option<_>>()?;
    let is_whole = rest.is_empty() && (1..=ADDRESSES_MAX).contains(&addresses.len());
    is_whole.then_some(InvitationCode { secret, inviter, pin, addresses })
}

fn address(rest: &mut &[u8]) -> Option<Url> {
    let [length] = next(rest)?;
    let (text, behind) = rest.split_at_checked(usize::from(length))?;
    *rest = behind;
    let text = std::str::from_utf8(text).ok()?;
    let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    Url::parse(&whole).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

fn next<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(pin: Option<CertificatePin>, addresses: &[&str]) -> InvitationCode {
        InvitationCode {
            secret: InvitationSecret::new([7; 16]),
            inviter: NodeSecret::from_seed(&[1; 32]).key().fingerprint(),
            pin,
            addresses: addresses.iter().map(|url| url.parse().unwrap()).collect(),
        }
    }

    #[test]
    fn what_a_code_says_is_read_however_it_is_typed() {
        for code in [
            code(Some(CertificatePin::of(b"key")), &["https://192.168.1.20:7421"]),
            code(None, &["https://baton.example.org"]),
            code(None, &["http://127.0.0.1:7420", "https://[2001:db8::1]:7421"]),
        ] {
            let text = code.expose();
            assert!(text.starts_with("BATON-"), "{text}");
            assert_eq!(text.parse(), Ok(code.clone()));
            let (left, right) = text.split_at(30);
            let typed = format!(" {}\n {} ", left.to_lowercase(), right);
            assert_eq!(typed.parse(), Ok(code));
        }
    }

    #[test]
    fn a_code_that_is_not_whole_is_refused() {
        let pin = CertificatePin::of(b"key");
        let text = code(Some(pin), &["https://192.168.1.20:7421"]).expose();
        let refused = |text: &str| text.parse::<InvitationCode>().unwrap_err().to_string();
        insta::assert_snapshot!(refused("https://192.168.1.20"), @r"
        expected an invitation, BATON-…, found another text
        give all of what baton peers invite printed
        ");
        for cut in 0..text.len() {
            assert!(text[..cut].parse::<InvitationCode>().is_err(), "{cut}");
        }
        for place in PREFIX.len()..text.len() {
            let mut typed = text.clone().into_bytes();
            typed[place] = if typed[place] == b'A' { b'B' } else { b'A' };
            assert!(String::from_utf8(typed).unwrap().parse::<InvitationCode>().is_err());
        }
        assert!(code(None, &[]).expose().parse::<InvitationCode>().is_err());
        assert!(code(None, &["https://a.test"; 9]).expose().parse::<InvitationCode>().is_err());
    }

    #[test]
    fn a_proof_is_of_one_secret_between_two_nodes_and_of_no_other() {
        let print = |seed: u8| NodeSecret::from_seed(&[seed; 32]).key().fingerprint();
        let joining = Joining { inviter: print(1), joiner: print(2), nonce: [3; 16] };
        let (secret, other) = (InvitationSecret::new([7; 16]), InvitationSecret::new([8; 16]));
        let proof = secret.prove(&joining);
        assert!(secret.key().verify(&joining, &proof).is_ok());
        assert!(other.key().verify(&joining, &proof).is_err());
        for changed in [
            Joining { inviter: print(4), ..joining },
            Joining { joiner: print(4), ..joining },
            Joining { nonce: [4; 16], ..joining },
        ] {
            assert!(secret.key().verify(&changed, &proof).is_err(), "{changed:?}");
        }
        assert_ne!(secret.key().id(), other.key().id());
        assert_eq!(secret.key().to_string().parse(), Ok(secret.key()));
    }

    #[test]
    fn a_secret_is_shown_in_a_code_alone() {
        let shown = format!("{:?}", code(None, &["https://a.test"]));
        assert!(!shown.contains("7, 7") && shown.contains("inv_"), "{shown}");
    }
}
