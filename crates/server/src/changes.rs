//! That something changed, for a caller who follows the node: its sessions, and the tabs that it can look into.
//!
//! The one idea: the node says *that*, and a client that wants to know *what* asks for the list. So a slow
//! follower misses nothing but hints that came together, and nothing is queued.

use crate::context::Context;
use crate::error::NodeError;
use baton_api::Scope;
use baton_api::debug::DebugTab;
use baton_runtime::{Caller, Request};
use baton_session::SessionId;
use baton_store::SessionsMark;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio::time::{sleep, timeout};

/// How long changes that come together are waited for.
const TOGETHER: Duration = Duration::from_millis(100);
/// How often it is looked for what no event here tells, and whether the caller's key was revoked.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The list of the caller's sessions, or the state of one of them.
    Sessions,
    /// The tabs that the caller can look into.
    Tabs,
}

/// A node that is followed.
pub(crate) struct Followed {
    context: Context,
    caller: Caller,
    sessions: broadcast::Receiver<SessionId>,
    tabs: watch::Receiver<()>,
    seen: ListState,
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
}

/// Follows the node: what changes from now on is sent.
pub(crate) async fn follow(context: &Context, caller: &Caller) -> Result<Followed, NodeError> {
    Ok(Followed {
        sessions: context.store.listen(),
        tabs: context.relay.listen(),
        seen: read_lists(context, caller).await?,
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
    Ok(ListState { sessions, tabs })
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
                    _ = self.sessions.recv() => {}
                    _ = self.tabs.changed() => {}
                }
            };
            if timeout(LOOK_PAUSE, changed).await.is_ok() {
                sleep(TOGETHER).await;
            }
            if self.context.is_shut_out(&self.caller).await.unwrap_or(false) {
                return None;
            }
            self.sessions = self.sessions.resubscribe();
            self.tabs.mark_unchanged();
            // A database that does not answer now is asked at the next look.
            if let Ok(now) = read_lists(&self.context, &self.caller).await {
                self.compare(now);
            }
        }
    }

    fn compare(&mut self, now: ListState) {
        if now.sessions != self.seen.sessions {
            self.untold.push_back(Change::Sessions);
        }
        if now.tabs != self.seen.tabs {
            self.untold.push_back(Change::Tabs);
        }
        self.seen = now;
    }
}
