//! A page that is signed in, as what is done in its name knows it: the key behind it, and when it ends.
//!
//! The one idea: it stands for one API key, found by the hash of its secret, as keys are: it may what the key may, and
//! ends with it. A person who came from a provider has a key that a node made for their pages, and whose secret nobody
//! has.

use super::halves::{NewPage, PageHash};
use baton_session::Owner;
use baton_store::clock::Deadline;
use baton_sync::oidc::RuleId;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a page stays signed in.
const SESSION_LIMIT: SignedDuration = SignedDuration::from_hours(12);
/// How many pages one key may be signed in to; one more ends the one that ends first.
pub(super) const SESSIONS_OF_A_KEY: u32 = 32;

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

impl PageKey {
    /// A page that is signed in with it at this time: for as long as any is, but no longer than its person may.
    pub(super) fn new_page(&self, now: Timestamp) -> NewPage {
        let longest = now + SESSION_LIMIT;
        let ends_at = self.person.as_ref().map_or(longest, |person| person.ends_at.min(longest));
        NewPage::generate(ends_at, ends_at.duration_since(now))
    }
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
    /// The hash of the half that its browser keeps: by that another node of a cluster finds it.
    pub(crate) cookie: PageHash,
    /// The key behind it.
    pub(crate) key: PageKey,
    /// When it ends.
    pub(crate) ends_at: Timestamp,
    /// The same by the clocks of this node.
    until: Deadline,
    /// Ends what it has open; who has something open has this in hand.
    pub(super) ended: Arc<CancellationToken>,
}

impl LivePage {
    /// One that ends then, so long from now, or with `ended`.
    pub(super) fn new(
        cookie: PageHash,
        key: PageKey,
        ends_at: Timestamp,
        left: SignedDuration,
        ended: Arc<CancellationToken>,
    ) -> Self {
        let until = Deadline::after(Duration::try_from(left).unwrap_or_default());
        Self { cookie, key, ends_at, until, ended }
    }

    /// Waits until it has ended.
    pub(crate) async fn end(self) {
        tokio::select! {
            () = self.ended.cancelled() => {}
            () = self.until.wait() => {}
        }
    }

    /// Whether something is done in its name, besides keeping it.
    pub(super) fn is_open(&self) -> bool {
        Arc::strong_count(&self.ended) > 1
    }
}
