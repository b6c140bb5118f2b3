//! Types that travel as one text: enums that are a word each, and what is read from a text and written as
//! one.

use std::fmt;

/// A text that has not the form it should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct InvalidText(pub(crate) &'static str);

/// The bytes of exactly so many lower-case hexadecimal digits.
pub(crate) fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Writes bytes as lower-case hexadecimal digits. An index has thousands of hashes, so it writes them
/// at once and not digit by digit.
pub(crate) fn write_hex(bytes: &[u8; 32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 64];
    for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
    f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
}

/// Lets types that are read by `FromStr` and written by `Display` travel as that text.
macro_rules! text_form {
    ($($name:ident),+) => {$(
        impl TryFrom<String> for $name {
            type Error = $crate::text_form::InvalidText;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    )+};
}
pub(crate) use text_form;

/// Defines such an enum, with its words, and the error for a word that is none of them.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $name:ident, else $unknown:ident ($noun:literal):
        $( $(#[$doc:meta])* $variant:ident $word:tt, )+
    ) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize,
        )]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        pub enum $name {
            $( $(#[$doc])* #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// Every one, in the order in which lists show them.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word on the wire and in the database.
            pub fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        #[doc = concat!("A word that names no ", $noun, ".")]
        #[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
        #[error("expected {}, found {found:?}", $crate::text_form::choice(&[$($word),+]))]
        pub struct $unknown {
            found: String,
        }

        impl std::str::FromStr for $name {
            type Err = $unknown;

            fn from_str(word: &str) -> Result<Self, $unknown> {
                let named = Self::ALL.into_iter().find(|one| one.as_str() == word);
                named.ok_or_else(|| $unknown { found: word.to_owned() })
            }
        }
    };
}
pub(crate) use words;

/// Words as a person lists them: `a, b or c`.
pub(crate) fn choice(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
