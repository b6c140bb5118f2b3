//! That something changed, for a caller who follows the node.
//!
//! The one idea: the node says *that*, and a client that wants to know *what* asks for the list. So a slow
//! follower misses nothing but hints that came together, and nothing is queued.

use crate::context::Context;
use crate::error::NodeError;
use baton_agents::sandboxes;
use baton_api::Scope;
use baton_api::debug::DebugTab;
use baton_runtime::{Caller, Request};
use baton_session::{SandboxId, SessionId};
use baton_store::SessionsMark;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;
use tokio::sync::broadcast::error::TryRecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::{sleep, timeout};

/// How long changes that come together are waited for.
const TOGETHER: Duration = Duration::from_millis(100);
/// How often this node looks for what no event here tells, and whether the caller's key was revoked.
const LOOK_PAUSE: Duration = Duration::from_secs(5);
/// Of how many sessions it is told at once that something was written.
const MOST_WRITTEN: usize = 64;

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The list of the caller's sessions, or the state of one of them.
    Sessions,
    /// The tabs that the caller can look into.
    Tabs,
    /// The caller's sandboxes at this node.
    Sandboxes,
    /// Something of one of the caller's sessions was written; of which one is not known where too much came.
    Written(Option<SessionId>),
}

/// A node that is followed.
pub(crate) struct Followed {
    context: Context,
    caller: Caller,
    sessions: broadcast::Receiver<SessionId>,
    /// The same of other nodes; none where anything may have changed.
    elsewhere: broadcast::Receiver<Option<SessionId>>,
    tabs: watch::Receiver<()>,
    sandboxes: watch::Receiver<()>,
    revoked: watch::Receiver<u64>,
    seen: ListState,
    /// Whether each write is told.
    tells_writes: bool,
    /// What is to be sent yet.
    untold: VecDeque<Change>,
    /// A node that a client follows is in use.
    _in_use: Request,
}

/// What the lists were like.
#[derive(PartialEq)]
struct ListState {
    sessions: SessionsMark,
    tabs: Vec<DebugTab>,
    sandboxes: Vec<SandboxId>,
}

/// Follows the node: what changes from now on is sent.
pub(crate) async fn follow(
    context: &Context,
    caller: &Caller,
    tells_writes: bool,
) -> Result<Followed, NodeError> {
    Ok(Followed {
        sessions: context.store.listen(),
        elsewhere: context.doorbell.listen(),
        tabs: context.relay.listen(),
        sandboxes: context.agents.sandboxes.changes(),
        revoked: context.revoked.subscribe(),
        seen: read_lists(context, caller).await?,
        tells_writes,
        context: context.clone(),
        caller: caller.clone(),
        untold: VecDeque::new(),
        _in_use: context.activity.start_request(),
    })
}

async fn read_lists(context: &Context, caller: &Caller) -> Result<ListState, NodeError> {
    let sessions = context.store.sessions_mark(&caller.owner, context.node).await?;
    let tabs = match caller.require(Scope::Debug) {
        Ok(()) => context.bus.tabs(&caller.owner).await?,
        Err(_) => Vec::new(),
    };
    let sandboxes = match caller.require(Scope::Sandbox) {
        Ok(()) => sandboxes::list(&context.agents, caller).items,
        Err(_) => Vec::new(),
    };
    let sandboxes = sandboxes.into_iter().map(|sandbox| sandbox.id).collect();
    Ok(ListState { sessions, tabs, sandboxes })
}

impl Followed {
    /// The next change; none once the node ends or the caller's key is revoked.
    pub(crate) async fn next(&mut self) -> Option<Change> {
        let ending = self.context.ending.clone();
        ending.run_until_cancelled(Box::pin(self.wait())).await.flatten()
    }

    async fn wait(&mut self) -> Option<Change> {
        loop {
            if let Some(change) = self.untold.pop_front() {
                return Some(change);
            }
            let changed = async {
                tokio::select! {
                    written = self.sessions.recv() => Some(written.ok()),
                    written = self.elsewhere.recv() => Some(written.ok().flatten()),
                    _ = self.tabs.changed() => None,
                    _ = self.sandboxes.changed() => None,
                    _ = self.revoked.changed() => None,
                }
            };
            let first = timeout(LOOK_PAUSE, changed).await.ok();
            if first.is_some() {
                sleep(TOGETHER).await;
            }
            let written = self.written(first.flatten());
            if self.context.is_shut_out(&self.caller).await.unwrap_or(false) {
                return None;
            }
            self.tabs.mark_unchanged();
            self.sandboxes.mark_unchanged();
            for id in written {
                if self.is_told(id).await {
                    self.untold.push_back(Change::Written(id));
                }
            }
            // A database that does not answer now is asked at the next look.
            if let Ok(now) = read_lists(&self.context, &self.caller).await {
                self.compare(now);
            }
        }
    }

    /// What was written since, each once; none of them is known where too much was.
    fn written(
        &mut self,
        first: impl IntoIterator<Item = Option<SessionId>>,
    ) -> BTreeSet<Option<SessionId>> {
        let mut written: BTreeSet<_> = first.into_iter().collect();
        loop {
            match self.sessions.try_recv() {
                Ok(id) => written.insert(Some(id)),
                Err(TryRecvError::Lagged(_)) => written.insert(None),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            };
        }
        loop {
            match self.elsewhere.try_recv() {
                Ok(id) => written.insert(id),
                Err(TryRecvError::Lagged(_)) => written.insert(None),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            };
        }
        if written.contains(&None) || written.len() > MOST_WRITTEN {
            written = [None].into();
        }
        written
    }

    /// Whether the caller is told of this write: another owner's is none of theirs.
    async fn is_told(&self, id: Option<SessionId>) -> bool {
        let Some(id) = id.filter(|_| self.tells_writes) else { return self.tells_writes };
        self.context.store.fetch_session(&self.caller.owner, id).await.is_ok()
    }

    fn compare(&mut self, now: ListState) {
        if now.sessions != self.seen.sessions {
            self.untold.push_back(Change::Sessions);
        }
        if now.tabs != self.seen.tabs {
            self.untold.push_back(Change::Tabs);
        }
        if now.sandboxes != self.seen.sandboxes {
            self.untold.push_back(Change::Sandboxes);
        }
        self.seen = now;
    }
}
