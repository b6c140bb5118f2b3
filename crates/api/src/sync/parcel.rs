//! Parts as they travel: a list of parcels in one body.
//!
//! A body is a row of parcels. Each begins with the length of its head as four bytes, big end first,
//! then the head as JSON, then its bytes, whose number the head says. A body travels sealed.

use baton_session::{PartHash, PartKind, PartRef, json};
use serde::{Deserialize, Serialize};

/// The longest head of a parcel, in bytes.
const HEAD_MAX: usize = 64 << 10;
/// How many bytes a head has about, with its length.
const HEAD_USUAL: usize = 256;

/// One part on its way.
#[derive(Clone, PartialEq, Eq)]
pub struct Parcel {
    /// Which part.
    pub part: PartRef,
    /// The part from which it differs; none when it travels whole.
    pub base: Option<PartHash>,
    /// The part as it is kept, compressed or not; with a base, a zstd frame (RFC 8878) that has the
    /// base as its prefix.
    pub bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    kind: PartKind,
    name: String,
    hash: PartHash,
    size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<PartHash>,
    length: usize,
}

/// A body that holds something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected parcels of parts, found {0}")]
pub struct InvalidParcels(&'static str);

impl std::fmt::Debug for Parcel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Parcel({}, {} bytes)", self.part.hash, self.bytes.len())
    }
}

/// Writes parcels one behind the other.
pub fn write(parcels: &[Parcel]) -> Vec<u8> {
    let bytes = parcels.iter().map(|parcel| parcel.bytes.len() + HEAD_USUAL).sum();
    let mut body = Vec::with_capacity(bytes);
    for Parcel { part, base, bytes } in parcels {
        let PartRef { kind, name, hash, size } = part.clone();
        let head = Head { kind, name, hash, size, base: *base, length: bytes.len() };
        // It is far shorter than four bytes can say.
        let head = json::bytes(&head);
        body.extend(u32::try_from(head.len()).unwrap_or_default().to_be_bytes());
        body.extend(head);
        body.extend(bytes);
    }
    body
}

/// Reads what [`write()`] wrote.
pub fn read(mut body: &[u8]) -> Result<Vec<Parcel>, InvalidParcels> {
    let mut parcels = Vec::new();
    while !body.is_empty() {
        let (length, rest) =
            body.split_first_chunk::<4>().ok_or(InvalidParcels("half a length"))?;
        let length = u32::from_be_bytes(*length) as usize;
        if length > HEAD_MAX || length > rest.len() {
            return Err(InvalidParcels("a head that is too long"));
        }
        let (head, rest) = rest.split_at(length);
        let head = serde_json::from_slice(head).map_err(|_| InvalidParcels("no head"))?;
        let Head { kind, name, hash, size, base, length } = head;
        if length > rest.len() {
            return Err(InvalidParcels("half a part"));
        }
        let (bytes, rest) = rest.split_at(length);
        let part = PartRef { kind, name, hash, size };
        parcels.push(Parcel { part, base, bytes: bytes.to_vec() });
        body = rest;
    }
    Ok(parcels)
}
