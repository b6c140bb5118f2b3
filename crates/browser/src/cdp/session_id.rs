//! The id of a flat session, by which a message says whose it is.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The id that `Target.attachToTarget` gave to a flat session; not a Baton session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct CdpSessionId(Arc<str>);

impl CdpSessionId {
    /// The id as the browser wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for CdpSessionId {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for CdpSessionId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<CdpSessionId> for String {
    fn from(id: CdpSessionId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for CdpSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
