//! Cocoons: services behind the proxy.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use utoipa::ToSchema;

/// The longest id: what one label of a host name holds (RFC 1035, 2.3.4).
const LONGEST: usize = 63;

/// Which cocoon. It stands in host names and in addresses, so it is one label of a host name: lower-case
/// letters, digits and hyphens, neither first nor last a hyphen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, min_length = 1, max_length = 63)]
pub struct CocoonId(String);

/// A text that names no cocoon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the id of a cocoon: 1 to {LONGEST} lower-case letters, digits or '-', which is neither \
     first nor last, found {found:?}"
)]
pub struct InvalidCocoonId {
    /// The beginning of what was found.
    found: String,
}

impl CocoonId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CocoonId {
    type Error = InvalidCocoonId;

    fn try_from(text: String) -> Result<Self, InvalidCocoonId> {
        let letter = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let is_id = (1..=LONGEST).contains(&text.len())
            && text.bytes().all(letter)
            && !text.starts_with('-')
            && !text.ends_with('-');
        if is_id {
            Ok(Self(text))
        } else {
            Err(InvalidCocoonId { found: text.chars().take(80).collect() })
        }
    }
}

impl FromStr for CocoonId {
    type Err = InvalidCocoonId;

    fn from_str(text: &str) -> Result<Self, InvalidCocoonId> {
        Self::try_from(text.to_owned())
    }
}

impl From<CocoonId> for String {
    fn from(id: CocoonId) -> Self {
        id.0
    }
}

impl fmt::Display for CocoonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::CocoonId;

    #[test]
    fn an_id_is_one_label_of_a_host_name() {
        for good in ["shop", "shop-2", "7", &"a".repeat(63)] {
            assert_eq!(good.parse::<CocoonId>().unwrap().as_str(), good);
        }
        for bad in ["", "-a", "a-", "a.b", "A", "a_b", "ä", "a/b", &"a".repeat(64)] {
            assert!(bad.parse::<CocoonId>().is_err(), "{bad:?}");
        }
    }
}
