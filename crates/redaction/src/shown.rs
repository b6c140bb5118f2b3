//! What is shown of the page of a tab, outside of what it does: its address and its title.
//!
//! The one idea: what leaves is of a type that only the redactor makes. Whoever shows an address cannot forget
//! to hide what is secret in it, because there is nothing else to put there.

use crate::Redactor;
use crate::address;
use crate::names::Names;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
use std::fmt;

/// An address as it is shown: without its userinfo, the secrets of its path, the values of its query, and its
/// fragment. It is read as it was written, by whoever is shown it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(transparent))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String))]
pub struct ShownAddress(String);

impl ShownAddress {
    /// What everybody may see of an address.
    #[must_use]
    pub fn of(url: &str) -> Self {
        Self(address::shown(&mut forgetful().work(), url))
    }

    /// All of it: for whoever asked for values and has the scope `reveal`, and for who watches the page itself.
    #[must_use]
    pub fn revealed(url: &str) -> Self {
        Self(url.to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ShownAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<ShownAddress> for String {
    fn from(shown: ShownAddress) -> Self {
        shown.0
    }
}

impl AsRef<str> for ShownAddress {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// The title of the page at an address, without its secrets. A page without one is called by its address, so
/// that is shown as addresses are.
#[must_use]
pub fn shown_title(title: &str, url: &str) -> String {
    let bare = url.split_once("://").map_or(url, |(_, rest)| rest);
    let is_address = |text: &str| text.contains("://") && !text.contains(char::is_whitespace);
    let is_its_own = !title.is_empty() && (url.starts_with(title) || bare.starts_with(title));
    if is_its_own || is_address(title) {
        ShownAddress::of(title).into()
    } else {
        forgetful().line(title)
    }
}

/// One that remembers nothing for later, so that its key keeps nothing.
fn forgetful() -> Redactor {
    Redactor::new(Names::default(), [0; 16])
}
