//! What whatever moves sessions is given: what every operation on one is, and what this node knows of others.

use super::folder::known::FolderState;
use super::icon::known::KnownIcons;
use super::index_cache::IndexCache;
use super::movements::Given;
use super::peers::seen::Statuses;
use super::seen::looks::Looks;
use super::settings::SyncSettings;
use super::standing::watches::Watches;
use crate::identity::{NodeSettings, OwnIdentity};
use crate::messages::Replays;
use crate::oidc::{Gate, Tokens};
use crate::webhooks::Webhooks;
use baton_net::outbound::Outbound;
use baton_runtime::Runtime;
use std::ops::Deref;
use std::sync::Arc;

/// The surroundings of whatever moves sessions: those of an operation on one, and its own. Cheap to clone.
#[derive(Clone)]
pub struct Sync {
    /// Those of an operation on a session.
    pub runtime: Runtime,
    /// Its own.
    pub own: Arc<Own>,
}

/// What this node is to others, and what it knows of them.
pub struct Own {
    /// Who this node is, and in which epoch.
    pub identity: OwnIdentity,
    /// What it says of itself to others.
    pub node_settings: NodeSettings,
    /// How sessions move.
    pub settings: SyncSettings,
    /// Which addresses it asks.
    pub outbound: Outbound,
    /// Lets in nodes that show a token; none takes no tokens.
    pub gate: Option<Gate>,
    /// The tokens with which this node is let in elsewhere.
    pub tokens: Tokens,
    /// Requests of nodes that were taken.
    pub replays: Arc<Replays>,
    /// Whether peers answer.
    pub statuses: Statuses,
    /// Which sessions go to peers right now.
    pub given: Given,
    /// The peers that somebody follows.
    pub watches: Watches,
    /// What is shared, by owner.
    pub indexes: Arc<IndexCache>,
    /// What peers were shown who are given a part of sessions.
    pub looks: Arc<Looks>,
    /// Which icons peers gave.
    pub icons: Arc<KnownIcons>,
    /// What lies in the sync directory.
    pub folder: FolderState,
    /// Who is told of sessions that come from elsewhere.
    pub webhooks: Webhooks,
}

impl Deref for Sync {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        &self.runtime
    }
}
