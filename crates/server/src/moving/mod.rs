//! Sessions that go from one node of a cluster to another.
//!
//! The one idea: a session moves by being given and taken. Who has it captures it, ends its browser and lets go of its
//! lease; who takes it acquires the lease and brings it back from that capture. At no moment may two have it, and what
//! goes wrong in between leaves a session that anybody can resume. `drain` is a node that leaves, `failover` is one that
//! was lost; `luggage` is what goes with a session, and `whereabouts` finds out where one is of which nobody says it.

pub(crate) mod drain;
pub(crate) mod failover;
mod luggage;
mod whereabouts;

use crate::cluster::{Candidate, Cluster, Errand, Kind, NotDone, Wanted};
use crate::config::ClusterSettings;
use crate::context::Context;
use crate::ending;
use axum::body::Bytes;
use axum::http::Method;
use baton_api::{Answers, ErrorCode, TakeSession};
use baton_runtime::error::{RuntimeError, Stand};
use baton_runtime::{Caller, life};
use baton_session::{NodeId, Owner, Session, json};
use baton_store::ClusterRow;
use luggage::Luggage;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// How long a request waits for a session that is on its way from one node to another.
pub(crate) const MOVE_LIMIT: Duration = Duration::from_secs(20);
/// How long another node may take to say that it brought a session back. One that takes longer may do so yet.
const TAKE_LIMIT: Duration = Duration::from_mins(2);

/// Brings back what silent nodes held, where the settings want that. Returns what is left to who resumes what was lost.
pub(crate) fn fail_over(
    context: &Context,
    settings: Option<&ClusterSettings>,
    inherited: mpsc::Receiver<Session>,
) -> mpsc::Receiver<Session> {
    let wanted = settings.is_some_and(|settings| settings.failover);
    let Some(cluster) = context.cluster.clone().filter(|_| wanted) else { return inherited };
    context.tasks.spawn(failover::run(context.clone(), cluster, inherited));
    // Nothing is left.
    mpsc::channel(1).1
}

/// Ends the node once it is told to; where the settings want that, when what runs here runs elsewhere.
pub(crate) fn leave_when_told(
    context: &Context,
    settings: Option<&ClusterSettings>,
    told: CancellationToken,
    shutdown: &CancellationToken,
) -> AbortOnDropHandle<()> {
    let drains = settings.is_some_and(|settings| settings.drain);
    let (context, shutdown) = (context.clone(), shutdown.clone());
    AbortOnDropHandle::new(tokio::spawn(async move {
        told.cancelled().await;
        if drains {
            drain::before_the_end(&context, ending::DRAIN).await;
        }
        shutdown.cancel();
    }))
}

/// The session of an owner that is meant, once it has arrived where it is going; none where there is none.
pub(crate) async fn find_arrived(
    context: &Context,
    owner: &Owner,
    reference: &str,
) -> Result<Option<Session>, RuntimeError> {
    let Some(session) = context.find_if_there(owner, reference).await? else { return Ok(None) };
    if context.supervisor.table().arrived(session.id, MOVE_LIMIT).await {
        return context.find_if_there(owner, reference).await;
    }
    Ok(Some(session))
}

/// Why a session was brought back nowhere.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    /// No node has room.
    #[error("expected a node with room for it, found none: {0}")]
    NoRoom(String),
    /// A node may have begun to bring it back, and does not say.
    #[error(transparent)]
    Unknown(NotDone),
    /// It is another's by now, or stays where it is, or ended as it was started: the row says which, and this why.
    #[error("{0}")]
    Elsewhere(String),
    /// The last of those that were asked says why.
    #[error("{0}")]
    Refused(String),
}

/// Where a session was brought back.
struct NewHolder {
    node: NodeId,
    name: String,
}

/// Brings a session back that nobody runs, at the first node with room that does it, with its files where there are
/// some to bring.
async fn bring_back(
    context: &Context,
    cluster: &Cluster,
    session: &Session,
    wanted: Wanted<'_>,
    mut luggage: Option<&mut Luggage<'_>>,
) -> Result<NewHolder, NotTaken> {
    let candidates = cluster.find_candidates(context.room(), &wanted).await;
    let mut refused = String::new();
    for candidate in candidates.map_err(NotTaken::NoRoom)? {
        match candidate {
            Candidate::Here => match life::take(context, session.clone()).await {
                Ok(()) | Err(RuntimeError::NotNoted { .. }) => {
                    return Ok(NewHolder { node: context.node, name: cluster.name().to_owned() });
                }
                Err(RuntimeError::Elsewhere(error)) if error.stand() == Stand::Kept => {
                    return Err(NotTaken::Elsewhere(error.to_string()));
                }
                Err(error) => refused = error.problem().detail,
            },
            Candidate::There(row) => {
                if let Some(luggage) = &mut luggage
                    && let Err(why) = luggage.bring(&row).await
                {
                    refused = why;
                    continue;
                }
                let mut taken =
                    ask_to_take(context, cluster, session, &row, luggage.as_deref()).await;
                if let (Some(luggage), Err(NotDone::Refused { problem, .. })) =
                    (&mut luggage, &taken)
                    && problem.code == ErrorCode::FileNotFound
                {
                    // It removed what came ahead, as a node does that starts: all of it is sent once more.
                    luggage.lost(row.member.node);
                    if let Err(why) = luggage.bring(&row).await {
                        refused = why;
                        continue;
                    }
                    taken = ask_to_take(context, cluster, session, &row, Some(luggage)).await;
                }
                match taken {
                    Ok(()) => {
                        let name = row.member.name.clone();
                        return Ok(NewHolder { node: row.member.node, name });
                    }
                    Err(NotDone::Unreachable(unreachable)) if unreachable.may_have_begun => {
                        return Err(NotTaken::Unknown(unreachable.into()));
                    }
                    Err(error) if is_of_another_state(&error) => {
                        return Err(NotTaken::Elsewhere(error.to_string()));
                    }
                    Err(error) => refused = error.to_string(),
                }
            }
        }
    }
    Err(NotTaken::Refused(refused))
}

/// Whether a node refuses a session because of where that stands.
fn is_of_another_state(error: &NotDone) -> bool {
    matches!(error, NotDone::Refused { problem, .. } if problem.code == ErrorCode::WrongState)
}

async fn ask_to_take(
    context: &Context,
    cluster: &Cluster,
    session: &Session,
    row: &ClusterRow,
    luggage: Option<&Luggage<'_>>,
) -> Result<(), NotDone> {
    cluster.note_sent(row, Kind::Browser);
    let path = format!("/nodes/{}/sessions/{}", row.member.node, session.id);
    let (caller, identity) = (Caller::node(session.owner.clone()), context.own.identity.now());
    let errand = Errand::new(Method::POST, &path, &caller, TAKE_LIMIT);
    // Whoever finds a session left behind does not know its files.
    let files = luggage.map(|luggage| luggage.at(row.member.node));
    let text = json::text(&TakeSession { files });
    let bytes = text.len() as u64;
    cluster.ask(&identity, row, errand.with_body(Bytes::from(text), bytes)).await
}
