//! Upstream services: services behind a node's proxy, and who may reach them.

use baton_session::Owner;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use url::Url;
use utoipa::ToSchema;

/// Who may reach a cocoon.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename = "CocoonAccess", rename_all = "lowercase")]
#[schema(as = CocoonAccess)]
pub enum UpstreamAccess {
    /// Whoever is on the proxy's machine.
    #[default]
    Loopback,
    /// Whoever has a key of its owner with the scope `debug`, or came in with a ticket.
    Key,
}

/// Which pages of a cocoon get a token, by which they may be looked into. What is left out is as the
/// node's settings say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename = "CocoonPages", default, deny_unknown_fields)]
#[schema(as = CocoonPages)]
pub struct UpstreamPages {
    /// Whether any do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The media types that count as pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_types: Option<Vec<String>>,
    /// How much of a body is kept, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_body_max_size: Option<u32>,
    /// Paths that get none, with what is below them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude_paths: Option<Vec<String>>,
    /// Whether navigations are guessed where a browser does not mark them: scripts of a page can then
    /// read its token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_fetch_metadata: Option<bool>,
}

/// Names a service that the proxy shall stand in front of, or says something else of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename = "PutCocoon", deny_unknown_fields)]
#[schema(as = PutCocoon)]
pub struct PutUpstream {
    /// What people call it; its id when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it answers: `http`, a host and a port, without a path or a user.
    pub upstream: String,
    /// To whom it belongs; to the caller when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub owner: Option<Owner>,
    /// Who may reach it.
    #[serde(default)]
    pub access: UpstreamAccess,
    /// Which of its pages may be looked into.
    #[serde(default)]
    pub browser_debug: UpstreamPages,
}

/// A service behind the proxy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CocoonView)]
pub struct UpstreamView {
    /// Which one.
    pub id: UpstreamId,
    /// What people call it.
    pub name: String,
    /// Where it answers.
    pub upstream: Url,
    /// To whom it belongs.
    #[schema(value_type = String)]
    pub owner: Owner,
    /// Who may reach it.
    pub access: UpstreamAccess,
    /// Whether the settings of the node name it, rather than the API.
    pub in_settings: bool,
    /// Which of its pages may be looked into.
    pub browser_debug: UpstreamPages,
    /// Where its pages are; nowhere while the node has no proxy.
    pub urls: Vec<Url>,
}

/// The cocoons of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CocoonList)]
pub struct UpstreamList {
    /// By id.
    pub items: Vec<UpstreamView>,
}

/// Opens a cocoon in a browser, once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CocoonTicket)]
pub struct UpstreamTicket {
    /// The address to open.
    pub url: Url,
    /// Until when it counts.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

impl fmt::Debug for UpstreamTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamTicket")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// The longest id: what one label of a host name holds (RFC 1035, 2.3.4).
const LONGEST: usize = 63;

/// Which cocoon. It stands in host names and in addresses, so it is one label of a host name: lower-case
/// letters, digits and hyphens, neither first nor last a hyphen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(as = CocoonId, value_type = String, min_length = 1, max_length = 63)]
pub struct UpstreamId(String);

/// A text that names no upstream service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the id of a cocoon: 1 to {LONGEST} lower-case letters, digits or '-', which is neither \
     first nor last, found {found:?}"
)]
pub struct InvalidUpstreamId {
    /// The beginning of what was found.
    found: String,
}

impl UpstreamId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for UpstreamId {
    type Error = InvalidUpstreamId;

    fn try_from(text: String) -> Result<Self, InvalidUpstreamId> {
        let letter = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let is_id = (1..=LONGEST).contains(&text.len())
            && text.bytes().all(letter)
            && !text.starts_with('-')
            && !text.ends_with('-');
        if is_id {
            Ok(Self(text))
        } else {
            Err(InvalidUpstreamId { found: text.chars().take(80).collect() })
        }
    }
}

impl FromStr for UpstreamId {
    type Err = InvalidUpstreamId;

    fn from_str(text: &str) -> Result<Self, InvalidUpstreamId> {
        Self::try_from(text.to_owned())
    }
}

impl From<UpstreamId> for String {
    fn from(id: UpstreamId) -> Self {
        id.0
    }
}

impl fmt::Display for UpstreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::UpstreamId;

    #[test]
    fn an_id_is_one_label_of_a_host_name() {
        for good in ["shop", "shop-2", "7", &"a".repeat(63)] {
            assert_eq!(good.parse::<UpstreamId>().unwrap().as_str(), good);
        }
        for bad in ["", "-a", "a-", "a.b", "A", "a_b", "ä", "a/b", &"a".repeat(64)] {
            assert!(bad.parse::<UpstreamId>().is_err(), "{bad:?}");
        }
    }
}
