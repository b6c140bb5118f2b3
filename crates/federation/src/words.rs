//! The words of a task: its status and its priority. A word that we do not know is kept.

use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// An enum of words, with room for the words of others.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$word_doc])* $variant,)*
            /// A word of another program.
            Other(String),
        }

        impl $name {
            /// The word in the file.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)*
                    _ => Self::Other(word),
                }
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }

        impl FromStr for $name {
            type Err = Infallible;

            fn from_str(word: &str) -> Result<Self, Infallible> {
                Ok(Self::from(word.to_owned()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// How far a task is. That one waits for others is derived, never written.
    TaskStatus {
        /// Nobody has it.
        Pending "pending",
        /// An agent has it and has not begun.
        Claimed "claimed",
        /// An agent works on it.
        InProgress "in_progress",
        /// Done.
        Completed "completed",
    }
}

words! {
    /// How soon a task is wanted.
    Priority {
        /// When there is nothing else.
        Low "low",
        /// As it comes.
        Normal "normal",
        /// Before the others.
        High "high",
        /// Before everything.
        Urgent "urgent",
    }
}

impl Priority {
    /// The larger, the sooner. A word that we do not know counts as normal.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Low => 0,
            Self::Normal | Self::Other(_) => 1,
            Self::High => 2,
            Self::Urgent => 3,
        }
    }
}
