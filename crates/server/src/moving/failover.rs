//! A node fell silent, or lost its lease while it was cut off: what it held is resumed where there is room.
//!
//! The one idea: the leases of a silent node are ended by whoever sees it first, one session at a time, so the nodes
//! that are left share them as they come; each brings back what it ended, here or at another node. What one of them had
//! still to bring back when it was lost itself, all others take over. Nothing is brought back that somebody else did
//! meanwhile.

use super::{NewHolder, NotTaken, bring_back};
use crate::cluster::{Cluster, Wanted};
use crate::context::Context;
use baton_session::{Lifecycle, Session, SessionId};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep};

/// How many sessions are brought back at once.
const AT_ONCE: usize = 4;
/// How many sessions are looked after at once: those that wait for room cost a look now and then.
const WAITING: usize = 4096;
/// How long it is waited until a session is tried again.
const AGAIN: Duration = Duration::from_secs(2);
/// For how long it is tried; then it waits for somebody who resumes it.
const LIMIT: Duration = Duration::from_mins(15);
/// How often a session is tried that nodes with room refuse.
const MOST_REFUSED: u32 = 3;

/// Brings back what silent nodes held, until the node ends.
pub(crate) async fn run(
    context: Context,
    cluster: Cluster,
    mut inherited: mpsc::Receiver<Session>,
) {
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let waiting = Arc::new(Semaphore::new(WAITING));
    let under_way = Arc::new(Mutex::new(HashSet::new()));
    let ending = context.ending.clone();
    while let Some(Some(session)) = ending.run_until_cancelled(inherited.recv()).await {
        let waits = ending.run_until_cancelled(Arc::clone(&waiting).acquire_owned()).await;
        let Some(Ok(waits)) = waits else { return };
        let (context, cluster, ending) = (context.clone(), cluster.clone(), ending.clone());
        let (id, turns, under_way) = (session.id, Arc::clone(&turns), Arc::clone(&under_way));
        if !locked(&under_way).insert(id) {
            // It was left to this node twice: when its own fell silent, and when another one did that looked after it.
            continue;
        }
        context.tasks.clone().spawn(async move {
            let brought = Box::pin(fail_over(&context, &cluster, session, &turns));
            let _ = ending.run_until_cancelled(brought).await;
            locked(&under_way).remove(&id);
            drop(waits);
        });
    }
}

fn locked(ids: &Mutex<HashSet<SessionId>>) -> MutexGuard<'_, HashSet<SessionId>> {
    ids.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Brings back one session, once there is room. It takes its turn only to be brought back, not to wait for room.
async fn fail_over(context: &Context, cluster: &Cluster, session: Session, turns: &Semaphore) {
    let (id, begun) = (session.id, Instant::now());
    let last_word = cluster.last_word(session.node);
    let (mut refused, mut has_told) = (0, false);
    while begun.elapsed() < LIMIT {
        match context.store.fetch_any_session(id).await {
            Ok(Some(now))
                if now.node == session.node && now.lifecycle == Lifecycle::Recoverable => {}
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(session = %id, %error, "a session could not be looked at");
                sleep(AGAIN).await;
                continue;
            }
        }
        let labels = context.store.fetch_session_labels(id).await.unwrap_or_default();
        // A node that was heard since is there again, and has room like any other; so is this one, which lost its
        // own lease.
        let silent = [session.node];
        let is_there =
            session.node == cluster.node() || cluster.last_word(session.node) > last_word;
        let without = if is_there { &[][..] } else { &silent[..] };
        let wanted = Wanted { labels, without, ..Wanted::default() };
        let brought = {
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
            Err(NotTaken::Elsewhere) => return,
            Err(error @ (NotTaken::NoRoom(_) | NotTaken::Unknown(_))) => {
                if !std::mem::replace(&mut has_told, true) {
                    tracing::warn!(session = %id, %error, "what a silent node held is not brought back yet");
                }
            }
            Err(error) => {
                refused += 1;
                tracing::warn!(session = %id, %error, "what a silent node held was not brought back");
                if refused == MOST_REFUSED {
                    break;
                }
            }
        }
        sleep(AGAIN).await;
    }
    metrics::counter!("baton_failovers_total", "outcome" => "failed").increment(1);
    tracing::error!(session = %id, "what a silent node held waits for somebody who resumes it");
}
