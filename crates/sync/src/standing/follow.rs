//! How sync stands, for a caller who follows it: as it is now, and again whenever it is another one.

use super::super::{conflicts, differences, peers};
use super::watched::Watched;
use super::watching::begin;
use super::{LOOK_PAUSE, TOGETHER};
use crate::context::Sync;
use crate::error::SyncError;
use baton_api::ErrorCode;
use baton_api::sync::{Difference, PeerStanding, PeerStatus, SyncStanding};
use baton_runtime::Caller;
use baton_runtime::Request;
use baton_session::SessionId;
use baton_session::peer::PeerState;
use baton_store::Peer;
use std::sync::Arc;
use tokio::sync::{broadcast, watch};
use tokio::time::{sleep, timeout};

/// Sync that is followed.
pub struct Followed {
    context: Sync,
    caller: Caller,
    /// Whether peers are asked for what they have.
    asks: bool,
    sessions: broadcast::Receiver<SessionId>,
    peers: watch::Receiver<()>,
    news: watch::Receiver<()>,
    /// The peers that are asked for this caller.
    watched: Vec<Arc<Watched>>,
    told: Option<Told>,
    /// A node to which somebody listens is of use.
    _in_use: Request,
}

/// What the caller knows.
#[derive(PartialEq)]
enum Told {
    Standing(Box<SyncStanding>),
    Failed(String),
}

/// Follows it from now on; peers are asked for what they have when that is wanted.
pub fn follow(context: &Sync, caller: &Caller, asks: bool) -> Followed {
    Followed {
        context: context.clone(),
        caller: caller.clone(),
        asks,
        sessions: context.store.listen(),
        peers: context.own.watches.peers(),
        news: context.own.watches.news(),
        watched: Vec::new(),
        told: None,
        _in_use: context.activity.begin(),
    }
}

impl Followed {
    /// How it stands now the first time, then after each change. None once the node ends or the caller's
    /// key is revoked. When it cannot be found out, that is told once, and then waited for.
    pub async fn next(&mut self) -> Option<Result<SyncStanding, SyncError>> {
        let ending = self.context.ending.clone();
        ending.run_until_cancelled(Box::pin(self.look())).await.flatten()
    }

    async fn look(&mut self) -> Option<Result<SyncStanding, SyncError>> {
        loop {
            // The first word comes at once.
            if self.told.is_some() {
                self.wait().await;
            }
            if self.context.is_shut_out(&self.caller).await.unwrap_or(false) {
                return None;
            }
            // What changes from here on is seen at the next look.
            self.sessions = self.sessions.resubscribe();
            self.peers.mark_unchanged();
            self.news.mark_unchanged();
            let found = self.standing().await;
            let told = match &found {
                Ok(standing) => Told::Standing(Box::new(standing.clone())),
                Err(error) => Told::Failed(error.to_string()),
            };
            if self.told.as_ref() != Some(&told) {
                self.told = Some(told);
                return Some(found);
            }
        }
    }

    /// Waits for a change, and for those that come with it; not for ever, because other nodes may change a
    /// database that is shared, and keys are revoked.
    async fn wait(&mut self) {
        let changed = async {
            tokio::select! {
                _ = self.sessions.recv() => {}
                _ = self.peers.changed() => {}
                _ = self.news.changed() => {}
            }
        };
        if timeout(LOOK_PAUSE, changed).await.is_ok() {
            sleep(TOGETHER).await;
        }
    }

    async fn standing(&mut self) -> Result<SyncStanding, SyncError> {
        let (context, owner) = (self.context.clone(), self.caller.owner.clone());
        let found = context.store.list_peers(&owner).await?;
        self.watch(&found);
        let mut peers = Vec::with_capacity(found.len());
        for peer in found {
            peers.push(self.peer(peer).await?);
        }
        peers.sort_by(|a, b| a.peer.name.cmp(&b.peer.name));
        let conflicts = conflicts(&context, &self.caller).await?.items;
        Ok(SyncStanding { conflicts, peers })
    }

    /// Watches the peers that can be asked, if that is wanted, and no others.
    fn watch(&mut self, found: &[Peer]) {
        let is_asked = |peer: &&Peer| {
            peer.state == PeerState::Confirmed && peer.url.is_some() && peer.credential.is_some()
        };
        let asked = found.iter().filter(is_asked).filter(|_| self.asks);
        let context = &self.context;
        // Those that go on are held before the others are let go.
        self.watched =
            asked.map(|peer| context.own.watches.watch(peer, || begin(context, peer))).collect();
    }

    async fn peer(&self, peer: Peer) -> Result<PeerStanding, SyncError> {
        let context = &self.context;
        let watched = self.watched.iter().find(|one| one.node == peer.node);
        let (items, problem) = match watched.and_then(|one| one.said()) {
            None => (None, None),
            Some(Err(problem)) => (None, Some(problem)),
            Some(Ok(there)) => {
                let mut items = differences::compared(context, &peer, &there).await?;
                items.retain(|item| item.difference != Difference::Same);
                (Some(items), None)
            }
        };
        let mut view = peers::unasked(context, peer);
        if let Some(problem) = &problem {
            let is_gone = problem.code == ErrorCode::PeerUnreachable;
            view.status = if is_gone { PeerStatus::Offline } else { PeerStatus::Online };
            view.reason = Some(problem.detail.clone());
        } else if items.is_some() {
            view.status = PeerStatus::Online;
        }
        Ok(PeerStanding { peer: view, items, problem })
    }
}
