//! Words: enums that travel and are stored as one word each.

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
        #[error("expected {}, found {found:?}", $crate::words::choice(&[$($word),+]))]
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
