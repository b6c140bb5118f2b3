//! A node leaves: what it runs goes to others, one session after the other, and nothing new comes.
//!
//! The one idea: whether there is room is asked before anything is moved, all that can be done ahead is done while the
//! session still runs, and it is away only from its capture here until it runs there. One that finds no other node after all is brought back where it was.

use super::luggage::Luggage;
use super::{NewHolder, NotTaken, bring_back};
use crate::cluster::{Candidate, Cluster, Wanted};
use crate::context::Context;
use crate::error::NodeError;
use baton_api::{Answers, MovedSession, StayedSession};
use baton_runtime::life;
use baton_session::{Session, SessionId};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// How often a drain is looked at by who waits for it.
const LOOK: Duration = Duration::from_millis(100);

/// Begins to bring what this node runs to others. Fails where they have no room for all of it, unless part of it is
/// enough.
pub(crate) async fn begin(context: &Context, partly: bool) -> Result<(), NodeError> {
    let Some(cluster) = context.cluster.clone() else { return Err(NodeError::NoCluster) };
    let sessions = context.store.list_active_sessions(context.node).await?;
    let movable = || sessions.iter().filter(|session| !is_bound(context, session.id));
    if !partly {
        let mut wanted = Vec::new();
        for session in movable() {
            wanted.push(context.store.fetch_session_labels(session.id).await?);
        }
        cluster.look_up().await;
        let movable = wanted.len();
        let (places, told) = cluster.places_of_others(wanted);
        if places < movable as u64 {
            return Err(NodeError::NoRoomElsewhere { needed: movable, places, told });
        }
    }
    let movable = movable().count();
    set_draining(context, &cluster, true);
    if !context.drain.begin(movable) {
        return Ok(());
    }
    tracing::info!(sessions = movable, "this node is being drained");
    context.tasks.spawn(run(context.clone(), cluster));
    Ok(())
}

/// Lets the node take new sessions again. What is on its way arrives.
pub(crate) fn end(context: &Context) {
    if let Some(cluster) = &context.cluster {
        set_draining(context, cluster, false);
        context.drain.undo();
    }
}

/// The other nodes hear of it, and what this one is asked itself it refuses.
fn set_draining(context: &Context, cluster: &Cluster, is_draining: bool) {
    context.supervisor.set_leaving(is_draining);
    cluster.set_draining(is_draining);
}

/// Brings all that can move to other nodes, before this one ends, but no longer than `limit`.
pub(crate) async fn before_the_end(context: &Context, limit: Duration) {
    if let Err(error) = begin(context, true).await {
        tracing::error!(%error, "what runs here was not brought to other nodes");
        return;
    }
    let is_done = async {
        while context.drain.view().is_some_and(|drain| !drain.is_done) {
            sleep(LOOK).await;
        }
    };
    if timeout(limit, is_done).await.is_err() {
        tracing::warn!("not all was brought to other nodes in time");
        // What is on its way arrives, and nothing more sets out.
        end(context);
    }
}

/// Whether a session is bound to this node: a sandbox has it, or a browser that Baton did not start.
fn is_bound(context: &Context, id: SessionId) -> bool {
    context.supervisor.is_attached(id) || context.supervisor.is_checked_out(id)
}

async fn run(context: Context, cluster: Cluster) {
    loop {
        move_all(&context, &cluster).await;
        if context.drain.end() {
            return;
        }
    }
}

async fn move_all(context: &Context, cluster: &Cluster) {
    let mut stayed = HashSet::new();
    while cluster.is_draining() {
        let Ok(sessions) = context.store.list_active_sessions(context.node).await else {
            sleep(LOOK).await;
            continue;
        };
        let sessions: Vec<Session> =
            sessions.into_iter().filter(|session| !stayed.contains(&session.id)).collect();
        context.drain.note_left(sessions.len(), context.agents.sandboxes.len());
        let Some(session) = sessions.into_iter().next() else { break };
        let (id, name) = (session.id, session.name.clone());
        match move_away(context, cluster, session).await {
            Ok((to, pause)) => {
                let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
                tracing::info!(session = %id, to, pause_ms, "a session moved to another node");
                metrics::counter!("baton_moves_total", "outcome" => "done").increment(1);
                metrics::histogram!("baton_move_pause_seconds").record(pause.as_secs_f64());
                context.drain.note_moved(MovedSession { id, name, to, pause_ms });
            }
            Err(why) => {
                tracing::warn!(session = %id, why, "a session stays where it is");
                metrics::counter!("baton_moves_total", "outcome" => "failed").increment(1);
                stayed.insert(id);
                context.drain.note_stayed(StayedSession { id, name, why });
            }
        }
    }
}

/// Moves one session. Returns where it is now, and for how long it was away. Fails with why it stays.
async fn move_away(
    context: &Context,
    cluster: &Cluster,
    session: Session,
) -> Result<(String, Duration), String> {
    // What has no place to go, or cannot go, is not captured and ended for nothing.
    if is_bound(context, session.id) {
        return Err("a browser of somebody's own, or a sandbox, has it".to_owned());
    }
    let labels = context.store.fetch_session_labels(session.id).await;
    let labels = labels.map_err(|error| error.to_string())?;
    let without = [context.node];
    let wanted = Wanted { labels, without: &without, ..Wanted::default() };
    let candidates = cluster.find_candidates(context.room(), &wanted).await?;
    let (id, mut luggage) = (session.id, Luggage::new(context, cluster, &session));
    let first = candidates.into_iter().find_map(Candidate::there);
    context.supervisor.hear_requests(id).await;
    if let Some(row) = &first {
        context.supervisor.capture_ahead(id, true).await;
        luggage.send_ahead(row).await;
        // Making things ready took a while: what is written from now on is all that the last capture has to read.
        context.supervisor.capture_ahead(id, false).await;
    }
    let wanted = Wanted { first: first.map(|row| row.member.node), ..wanted };
    let began = Instant::now();
    let moved = hand_over(context, cluster, session.clone(), wanted, &mut luggage).await;
    let pause = began.elapsed();
    match moved {
        Ok(NewHolder { node, name }) => {
            luggage.arrived(node).await;
            Ok((name, pause))
        }
        Err(NotMoved::Stays(why)) => {
            luggage.call_back().await;
            // Its browser may run on, if it was not ended.
            context.supervisor.let_requests_go(id).await;
            Err(why)
        }
        Err(NotMoved::Unknown(why)) => Err(why),
    }
}

/// Why a session did not move.
enum NotMoved {
    /// It runs here again, or waits here.
    Stays(String),
    /// Another node may have begun to bring it back.
    Unknown(String),
}

/// Ends the browser of a session here, and has another node bring it back: its pause.
async fn hand_over(
    context: &Context,
    cluster: &Cluster,
    session: Session,
    wanted: Wanted<'_>,
    luggage: &mut Luggage<'_>,
) -> Result<NewHolder, NotMoved> {
    let id = session.id;
    let given = life::give(context, session).await;
    let _moving = given.map_err(|error| NotMoved::Stays(error.problem().detail))?;
    let given = context.store.fetch_any_session(id).await;
    let given = given.map_err(|error| NotMoved::Stays(error.to_string()))?;
    let Some(given) = given else {
        return Err(NotMoved::Stays("it was deleted meanwhile".to_owned()));
    };
    match bring_back(context, cluster, &given, wanted, Some(luggage)).await {
        Ok(place) => Ok(place),
        Err(error @ (NotTaken::Unknown(_) | NotTaken::Elsewhere)) => {
            Err(NotMoved::Unknown(error.to_string()))
        }
        Err(error) => {
            let why = error.to_string();
            match life::take(context, given).await {
                Ok(()) => Err(NotMoved::Stays(why)),
                Err(error) => {
                    let detail = error.problem().detail;
                    Err(NotMoved::Stays(format!("{why}; it waits to be resumed: {detail}")))
                }
            }
        }
    }
}
