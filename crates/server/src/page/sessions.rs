//! Who is signed in to the page: at this node alone, or at all nodes of its cluster.
//!
//! The one idea: who asks does not care. What a node by itself keeps in a file, the nodes of a cluster keep in their
//! database.

use super::halves::{NewPage, PageHalves, PageHash};
use super::live::{LivePage, PageKey};
use super::own::OwnPages;
use super::shared::SharedPages;
use crate::cluster::Cluster;
use baton_store::data::{DataError, DataFolder};
use baton_store::{Store, StoreError, clock};
use baton_sync::oidc::RuleId;
use jiff::Timestamp;
use std::collections::BTreeSet;
use tokio::sync::MutexGuard;

/// The page sessions that count at a node. Cheap to clone.
#[derive(Clone)]
pub(crate) enum PageSessions {
    /// Those of this node.
    Own(OwnPages),
    /// Those of its cluster.
    Shared(SharedPages),
}

/// It cannot be said, or kept, who is signed in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// The file of this node.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The database of the cluster.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PageSessions {
    /// Those of the cluster, where the node is of one; else those that its data folder knows.
    pub(crate) fn load(data: &DataFolder, store: &Store, cluster: Option<&Cluster>) -> Self {
        match cluster {
            Some(cluster) => Self::Shared(SharedPages::new(store.clone(), cluster.clone())),
            None => Self::Own(OwnPages::load(data)),
        }
    }

    /// What time it is by the clock that says when pages end.
    pub(crate) fn now(&self) -> Timestamp {
        match self {
            Self::Own(_) => clock::now(),
            Self::Shared(pages) => pages.now(),
        }
    }

    /// Holds whoever makes a key for a person's page, or removes those without a page, until the other is done. In a
    /// cluster a key is spared that has just been made.
    pub(crate) async fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        match self {
            Self::Own(pages) => Some(pages.turn().await),
            Self::Shared(_) => None,
        }
    }

    /// Signs a page in; that is on disk when this returns. None where its key is gone meanwhile.
    pub(crate) async fn open(&self, key: PageKey) -> Result<Option<NewPage>, PageError> {
        Ok(match self {
            Self::Own(pages) => Some(pages.open(key).await?),
            Self::Shared(pages) => pages.open(&key).await?,
        })
    }

    /// The page session whose both halves a request shows, while it lasts.
    pub(crate) async fn find(&self, shown: &PageHalves) -> Result<Option<LivePage>, StoreError> {
        match self {
            Self::Own(pages) => Ok(pages.find(shown)),
            Self::Shared(pages) => pages.find(shown).await,
        }
    }

    /// That of which another node of the cluster says that both halves were shown there.
    pub(crate) async fn find_passed(
        &self,
        cookie: PageHash,
    ) -> Result<Option<LivePage>, StoreError> {
        match self {
            Self::Own(_) => Ok(None),
            Self::Shared(pages) => pages.find_passed(cookie).await,
        }
    }

    /// Signs a page out: what it has open ends, here at once, at other nodes within a second.
    pub(crate) async fn close(&self, shown: &PageHalves) -> Result<(), PageError> {
        match self {
            Self::Own(pages) => pages.close(shown).await?,
            Self::Shared(pages) => pages.close(shown).await?,
        }
        Ok(())
    }

    /// The key behind the pages that a person has by this rule, if there is one.
    pub(crate) async fn key_of_person(
        &self,
        id: PageHash,
        rule: RuleId,
    ) -> Result<Option<PageKey>, StoreError> {
        match self {
            Self::Own(pages) => Ok(pages.key_of_person(id, rule)),
            Self::Shared(pages) => pages.key_of_person(id, rule).await,
        }
    }

    /// Ends the pages of persons whom none of these rules let in.
    pub(crate) async fn keep_rules(&self, rules: &BTreeSet<RuleId>) -> Result<(), PageError> {
        match self {
            Self::Own(pages) => pages.keep_rules(rules).await?,
            Self::Shared(pages) => pages.keep_rules(rules).await?,
        }
        Ok(())
    }
}
