//! Snapshots after what the other server has changed: one at a time, and at most one of a session
//! waits.

use super::words::say;
use crate::bridge::nodes::Nodes;
use baton_api::{Client as NodeClient, ClientError, ErrorCode};
use baton_session::SessionId;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long captures may take when the client has left.
const END_LIMIT: Duration = Duration::from_secs(15);

/// Captures what is wished.
pub(super) struct Captures {
    wishes: Arc<Wishes>,
    task: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Wishes {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Default)]
struct State {
    waiting: BTreeSet<SessionId>,
    is_over: bool,
}

impl Captures {
    pub(super) fn begin(nodes: Arc<Nodes>) -> Self {
        let wishes = Arc::new(Wishes::default());
        let task = tokio::spawn(capture(Arc::clone(&wishes), nodes));
        Self { wishes, task: Mutex::new(Some(task)) }
    }

    /// The session has changed.
    pub(super) fn wish(&self, session: SessionId) {
        self.wishes.state().waiting.insert(session);
        self.wishes.news.notify_one();
    }

    /// Waits until what was wished is captured.
    pub(super) async fn end(&self) {
        self.wishes.state().is_over = true;
        self.wishes.news.notify_one();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            // What takes longer the node captures by itself, a little later.
            let _ = timeout(END_LIMIT, task).await;
        }
    }
}

impl Wishes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn capture(wishes: Arc<Wishes>, nodes: Arc<Nodes>) {
    loop {
        let (next, is_over) = {
            let mut state = wishes.state();
            (state.waiting.pop_first(), state.is_over)
        };
        match next {
            Some(session) => capture_one(session, &nodes).await,
            None if is_over => return,
            None => wishes.news.notified().await,
        }
    }
}

async fn capture_one(session: SessionId, nodes: &Nodes) {
    let reference = &session.to_string();
    let capture = |node: NodeClient| async move { node.capture_session(reference).await };
    if let Err(error) = nodes.ask(capture).await {
        let code = error.downcast_ref::<ClientError>().and_then(ClientError::code);
        // One that was closed meanwhile was captured then.
        let is_gone = matches!(code, Some(ErrorCode::WrongState | ErrorCode::SessionNotFound));
        if !is_gone {
            say(format!("baton: could not capture {session}: {error:#}"));
        }
    }
}
