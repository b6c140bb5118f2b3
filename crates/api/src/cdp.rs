//! The way of another tool to a session's browser.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

/// Asks for an address that opens a session's browser by itself, for tools that take an address and
/// no headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenCdp {
    /// Whether it opens more than once, for a tool that connects again after a resume.
    #[serde(default)]
    pub reusable: bool,
}

/// An address that opens a session's browser: as good as the browser itself.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CdpAccess {
    /// Speaks the Chrome DevTools Protocol. It carries a ticket, which is a secret.
    pub cdp_url: Url,
    /// When the ticket ends; one that opens once ends with that, too.
    pub expires_at: Timestamp,
}

impl std::fmt::Debug for CdpAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CdpAccess").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}
