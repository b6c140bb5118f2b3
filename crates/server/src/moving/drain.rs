//! A node leaves: what it runs goes to others, one session after the other, and nothing new comes.
//!
//! The one idea: whether there is room is asked before anything is moved, all that can be done ahead is done while the
//! session still runs, and it is away only from its capture here until it runs there. One that finds no other node after
//! all is brought back where it was, and one of which not all could be captured runs on there.

use super::luggage::Luggage;
use super::whereabouts::{NotMoved, bring_home, find_out, refusal, unread};
use super::{NewHolder, bring_back};
use crate::cluster::{Candidate, Cluster, Wanted};
use crate::context::Context;
use crate::error::NodeError;
use baton_api::{Answers, MovedSession, StayedSession};
use baton_runtime::life;
use baton_runtime::live::RESTORE_LIMIT;
use baton_session::{Lifecycle, NodeId, Session, SessionId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// How often a drain is looked at by who waits for it.
const LOOK: Duration = Duration::from_millis(100);
/// How long it is waited until something is tried, or looked at, again.
const AGAIN: Duration = Duration::from_secs(1);
/// How long it is waited for what this node was about to start when its drain began.
const COMING_LIMIT: Duration = RESTORE_LIMIT.saturating_add(Duration::from_mins(1));

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
        // What is on its way arrives, nothing more sets out, and nothing new comes to a node that ends.
        context.drain.undo();
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

/// Whether more is to move: nobody ended the drain, and the node does not end.
fn goes_on(context: &Context, cluster: &Cluster) -> bool {
    cluster.is_draining() && context.drain.goes_on() && !context.ending.is_cancelled()
}

async fn move_all(context: &Context, cluster: &Cluster) {
    let mut stayed = HashSet::new();
    let mut tries: HashMap<SessionId, u32> = HashMap::new();
    let (mut has_told, mut waits_since) = (false, None);
    while goes_on(context, cluster) {
        let held = match context.store.list_held_sessions(context.node).await {
            Ok(held) => held,
            Err(error) => {
                if !std::mem::replace(&mut has_told, true) {
                    tracing::warn!(%error, "what is still to move is not known");
                }
                sleep(AGAIN).await;
                continue;
            }
        };
        has_told = false;
        let left: Vec<Session> =
            held.into_iter().filter(|session| !stayed.contains(&session.id)).collect();
        context.drain.note_left(left.len(), context.agents.sandboxes.len());
        if left.is_empty() {
            break;
        }
        let Some(session) = next(context.node, left, &tries) else {
            // What was begun before the drain comes up here, and moves then.
            if waits_since.get_or_insert_with(Instant::now).elapsed() >= COMING_LIMIT {
                tracing::warn!("what was begun here before the drain has not come up, and is left");
                break;
            }
            sleep(AGAIN).await;
            continue;
        };
        waits_since = None;
        let (id, name) = (session.id, session.name.clone());
        let count = tries.entry(id).or_default();
        *count += 1;
        let why = match move_away(context, cluster, session).await {
            Ok((to, pause)) => {
                let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
                tracing::info!(session = %id, to, pause_ms, "a session moved to another node");
                metrics::counter!("baton_moves_total", "outcome" => "done").increment(1);
                metrics::histogram!("baton_move_pause_seconds").record(pause.as_secs_f64());
                context.drain.note_moved(MovedSession { id, name, to, pause_ms });
                continue;
            }
            Err(NotMoved::Later(why, most)) if *count < most => {
                tracing::info!(session = %id, why, "a session that does not move yet is tried again");
                sleep(AGAIN).await;
                continue;
            }
            Err(NotMoved::Stays(why) | NotMoved::Later(why, _) | NotMoved::Unknown(why)) => why,
        };
        tracing::warn!(session = %id, why, "a session stays where it is");
        metrics::counter!("baton_moves_total", "outcome" => "failed").increment(1);
        stayed.insert(id);
        context.drain.note_stayed(StayedSession { id, name, why });
    }
}

/// The session that moves next: of those that run here, one that was tried the fewest times.
fn next(own: NodeId, left: Vec<Session>, tries: &HashMap<SessionId, u32>) -> Option<Session> {
    let runs = |session: &Session| session.node == own && session.lifecycle == Lifecycle::Active;
    let running = left.into_iter().filter(runs);
    running.min_by_key(|session| tries.get(&session.id).copied().unwrap_or_default())
}

/// Moves one session. Returns where it is now, and for how long it was away. Fails with why it stays.
async fn move_away(
    context: &Context,
    cluster: &Cluster,
    session: Session,
) -> Result<(String, Duration), NotMoved> {
    // What has no place to go, or cannot go, is not captured and ended for nothing.
    let id = session.id;
    if is_bound(context, id) {
        let why = "a browser of somebody's own, or a sandbox, has it";
        return Err(NotMoved::Stays(why.to_owned()));
    }
    let labels = context.store.fetch_session_labels(id).await;
    let labels = labels.map_err(|error| NotMoved::Stays(error.to_string()))?;
    let without = [context.node];
    let wanted = Wanted { labels, without: &without, ..Wanted::default() };
    let candidates = cluster.find_candidates(context.room(), &wanted).await;
    let candidates = candidates.map_err(NotMoved::Stays)?;
    if let Err(error) = context.supervisor.expect_answers(id).await {
        return Err(unread(&error.into()));
    }
    let mut luggage = Luggage::new(context, cluster, &session);
    let first = candidates.into_iter().find_map(Candidate::there);
    let mut steps = StepTimes::start();
    context.supervisor.hear_requests(id).await;
    if let Some(row) = &first {
        context.supervisor.capture_ahead(id, true).await;
        steps.step("ahead");
        luggage.send_ahead(row).await;
        steps.step("ready");
        // Making things ready took a while: what is written from now on is all that the last capture has to read.
        context.supervisor.capture_ahead(id, false).await;
        steps.step("again");
    }
    let wanted = Wanted { first: first.map(|row| row.member.node), ..wanted };
    let began = Instant::now();
    let moved = if goes_on(context, cluster) {
        hand_over(context, cluster, session.clone(), wanted, &mut luggage).await
    } else {
        Err(NotMoved::Stays("the drain was ended".to_owned()))
    };
    let pause = began.elapsed();
    steps.step("pause");
    let steps = steps.0;
    tracing::info!(session = %id, ?steps, "a session was to move");
    match moved {
        Ok(NewHolder { node, name }) => {
            luggage.arrived(node).await;
            Ok((name, pause))
        }
        Err(error @ NotMoved::Unknown(_)) => Err(error),
        Err(error) => {
            luggage.call_back().await;
            // Its browser may run on, if it was not ended.
            context.supervisor.let_requests_go(id).await;
            Err(error)
        }
    }
}

/// What the steps of a move took, in milliseconds.
struct StepTimes(BTreeMap<&'static str, u128>, Instant);

impl StepTimes {
    fn start() -> Self {
        Self(BTreeMap::new(), Instant::now())
    }

    /// Ends a step that began when the last one ended.
    fn step(&mut self, name: &'static str) {
        let time = std::mem::replace(&mut self.1, Instant::now()).elapsed();
        self.0.insert(name, time.as_millis());
    }
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
    // It is on its way until it is known where it is.
    let _moving = match life::give(context, session).await {
        Ok(moving) => moving,
        Err(error) => {
            if let Some(not_moved) = refusal(&error, context.supervisor.holds(id)) {
                return Err(not_moved);
            }
            let why = error.problem().detail;
            return Err(bring_home(context, cluster, id, why).await);
        }
    };
    let why = match context.store.fetch_any_session(id).await {
        Ok(Some(given)) => {
            match bring_back(context, cluster, &given, wanted, Some(luggage)).await {
                Ok(place) => return Ok(place),
                Err(error) => error.to_string(),
            }
        }
        Ok(None) => "no node has it".to_owned(),
        Err(error) => error.to_string(),
    };
    Box::pin(find_out(context, cluster, id, why)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::Owner;
    use jiff::Timestamp;

    #[test]
    fn what_is_tried_again_waits_for_the_others_and_what_comes_up_is_not_tried() {
        let node = |last: u8| -> NodeId {
            format!("01890000-0000-7000-8000-0000000000{last:02}").parse().unwrap()
        };
        let session = |last: u8, at: NodeId, lifecycle| Session {
            id: format!("01890000-0000-7000-8000-0000000000{last:02}").parse().unwrap(),
            name: format!("session-{last}").parse().unwrap(),
            description: String::new(),
            owner: Owner::local(),
            node: at,
            headed: false,
            debug: false,
            lifecycle,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        };
        let own = node(90);
        let [one, two] = [1, 2].map(|last| session(last, own, Lifecycle::Active));
        let comes_up = session(3, own, Lifecycle::Recoverable);
        let on_its_way = session(4, node(91), Lifecycle::Active);
        let left = vec![on_its_way, comes_up, one.clone(), two.clone()];
        let mut tries = HashMap::new();
        let next_id = |tries: &HashMap<_, _>| next(own, left.clone(), tries).map(|next| next.id);
        assert_eq!(next_id(&tries), Some(one.id));
        tries.insert(one.id, 1);
        assert_eq!(next_id(&tries), Some(two.id));
        tries.insert(two.id, 1);
        assert_eq!(next_id(&tries), Some(one.id));
        let rest: Vec<Session> = left.iter().take(2).cloned().collect();
        assert_eq!(next(own, rest, &tries).map(|next| next.id), None);
    }
}
