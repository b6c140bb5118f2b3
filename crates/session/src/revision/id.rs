//! The name of a revision: `<version>-<SHA-256>`, in which the hash counts and the number helps people.

use crate::part_hash::PartHash;
use crate::text_form::{InvalidText, text_form};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The name of a revision, in text `<version>-<64 hexadecimal digits>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RevisionId {
    pub(super) version: u64,
    pub(super) hash: PartHash,
}

impl RevisionId {
    /// The number in it.
    pub fn version(&self) -> u64 {
        self.version
    }
}

impl fmt::Display for RevisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.version, self.hash)
    }
}

impl FromStr for RevisionId {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let invalid = InvalidText("a revision: a number, '-' and 64 hexadecimal digits");
        let (version, hash) = text.split_once('-').ok_or(invalid)?;
        // A number can be written in other ways too, with a sign or with zeros before it; a name has one.
        if version.starts_with('+') || version.starts_with('0') && version != "0" {
            return Err(invalid);
        }
        let version = version.parse().map_err(|_| invalid)?;
        Ok(Self { version, hash: hash.parse().map_err(|_| invalid)? })
    }
}

text_form!(RevisionId);

#[cfg(feature = "schema")]
impl utoipa::PartialSchema for RevisionId {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        <String as utoipa::PartialSchema>::schema()
    }
}

#[cfg(feature = "schema")]
impl utoipa::ToSchema for RevisionId {}
