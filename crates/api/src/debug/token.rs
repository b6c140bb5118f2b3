//! The name of a debug tab, as lists show it and questions give it back.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use utoipa::ToSchema;

/// Which debug tab. Opaque, safe in an address and in a log: it names a tab and opens nothing, for who
/// asks must own the tab.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, min_length = 8, max_length = 64)]
pub struct TabToken(String);

/// The characters of new ones: no two look alike.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Of how many characters a new one is: 5 bits each.
const LENGTH: usize = 16;

/// A text that names no tab.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected the token of a tab: 8 to 64 letters, digits, '_' or '-', found {found}")]
pub struct InvalidTabToken {
    found: &'static str,
}

impl TabToken {
    /// A new one, of random bytes.
    pub fn new(random: [u8; LENGTH]) -> Self {
        let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
        Self(random.into_iter().map(letter).collect())
    }

    /// The token as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TabToken {
    type Error = InvalidTabToken;

    fn try_from(text: String) -> Result<Self, InvalidTabToken> {
        // What was found is not said: people also give the token of the header, which is a secret.
        let found = match text.len() {
            0..8 => "a shorter text",
            8..=64 => "another character",
            _ => "a longer text",
        };
        let fits = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
        let is_token = (8..=64).contains(&text.len()) && text.bytes().all(fits);
        if is_token { Ok(Self(text)) } else { Err(InvalidTabToken { found }) }
    }
}

impl FromStr for TabToken {
    type Err = InvalidTabToken;

    fn from_str(text: &str) -> Result<Self, InvalidTabToken> {
        Self::try_from(text.to_owned())
    }
}

impl From<TabToken> for String {
    fn from(token: TabToken) -> Self {
        token.0
    }
}

impl fmt::Display for TabToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
