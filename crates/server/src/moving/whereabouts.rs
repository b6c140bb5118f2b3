//! Where a session is that this node let go of, when no node says that it runs there; and why one did not move.
//!
//! The one idea: the row says whose a session is. It is looked at until the session runs somewhere, or for longer than
//! any node can still be at it; only one that the row says is this node's is brought back here.

use super::NewHolder;
use crate::cluster::Cluster;
use crate::context::Context;
use baton_api::{Answers, ErrorCode, Problem};
use baton_runtime::live::{LiveError, RESTORE_LIMIT};
use baton_runtime::{RuntimeError, life};
use baton_session::{Lifecycle, NodeId, Session, SessionId};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(250);
/// For how long: a node may hold a session for a minute before it begins to bring it back.
const LIMIT: Duration = Duration::from_mins(7);
const _: () = assert!(
    RESTORE_LIMIT.as_secs() + 60 < LIMIT.as_secs(),
    "it is not looked for as long as a node may take"
);
/// How long a session is looked at that another node has and does not hold: that one begins with it, or gives it back,
/// within seconds, or was lost.
const UNHELD_LIMIT: Duration = Duration::from_secs(30);

/// How often a session is tried that something else is done with: each time it is waited for for a minute.
const BUSY_TRIES: u32 = 5;
/// How often one is tried of which not all could be read.
const UNREAD_TRIES: u32 = 2;

/// Why a session did not move.
pub(super) enum NotMoved {
    /// It runs here, or waits here.
    Stays(String),
    /// So does this one, and another try may do better: it is tried so often at most.
    Later(String, u32),
    /// Another node has it, or may have begun to bring it back.
    Unknown(String),
}

/// Where a session is, by its row and the browsers of this node.
#[derive(Debug, PartialEq, Eq)]
enum Whereabouts {
    /// It was deleted.
    Gone,
    /// Another node runs it.
    There(NodeId),
    /// Another node has it, and does not run it: not yet, or not any more.
    OnItsWay,
    /// This node runs it, or a sandbox of it has it.
    Here,
    /// It is said to run here, and nothing of it does.
    Unsettled,
    /// It is this node's, and can be brought back.
    Waits,
    /// It is this node's, and is not brought back without a request.
    Rests(Lifecycle),
}

impl Whereabouts {
    fn of(row: Option<&Session>, own: NodeId, runs_here: bool) -> Self {
        let Some(row) = row else { return Self::Gone };
        match row.lifecycle {
            Lifecycle::Active if row.node != own => Self::There(row.node),
            _ if row.node != own => Self::OnItsWay,
            Lifecycle::Active if runs_here => Self::Here,
            Lifecycle::Active => Self::Unsettled,
            Lifecycle::Recoverable => Self::Waits,
            lifecycle => Self::Rests(lifecycle),
        }
    }
}

/// Waits until it is known where a session is that no node says it has, because of `why`. One that is this node's is
/// brought back here.
pub(super) async fn find_out(
    context: &Context,
    cluster: &Cluster,
    id: SessionId,
    why: String,
) -> Result<NewHolder, NotMoved> {
    let end = Instant::now() + LIMIT;
    let (mut has_told, mut unheld_since) = (false, None);
    while Instant::now() < end {
        let found = look(context, id, &why).await.unwrap_or_else(|error| {
            if !std::mem::replace(&mut has_told, true) {
                tracing::warn!(session = %id, %error, "where a session is that was to move is not known yet");
            }
            Found::Nothing
        });
        match found {
            Found::There(node) => {
                return Ok(NewHolder { node, name: name_of(cluster, node).await });
            }
            Found::Stays(why) => return Err(NotMoved::Stays(why)),
            Found::Nothing => unheld_since = None,
            Found::Unheld => {
                let since = *unheld_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= UNHELD_LIMIT {
                    break;
                }
            }
        }
        sleep(LOOK).await;
    }
    Err(NotMoved::Unknown(why))
}

/// What a look finds.
enum Found {
    /// Another node runs it.
    There(NodeId),
    /// It does not move, because of this.
    Stays(String),
    /// Another node has it, and does not hold it.
    Unheld,
    /// It has to be looked again.
    Nothing,
}

/// Looks once, and does what can be done for a session of this node.
async fn look(context: &Context, id: SessionId, why: &str) -> Result<Found, RuntimeError> {
    let row = context.store.fetch_any_session(id).await?;
    let runs_here = context.supervisor.holds(id) || context.supervisor.is_checked_out(id);
    match (Whereabouts::of(row.as_ref(), context.node, runs_here), row) {
        (Whereabouts::There(node), _) => Ok(Found::There(node)),
        (Whereabouts::OnItsWay, _) => {
            let holder = context.store.fetch_lease(id).await?.and_then(|lease| lease.node);
            Ok(if holder.is_some() { Found::Nothing } else { Found::Unheld })
        }
        (Whereabouts::Here, _) => Ok(Found::Stays(why.to_owned())),
        (Whereabouts::Rests(lifecycle), _) => {
            Ok(Found::Stays(format!("{why}; it is {lifecycle} by now")))
        }
        (Whereabouts::Unsettled, Some(row)) => {
            // Its browser is found, or it is known to be gone.
            drop(context.hold_again(&row).await?);
            Ok(Found::Nothing)
        }
        (Whereabouts::Waits, Some(row)) => match life::take(context, row).await {
            Ok(()) | Err(RuntimeError::NotNoted { .. }) => Ok(Found::Stays(why.to_owned())),
            // The database was away, or somebody else was faster: the row says so.
            Err(error) if is_passing(&error) => Err(error),
            Err(error) => {
                let detail = error.problem().detail;
                Ok(Found::Stays(format!("{why}; it waits to be resumed: {detail}")))
            }
        },
        (Whereabouts::Gone | Whereabouts::Unsettled | Whereabouts::Waits, _) => {
            Ok(Found::Stays("it was deleted meanwhile".to_owned()))
        }
    }
}

fn is_passing(error: &RuntimeError) -> bool {
    if matches!(error, RuntimeError::Elsewhere(_)) {
        // A peer has it, or may have it.
        return false;
    }
    let code = error.code();
    matches!(code, ErrorCode::Conflict | ErrorCode::StorageUnavailable | ErrorCode::WrongState)
}

async fn name_of(cluster: &Cluster, node: NodeId) -> String {
    let rows = cluster.list().await.unwrap_or_default();
    let row = rows.into_iter().find(|row| row.member.node == node);
    row.map_or_else(|| node.to_string(), |row| row.member.name)
}

/// Why a session does not move that was not given, because of this; none where its browser may have ended for it all the
/// same.
pub(super) fn refusal(error: &RuntimeError, runs_here: bool) -> Option<NotMoved> {
    let why = error.problem().detail;
    match error {
        RuntimeError::Live(LiveError::Busy(_)) => Some(NotMoved::Later(why, BUSY_TRIES)),
        RuntimeError::Live(LiveError::NotRead { .. }) => Some(unread(error)),
        // Its browser ended before, by itself or because a client wanted that.
        RuntimeError::WrongState { .. } => Some(NotMoved::Stays(why)),
        _ => runs_here.then_some(NotMoved::Stays(why)),
    }
}

/// Why a session does not move of which not all was read, and what can be done about it.
pub(super) fn unread(error: &RuntimeError) -> NotMoved {
    let Problem { detail, hint, .. } = error.problem();
    NotMoved::Later(format!("{detail}; {}", hint.unwrap_or_default()), UNREAD_TRIES)
}

/// Brings a session back here whose browser may have ended for a move that was not begun, because of `why`.
pub(super) async fn bring_home(
    context: &Context,
    cluster: &Cluster,
    id: SessionId,
    why: String,
) -> NotMoved {
    match Box::pin(find_out(context, cluster, id, why.clone())).await {
        // It did not go there by way of its last capture here.
        Ok(NewHolder { name, .. }) => NotMoved::Unknown(format!("{why}; it runs at {name}")),
        Err(not_moved) => not_moved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_runtime::table::Busy;
    use baton_session::Owner;
    use jiff::Timestamp;

    #[test]
    fn only_what_the_row_says_is_this_nodes_is_brought_back_here() {
        let [own, other]: [NodeId; 2] =
            ["01890000-0000-7000-8000-00000000000a", "01890000-0000-7000-8000-00000000000b"]
                .map(|node| node.parse().unwrap());
        let row = |node, lifecycle| Session {
            id: "01890000-0000-7000-8000-000000000001".parse().unwrap(),
            name: "shop".parse().unwrap(),
            description: String::new(),
            owner: Owner::local(),
            node,
            headed: false,
            debug: false,
            lifecycle,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        };
        let found = |node, lifecycle, runs_here| {
            Whereabouts::of(Some(&row(node, lifecycle)), own, runs_here)
        };
        // A browser that was here a moment ago makes no session of another node one that stays.
        for runs_here in [false, true] {
            let elsewhere = |lifecycle| found(other, lifecycle, runs_here);
            assert_eq!(elsewhere(Lifecycle::Active), Whereabouts::There(other));
            for lifecycle in [Lifecycle::Recoverable, Lifecycle::Failed, Lifecycle::Closed] {
                assert_eq!(elsewhere(lifecycle), Whereabouts::OnItsWay);
            }
            assert_eq!(found(own, Lifecycle::Recoverable, runs_here), Whereabouts::Waits);
            let closed = Whereabouts::Rests(Lifecycle::Closed);
            assert_eq!(found(own, Lifecycle::Closed, runs_here), closed);
            assert_eq!(Whereabouts::of(None, own, runs_here), Whereabouts::Gone);
        }
        assert_eq!(found(own, Lifecycle::Active, true), Whereabouts::Here);
        assert_eq!(found(own, Lifecycle::Active, false), Whereabouts::Unsettled);
    }

    #[test]
    fn what_is_busy_or_was_not_read_is_tried_again_and_what_may_have_ended_is_looked_after() {
        let id: SessionId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
        let busy = RuntimeError::Live(Busy { id, doing: "opened" }.into());
        let (place, reason) = ("a page of it".to_owned(), "it does not answer".to_owned());
        let not_read = RuntimeError::Live(LiveError::NotRead { place, reason });
        for error in [busy, not_read] {
            assert!(matches!(refusal(&error, true), Some(NotMoved::Later(..))), "{error}");
        }
        let gone = RuntimeError::Live(LiveError::NotActive(id));
        assert!(matches!(refusal(&gone, true), Some(NotMoved::Stays(_))));
        assert!(refusal(&gone, false).is_none());
    }
}
