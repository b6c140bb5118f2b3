//! A page that is signed in, as what is done in its name knows it: the key behind it, and when it ends.

use super::halves::PageHash;
use baton_session::Owner;
use baton_store::clock;
use baton_sync::oidc::RuleId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The key behind a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageKey {
    /// What the database knows of its secret.
    pub(crate) secret_hash: PageHash,
    /// Names it.
    pub(crate) id: String,
    /// Whose it is.
    pub(crate) owner: Owner,
    /// For whom the node made it; none where somebody has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) person: Option<PagePerson>,
}

/// A person who came from a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PagePerson {
    /// Who they are at the provider.
    pub(crate) id: PageHash,
    /// The rule that let them in.
    pub(crate) rule: RuleId,
    /// When their pages end.
    pub(crate) ends_at: Timestamp,
}

/// A page session that was found.
#[derive(Clone)]
pub(crate) struct LivePage {
    /// The key behind it.
    pub(crate) key: PageKey,
    /// When it ends.
    pub(crate) ends_at: Timestamp,
    pub(super) ended: CancellationToken,
}

impl LivePage {
    /// Waits until it has ended.
    pub(crate) async fn end(self) {
        let left = self.ends_at.duration_since(clock::now());
        let left = Duration::try_from(left).unwrap_or_default();
        // Either is the end.
        let _ = tokio::time::timeout(left, self.ended.cancelled()).await;
    }
}
