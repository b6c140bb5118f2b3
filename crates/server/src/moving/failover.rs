//! A node fell silent, or lost its lease while it was cut off: what it held is resumed where there is room.
//!
//! The one idea: the leases of a silent node are ended by whoever sees it first, one session at a time, so the nodes
//! that are left share them as they come; each brings back what it ended, here or at another node. What one of them had
//! still to bring back when it was lost itself, all others take over. Nothing is brought back that somebody else did
//! meanwhile.

use super::{NewHolder, NotTaken, bring_back};
use crate::cluster::{Cluster, Wanted};
use crate::context::Context;
use baton_session::{Lifecycle, NodeId, NodeLabel, Session, SessionId};
use baton_store::StoreError;
use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep};

/// How many sessions are brought back at once.
const AT_ONCE: usize = 4;
/// How many sessions are looked after at once: those that wait for room cost a look now and then.
const WAITING: usize = 4096;
/// How long it is waited until a session is tried again that found no room, and one that was refused once.
const AGAIN: Duration = Duration::from_secs(2);
/// How long that is at most, however often nodes with room refused it: those that are left when one is lost have
/// much to do for a while, and a session that nobody can bring back must not cost them much.
const AGAIN_AT_MOST: Duration = Duration::from_secs(30);
/// For how long it is tried; then it waits for somebody who resumes it.
const LIMIT: Duration = Duration::from_mins(15);

/// Brings back what silent nodes held, until the node ends.
pub(crate) async fn run(
    context: Context,
    cluster: Cluster,
    mut inherited: mpsc::Receiver<Session>,
) {
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let waiting = Arc::new(Semaphore::new(WAITING));
    let under_way = UnderWay::default();
    let ending = context.ending.clone();
    while let Some(Some(session)) = ending.run_until_cancelled(inherited.recv()).await {
        let waits = ending.run_until_cancelled(Arc::clone(&waiting).acquire_owned()).await;
        let Some(Ok(waits)) = waits else { return };
        let Some(begun) = under_way.begin(session.id, session.node) else {
            // It was left to this node twice: when its own fell silent, and when another one did that looked after it.
            continue;
        };
        let (context, cluster, ending) = (context.clone(), cluster.clone(), ending.clone());
        let turns = Arc::clone(&turns);
        context.tasks.clone().spawn(async move {
            let brought = Box::pin(fail_over(&context, &cluster, session, &turns));
            let _ = ending.run_until_cancelled(brought).await;
            drop((begun, waits));
        });
    }
}

/// The sessions that are looked after, each with the node that left it: what was brought back may be left by the next
/// node, while who looked after it first has not heard of that yet.
#[derive(Clone, Default)]
struct UnderWay(Arc<Mutex<HashSet<(SessionId, NodeId)>>>);

impl UnderWay {
    /// Notes one of them until what this returns is dropped; none where it is noted already.
    fn begin(&self, id: SessionId, left_by: NodeId) -> Option<Begun> {
        let what = (id, left_by);
        self.locked().insert(what).then(|| Begun { all: self.clone(), what })
    }

    fn locked(&self) -> MutexGuard<'_, HashSet<(SessionId, NodeId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of them.
struct Begun {
    all: UnderWay,
    what: (SessionId, NodeId),
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.all.locked().remove(&self.what);
    }
}

/// The labels of a session that still waits to be brought back; none where it does not.
async fn labels_if_waiting(
    context: &Context,
    session: &Session,
) -> Result<Option<BTreeSet<NodeLabel>>, StoreError> {
    let now = context.store.fetch_any_session(session.id).await?;
    let waits = |now: Session| now.node == session.node && now.lifecycle == Lifecycle::Recoverable;
    if !now.is_some_and(waits) {
        return Ok(None);
    }
    context.store.fetch_session_labels(session.id).await.map(Some)
}

/// Brings back one session, once there is room. It takes its turn only to be brought back, not to wait for room.
async fn fail_over(context: &Context, cluster: &Cluster, session: Session, turns: &Semaphore) {
    let (id, begun) = (session.id, Instant::now());
    let last_word = cluster.last_word(session.node);
    let (mut refused, mut has_told) = (0_u32, false);
    while begun.elapsed() < LIMIT {
        let labels = match labels_if_waiting(context, &session).await {
            Ok(Some(labels)) => labels,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(session = %id, %error, "a session could not be looked at");
                sleep(AGAIN).await;
                continue;
            }
        };
        // A node that was heard since is there again, and has room like any other; so is this one, which lost its
        // own lease.
        let silent = [session.node];
        let is_there =
            session.node == cluster.node() || cluster.last_word(session.node) > last_word;
        let without = if is_there { &[][..] } else { &silent[..] };
        let wanted = Wanted { labels, without, ..Wanted::default() };
        // To wait for room takes a while, which is nobody's turn.
        let brought = if let Err(found) = cluster.find_candidates(context.room(), &wanted).await {
            Err(NotTaken::NoRoom(found))
        } else {
            let Ok(_turn) = turns.acquire().await else { return };
            bring_back(context, cluster, &session, wanted, None).await
        };
        match brought {
            Ok(NewHolder { name: node, .. }) => {
                let took_ms = begun.elapsed().as_millis();
                tracing::info!(session = %id, node, took_ms, "brought back what a silent node held");
                metrics::counter!("baton_failovers_total", "outcome" => "done").increment(1);
                return;
            }
            Err(error @ (NotTaken::NoRoom(_) | NotTaken::Unknown(_))) => {
                if !std::mem::replace(&mut has_told, true) {
                    tracing::warn!(session = %id, %error, "what a silent node held is not brought back yet");
                }
            }
            // One that says that it is elsewhere may have lost it while it started it: the next look shows whether it
            // still waits.
            Err(error @ (NotTaken::Elsewhere(_) | NotTaken::Refused(_))) => {
                tracing::warn!(session = %id, %error, "what a silent node held was not brought back");
                sleep(pause_after(refused)).await;
                refused += 1;
                continue;
            }
        }
        sleep(AGAIN).await;
    }
    metrics::counter!("baton_failovers_total", "outcome" => "failed").increment(1);
    tracing::error!(session = %id, "what a silent node held waits for somebody who resumes it");
}

/// How long a session waits that was refused so often before.
fn pause_after(refused: u32) -> Duration {
    AGAIN.saturating_mul(1 << refused.min(8)).min(AGAIN_AT_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_tried_ever_more_seldom_but_for_a_quarter_of_an_hour() {
        let pauses: Vec<u64> = (0..6).map(|refused| pause_after(refused).as_secs()).collect();
        assert_eq!(pauses, [2, 4, 8, 16, 30, 30]);
        assert_eq!(pause_after(u32::MAX), AGAIN_AT_MOST);
    }

    #[test]
    fn a_session_that_one_node_left_after_the_other_is_looked_after_for_each() {
        let id: SessionId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
        let [first, next]: [NodeId; 2] =
            ["01890000-0000-7000-8000-00000000000a", "01890000-0000-7000-8000-00000000000b"]
                .map(|node| node.parse().unwrap());
        let under_way = UnderWay::default();
        let waits = under_way.begin(id, first).unwrap();
        assert!(under_way.begin(id, first).is_none(), "it was left twice");
        // It was brought back meanwhile, at a node that was lost then.
        let brought = under_way.begin(id, next).unwrap();
        drop(waits);
        assert!(under_way.begin(id, next).is_none());
        drop(brought);
        assert!(under_way.begin(id, next).is_some() && under_way.begin(id, first).is_some());
    }
}
