//! That something changed, for a caller who follows the node.
//!
//! The one idea: the node says *that*, and a client that wants to know *what* asks for the list. So a slow
//! follower misses nothing but hints that came together, and nothing is queued.

use crate::cluster::{List, ListChange, OwnerMark};
use crate::context::Context;
use crate::error::NodeError;
use baton_agents::sandboxes;
use baton_api::Scope;
use baton_api::debug::DebugTab;
use baton_runtime::{Caller, Request};
use baton_session::{Owner, SandboxId, SessionId};
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
    /// The caller's sandboxes.
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
    tabs: broadcast::Receiver<Owner>,
    sandboxes: broadcast::Receiver<Owner>,
    /// Lists of other nodes.
    lists: broadcast::Receiver<ListChange>,
    revoked: watch::Receiver<u64>,
    seen: ListState,
    /// Whether each write is told.
    tells_writes: bool,
    /// What is to be sent yet.
    untold: VecDeque<Change>,
    /// A node that a client follows is in use.
    _in_use: Request,
}

/// Why it is looked.
enum Woken {
    /// Something of this session was written; of which one is not known.
    Written(Option<SessionId>),
    /// These lists of the caller's are others at another node.
    Lists(Vec<List>),
    /// Something may have changed at this node.
    Look,
}

/// The lists of the owner with this mark that a change is about.
fn lists_of(change: ListChange, owner: OwnerMark) -> Vec<List> {
    match change {
        Some((list, of)) => (of == owner).then_some(list).into_iter().collect(),
        None => vec![List::Tabs, List::Sandboxes],
    }
}

/// Waits for a change of a list of this owner at another node.
async fn next_of(lists: &mut broadcast::Receiver<ListChange>, owner: OwnerMark) -> Vec<List> {
    loop {
        let changed = lists_of(lists.recv().await.ok().flatten(), owner);
        if !changed.is_empty() {
            return changed;
        }
    }
}

/// Waits until something of this owner may have changed at this node.
async fn until_of(told: &mut broadcast::Receiver<Owner>, owner: &Owner) {
    while told.recv().await.is_ok_and(|changed| changed != *owner) {}
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
        sandboxes: context.agents.sandboxes.listen(),
        lists: context.doorbell.listen_to_lists(),
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
    let sessions = context.store.sessions_mark(&caller.owner).await?;
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
            let woken = timeout(LOOK_PAUSE, self.wake()).await.ok();
            if woken.is_some() {
                sleep(TOGETHER).await;
            }
            let (mut written, mut lists) = (None, BTreeSet::new());
            match woken {
                Some(Woken::Written(id)) => written = Some(id),
                Some(Woken::Lists(changed)) => lists.extend(changed),
                Some(Woken::Look) | None => {}
            }
            let written = self.written(written);
            self.add_lists(&mut lists);
            if self.context.is_shut_out(&self.caller).await.unwrap_or(false) {
                return None;
            }
            for id in written {
                if self.is_told(id).await {
                    self.untold.push_back(Change::Written(id));
                }
            }
            // A database that does not answer now is asked at the next look.
            if let Ok(now) = read_lists(&self.context, &self.caller).await {
                self.compare(now);
            }
            // What is in the memory of other nodes cannot be compared: their word counts.
            for list in lists {
                self.tell_list(list);
            }
        }
    }

    /// Waits for a reason to look.
    async fn wake(&mut self) -> Woken {
        let (owner, mark) = (&self.caller.owner, OwnerMark::of(&self.caller.owner));
        tokio::select! {
            written = self.sessions.recv() => Woken::Written(written.ok()),
            written = self.elsewhere.recv() => Woken::Written(written.ok().flatten()),
            changed = next_of(&mut self.lists, mark) => Woken::Lists(changed),
            () = until_of(&mut self.tabs, owner) => Woken::Look,
            () = until_of(&mut self.sandboxes, owner) => Woken::Look,
            _ = self.revoked.changed() => Woken::Look,
        }
    }

    /// Adds the caller's lists at other nodes that changed since; of this node's nothing waits any more.
    fn add_lists(&mut self, lists: &mut BTreeSet<List>) {
        let mark = OwnerMark::of(&self.caller.owner);
        loop {
            match self.lists.try_recv() {
                Ok(change) => lists.extend(lists_of(change, mark)),
                Err(TryRecvError::Lagged(_)) => lists.extend(lists_of(None, mark)),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        // They are looked at in a moment.
        (self.tabs, self.sandboxes) = (self.tabs.resubscribe(), self.sandboxes.resubscribe());
    }

    /// A list of the caller's is another one at another node.
    fn tell_list(&mut self, list: List) {
        let (scope, change) = match list {
            List::Tabs => (Scope::Debug, Change::Tabs),
            List::Sandboxes => (Scope::Sandbox, Change::Sandboxes),
        };
        if self.caller.require(scope).is_ok() && !self.untold.contains(&change) {
            self.untold.push_back(change);
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
