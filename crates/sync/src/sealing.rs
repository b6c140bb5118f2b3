//! Sealing: what one node sends to another so that only that one can read it, and only as what it is.
//!
//! The form is age (<https://age-encryption.org/v1>) with the seal key (X25519) of the receiver. age knows no
//! associated data, so what the payload is comes inside, before the payload: purpose, session, revision,
//! receiver and sender, each preceded by its length. The opener says what it expects, and gets nothing else.
//! A seal proves no author: the message around it is signed.

use crate::identity::{Identity, SealKey};
use baton_session::{NodeId, RevisionId, SessionId};
use std::io::{self, Read, Write};

/// What the inside of a sealed payload begins with, so that it is none of another layout.
const LAYOUT: &str = "baton sealed payload v1";
/// How the payload is inside.
const RAW: u8 = 0;
const ZSTD: u8 = 1;
const ZSTD_LEVEL: i32 = 3;

/// What a sealed payload is: it opens only as that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealContext<'a> {
    /// What it is for; each use has a word of its own.
    pub purpose: &'a str,
    /// The session that it belongs to; none when it is about no single one.
    pub session: Option<SessionId>,
    /// The revision that it belongs to; none when it is about no single one.
    pub revision: Option<RevisionId>,
    /// Who may read it.
    pub recipient: NodeId,
    /// Who sealed it, as the signature around it says.
    pub sender: NodeId,
}

/// A payload that was not sealed or not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealingError {
    /// It is sealed for another node.
    #[error(
        "expected a payload that is sealed for this node, found one for others\nif this node has new \
         keys, its peers must register it again"
    )]
    ForOthers,
    /// It was sealed as something else.
    #[error(
        "expected a payload that was sealed as {0}, found one that was sealed as something else"
    )]
    OtherContext(String),
    /// It is not as it was sealed.
    #[error("expected a whole sealed payload, found one that was cut off or changed: {0}")]
    Damaged(String),
    /// It holds too much.
    #[error("expected a payload of at most {limit} bytes, found more")]
    TooLarge {
        /// How much it may hold.
        limit: usize,
    },
    /// It could not be sealed.
    #[error("the payload could not be sealed: {0}")]
    NotSealed(String),
}

impl SealContext<'_> {
    /// Every field is preceded by its length, so that no two contexts read the same.
    fn encode(&self) -> Vec<u8> {
        let session = self.session.map(|id| id.to_string()).unwrap_or_default();
        let revision = self.revision.map(|id| id.to_string()).unwrap_or_default();
        let (recipient, sender) = (self.recipient.to_string(), self.sender.to_string());
        let mut bytes = Vec::new();
        for field in [LAYOUT, self.purpose, &session, &revision, &recipient, &sender] {
            bytes.extend((field.len() as u64).to_be_bytes());
            bytes.extend(field.as_bytes());
        }
        bytes
    }
}

/// Seals `plain` for `recipient`. Compressing what is compressed already only takes time, so
/// `compress` is left to the caller.
pub fn seal(
    recipient: &SealKey,
    context: &SealContext<'_>,
    plain: &[u8],
    compress: bool,
) -> Result<Vec<u8>, SealingError> {
    if compress {
        let packed = zstd::bulk::compress(plain, ZSTD_LEVEL).map_err(|error| not_sealed(&error))?;
        if packed.len() < plain.len() {
            return encrypt(std::slice::from_ref(recipient), context, ZSTD, &packed);
        }
    }
    encrypt(std::slice::from_ref(recipient), context, RAW, plain)
}

/// Seals `plain` for each of `recipients`, who may be many; `context` names one of them, mostly the
/// sender itself. It is not compressed.
pub fn seal_for_all(
    recipients: &[SealKey],
    context: &SealContext<'_>,
    plain: &[u8],
) -> Result<Vec<u8>, SealingError> {
    encrypt(recipients, context, RAW, plain)
}

fn encrypt(
    recipients: &[SealKey],
    context: &SealContext<'_>,
    tag: u8,
    body: &[u8],
) -> Result<Vec<u8>, SealingError> {
    let recipients = recipients.iter().map(|key| -> &dyn age::Recipient { key.recipient() });
    let encryptor = age::Encryptor::with_recipients(recipients);
    let encryptor = encryptor.map_err(|error| not_sealed(&error))?;
    let mut sealed = Vec::with_capacity(body.len() + body.len() / 4096 + 1024);
    let written = || -> io::Result<()> {
        let mut writer = encryptor.wrap_output(&mut sealed)?;
        writer.write_all(&context.encode())?;
        writer.write_all(&[tag])?;
        writer.write_all(body)?;
        writer.finish()?;
        Ok(())
    };
    written().map_err(|error| not_sealed(&error))?;
    Ok(sealed)
}

fn not_sealed(error: &dyn std::error::Error) -> SealingError {
    SealingError::NotSealed(error.to_string())
}

/// Opens a payload that `context` describes and that holds at most `limit` bytes.
pub fn open(
    identity: &Identity,
    context: &SealContext<'_>,
    sealed: &[u8],
    limit: usize,
) -> Result<Vec<u8>, SealingError> {
    let mut inside = decrypt(identity, sealed)?;
    let purpose = context.purpose;
    let context = context.encode();
    let rest = inside.strip_prefix(context.as_slice()).and_then(|rest| rest.split_first());
    let (tag, body) = rest.ok_or_else(|| SealingError::OtherContext(purpose.to_owned()))?;
    match *tag {
        RAW if body.len() > limit => Err(SealingError::TooLarge { limit }),
        RAW => {
            inside.drain(..=context.len());
            Ok(inside)
        }
        ZSTD => unpack(body, limit),
        _ => Err(SealingError::Damaged("it is packed in an unknown way".to_owned())),
    }
}

/// What is inside: less than what is sealed, so its size needs no bound of its own.
fn decrypt(identity: &Identity, sealed: &[u8]) -> Result<Vec<u8>, SealingError> {
    let decryptor = age::Decryptor::new(sealed).map_err(refused)?;
    let identity: &dyn age::Identity = identity.opener();
    let mut reader = decryptor.decrypt(std::iter::once(identity)).map_err(refused)?;
    let mut inside = Vec::with_capacity(sealed.len());
    let read = reader.read_to_end(&mut inside);
    read.map_err(|error| SealingError::Damaged(error.to_string()))?;
    Ok(inside)
}

/// A frame says how much it holds, and is given room for that and no more.
fn unpack(frame: &[u8], limit: usize) -> Result<Vec<u8>, SealingError> {
    let damaged = || SealingError::Damaged("it is not compressed as it says".to_owned());
    let size = zstd::zstd_safe::get_frame_content_size(frame).ok().flatten();
    let size = usize::try_from(size.ok_or_else(damaged)?).unwrap_or(usize::MAX);
    if size > limit {
        return Err(SealingError::TooLarge { limit });
    }
    zstd::bulk::decompress(frame, size).map_err(|_| damaged())
}

fn refused(error: age::DecryptError) -> SealingError {
    match error {
        age::DecryptError::NoMatchingKeys => SealingError::ForOthers,
        other => SealingError::Damaged(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{SealContext, SealingError, ZSTD, encrypt, open, seal};
    use crate::identity::Identity;
    use age::x25519;
    use baton_session::{Epoch, NodeId, SessionId};
    use jiff::Timestamp;
    use std::io::Write;

    const LIMIT: usize = 1 << 20;

    fn identity(seed: u8) -> Identity {
        let seal = x25519::Identity::generate().to_string();
        Identity::new(&[seed; 32], &seal, Epoch::new([seed; 8])).unwrap()
    }

    fn session(random: u8) -> SessionId {
        SessionId::new(Timestamp::UNIX_EPOCH, [random; 10])
    }

    fn context(recipient: NodeId, sender: NodeId) -> SealContext<'static> {
        SealContext {
            purpose: "exchange",
            session: Some(session(1)),
            revision: None,
            recipient,
            sender,
        }
    }

    /// A receiver, and the context in which the node of seed 1 sends it something.
    fn receiver() -> (Identity, SealContext<'static>) {
        let receiver = identity(2);
        let context = context(receiver.node(), identity(1).node());
        (receiver, context)
    }

    #[test]
    fn a_payload_opens_for_its_receiver_and_nobody_else() {
        let (receiver, context) = receiver();
        for (compress, plain) in
            [(false, &b""[..]), (true, b""), (true, b"dear Ada"), (false, &[7; 300])]
        {
            let sealed = seal(&receiver.seal_key(), &context, plain, compress).unwrap();
            assert_eq!(open(&receiver, &context, &sealed, LIMIT).unwrap(), plain);
            let refused = open(&identity(2), &context, &sealed, LIMIT).unwrap_err();
            assert_eq!(refused, SealingError::ForOthers, "the same id with another seal key");
            let hidden =
                !sealed.windows(8).any(|window| window == b"dear Ada" || window == b"exchange");
            assert!(hidden, "neither payload nor context can be read");
        }
    }

    #[test]
    fn a_payload_opens_as_what_it_was_sealed_as_and_nothing_else() {
        let (receiver, as_sealed) = receiver();
        let sealed = seal(&receiver.seal_key(), &as_sealed, b"dear Ada", false).unwrap();
        let revision = "3-".to_owned() + &"ab".repeat(32);
        let others = [
            SealContext { purpose: "parts", ..as_sealed },
            SealContext { purpose: "", ..as_sealed },
            SealContext { session: Some(session(2)), ..as_sealed },
            SealContext { session: None, ..as_sealed },
            SealContext { revision: Some(revision.parse().unwrap()), ..as_sealed },
            SealContext { recipient: as_sealed.sender, ..as_sealed },
            SealContext { sender: as_sealed.recipient, ..as_sealed },
        ];
        for other in others {
            let refused = open(&receiver, &other, &sealed, LIMIT).unwrap_err();
            assert!(matches!(refused, SealingError::OtherContext(_)), "{other:?}: {refused}");
        }
    }

    #[test]
    fn a_payload_that_was_changed_or_cut_off_does_not_open() {
        let (receiver, context) = receiver();
        let sealed = seal(&receiver.seal_key(), &context, &[7; 100], false).unwrap();
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(open(&receiver, &context, &changed, LIMIT).is_err(), "byte {at} was changed");
            assert!(open(&receiver, &context, &sealed[..at], LIMIT).is_err(), "cut off at {at}");
        }
        let longer = [&sealed[..], b"x"].concat();
        assert!(open(&receiver, &context, &longer, LIMIT).is_err(), "something stands behind it");
    }

    #[test]
    fn a_payload_that_holds_more_than_it_may_is_refused_before_it_is_unpacked() {
        let (receiver, context) = receiver();
        for compress in [true, false] {
            let fits = vec![0; LIMIT];
            let sealed = seal(&receiver.seal_key(), &context, &fits, compress).unwrap();
            assert_eq!(open(&receiver, &context, &sealed, LIMIT).unwrap(), fits);
            let refused = open(&receiver, &context, &sealed, LIMIT - 1).unwrap_err();
            assert_eq!(refused, SealingError::TooLarge { limit: LIMIT - 1 });
        }
        let bomb = seal(&receiver.seal_key(), &context, &vec![0; 64 * LIMIT], true).unwrap();
        assert!(bomb.len() < LIMIT, "64 MiB of nothing are small when they are compressed");
        let refused = open(&receiver, &context, &bomb, LIMIT).unwrap_err();
        assert_eq!(refused, SealingError::TooLarge { limit: LIMIT });
    }

    #[test]
    fn a_payload_that_does_not_say_how_much_it_holds_is_refused() {
        let (receiver, context) = receiver();
        let mut stream = zstd::Encoder::new(Vec::new(), 1).unwrap();
        stream.write_all(&[0; 4096]).unwrap();
        let endless = stream.finish().unwrap();
        let small = zstd::bulk::compress(&[0; 16], 1).unwrap();
        let two_frames = [small.clone(), small].concat();
        for body in [endless, two_frames, b"no frame".to_vec()] {
            let sealed = encrypt(&[receiver.seal_key()], &context, ZSTD, &body).unwrap();
            let refused = open(&receiver, &context, &sealed, LIMIT).unwrap_err();
            assert!(matches!(refused, SealingError::Damaged(_)), "{refused}");
        }
        let sealed = encrypt(&[receiver.seal_key()], &context, 9, b"").unwrap();
        let refused = open(&receiver, &context, &sealed, LIMIT).unwrap_err();
        insta::assert_snapshot!(refused, @"expected a whole sealed payload, found one that was cut off or changed: it is packed in an unknown way");
    }

    #[test]
    fn a_seal_costs_less_than_a_kilobyte_and_a_thousandth() {
        let (receiver, context) = receiver();
        for size in [0, 1000, 3 << 20] {
            let noise: Vec<u8> = (0..size).map(|_| rand::random()).collect();
            let sealed = seal(&receiver.seal_key(), &context, &noise, true).unwrap();
            assert!(sealed.len() <= size + size / 1000 + 1024, "{size} became {}", sealed.len());
        }
    }
}
