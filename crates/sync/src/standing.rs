//! How sync stands, as it changes: for a program that follows it, and to nodes that want to know.
//!
//! The one idea: nothing is polled. A node that is asked for its index by one that has seen it answers when
//! it has another one; so a peer that a client here follows has one request of ours open, and what changes
//! there is known here at once. Without a follower, nothing is asked.

pub use crate::context::peers::Watches;

use crate::context::Sync;
use crate::context::peers::{IndexAnswer, Watched};
use crate::error::SyncError;
use crate::given::index_for;
use crate::remote::{Remote, WAIT};
use crate::{conflicts, deletions, differences, peers};
use baton_api::sync::{
    Difference, IndexMark, NextIndex, PeerStanding, PeerStatus, SyncIndex, SyncStanding,
};
use baton_api::{Answers, ErrorCode};
use baton_runtime::{Caller, Request};
use baton_session::peer::PeerState;
use baton_session::{NodeId, Owner, PeerLimits, SessionId, json};
use baton_store::blocking::blocking;
use baton_store::{Generation, Peer};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

/// How long changes that come together are waited for.
const TOGETHER: Duration = Duration::from_millis(100);
/// How often this node looks for what no event here tells: what other nodes did to a shared database.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// Sync that is followed.
pub struct Followed {
    context: Sync,
    caller: Caller,
    /// Whether peers are asked for what they have.
    asks: bool,
    sessions: broadcast::Receiver<SessionId>,
    peers: watch::Receiver<()>,
    news: watch::Receiver<()>,
    revoked: watch::Receiver<u64>,
    /// The peers that are asked for this caller.
    watched: Vec<Arc<Watched>>,
    told: Option<StandingState>,
    /// A node that a client follows is in use.
    _in_use: Request,
}

/// What the caller knows.
#[derive(PartialEq)]
enum StandingState {
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
        revoked: context.revoked.subscribe(),
        watched: Vec::new(),
        told: None,
        _in_use: context.activity.start_request(),
    }
}

impl Followed {
    /// How it stands now the first time, then after each change. None once the node ends or the caller's key
    /// is revoked. When it cannot be found out, that is reported once, and then waited for.
    pub async fn next(&mut self) -> Option<Result<SyncStanding, SyncError>> {
        let ending = self.context.ending.clone();
        ending.run_until_cancelled(Box::pin(self.poll())).await.flatten()
    }

    async fn poll(&mut self) -> Option<Result<SyncStanding, SyncError>> {
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
                Ok(standing) => StandingState::Standing(Box::new(standing.clone())),
                Err(error) => StandingState::Failed(error.to_string()),
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
                _ = self.revoked.changed() => {}
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
        self.watched = asked
            .map(|peer| context.own.watches.watch(peer, || watch_peer(context, peer)))
            .collect();
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

/// The index for a peer: at once when it has seen another one or none, else as soon as there is another
/// one, and after `WAIT`, or when this node ends, the word that there is none.
pub async fn next_index(
    context: &Sync,
    peer: &Peer,
    known: Option<IndexMark>,
) -> Result<NextIndex, SyncError> {
    let deadline = Instant::now() + WAIT;
    let mut changes = context.store.listen();
    let mut limited = context.own.watches.peers();
    let mut looked: Option<(Generation, PeerLimits)> = None;
    loop {
        // What it is given may be less by now.
        let peer = peers::find_confirmed(context, &peer.owner, &peer.node.to_string()).await?;
        let now = (context.store.owner_generation(&peer.owner).await?, peer.limits.clone());
        if looked.as_ref() != Some(&now) {
            looked = Some(now);
            let index = index_for(context, &peer).await?;
            let marked = Arc::clone(&index);
            let mark = blocking(move || mark(&marked)).await?;
            if known.as_ref() != Some(&mark) {
                deletions::note_told(context, &peer, &index).await?;
                return Ok(NextIndex { mark, index: Some(SyncIndex::clone(&index)) });
            }
        }
        let news = async {
            tokio::select! {
                _ = changes.recv() => sleep(TOGETHER).await,
                _ = limited.changed() => {}
                () = sleep(LOOK_PAUSE) => {}
            }
        };
        let waited = timeout_at(deadline, news);
        let is_over =
            context.ending.run_until_cancelled(waited).await.is_none_or(|one| one.is_err());
        if let (true, Some(mark)) = (is_over, known.clone()) {
            return Ok(NextIndex { mark, index: None });
        }
    }
}

/// Which index it is.
fn mark(index: &SyncIndex) -> IndexMark {
    IndexMark(Sha256::digest(json::bytes(index)).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// The pauses before a peer that does not answer is asked again; it may be gone for days.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A peer that answers sooner than this, again and again, is asked less and less often.
const SOON: Duration = Duration::from_secs(1);
/// The pauses between such answers.
const FIRST_REST: Duration = Duration::from_millis(20);
const LONGEST_REST: Duration = Duration::from_secs(2);

/// Begins to watch a peer.
fn watch_peer(context: &Sync, peer: &Peer) -> Arc<Watched> {
    let (said, until) = (Arc::default(), CancellationToken::new());
    let watch = Watch {
        context: context.clone(),
        owner: peer.owner.clone(),
        node: peer.node,
        said: Arc::clone(&said),
    };
    let (ending, left) = (context.ending.clone(), until.clone());
    context.tasks.spawn(async move {
        tokio::select! {
            () = ending.cancelled() => {}
            () = left.cancelled() => {}
            () = Box::pin(watch.run()) => {}
        }
    });
    Watched::new(peer.node, said, until.drop_guard())
}

/// The work of watching.
struct Watch {
    context: Sync,
    owner: Owner,
    node: NodeId,
    said: Arc<Mutex<Option<IndexAnswer>>>,
}

impl Watch {
    async fn run(self) {
        let mut known: Option<(IndexMark, Arc<SyncIndex>)> = None;
        let (mut pause, mut rest) = (FIRST_PAUSE, FIRST_REST);
        let mut changed = self.context.own.watches.peers();
        loop {
            changed.mark_unchanged();
            let begun = Instant::now();
            match self.ask(known.take()).await {
                Ok(now) => {
                    self.note(Ok(Arc::clone(&now.1)));
                    known = Some(now);
                    pause = FIRST_PAUSE;
                    let is_soon = begun.elapsed() < SOON;
                    rest = if is_soon { (rest * 2).min(LONGEST_REST) } else { FIRST_REST };
                    sleep(rest).await;
                }
                Err(error) => {
                    self.note(Err(error.problem()));
                    // Another key, or another address, may help at once.
                    tokio::select! {
                        () = sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                        _ = changed.changed() => pause = FIRST_PAUSE,
                    }
                }
            }
        }
    }

    /// The index of the peer that comes next, or the one that is known when there is no other.
    async fn ask(
        &self,
        known: Option<(IndexMark, Arc<SyncIndex>)>,
    ) -> Result<(IndexMark, Arc<SyncIndex>), SyncError> {
        let (context, name) = (&self.context, self.node.to_string());
        let peer = peers::find_confirmed(context, &self.owner, &name).await?;
        let mark = known.as_ref().map(|(mark, _)| mark.clone());
        let next = Remote::of(context, &peer).await?.next_index(mark).await?;
        peers::heard(context, &peer);
        match (next.index, known) {
            (Some(index), _) => {
                differences::learn(context, &peer, &index).await?;
                Ok((next.mark, Arc::new(index)))
            }
            (None, Some(known)) => Ok(known),
            (None, None) => {
                let why = "expected an index, found the word that there is no other".to_owned();
                Err(SyncError::Untrusted { why })
            }
        }
    }

    fn note(&self, said: IndexAnswer) {
        let mut last = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref() != Some(&said) {
            *last = Some(said);
            drop(last);
            self.context.own.watches.tell();
        }
    }
}
