//! Resumes the sessions whose browsers were lost with their node: this one, while it was down, or another
//! one of its database, which fell silent.
//!
//! The one idea: no client asked for it, so none is disturbed. It goes the same way as a resume that a client
//! asked for, but where a peer has the session by now, or may have it and does not answer, it stays as it is.
//! One after the other: each takes all of the machine.

use super::want::Rehydrate;
use super::wish::Wish;
use crate::audit::Action;
use crate::error::{RuntimeError, Stand};
use crate::here::Runtime;
use crate::request::Caller;
use baton_session::{Lifecycle, Session};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;

/// When peers that did not answer are asked again.
const AGAIN: Duration = Duration::from_secs(30);
/// How often a session is tried whose peers do not answer.
const ATTEMPTS: u32 = 10;

/// What became of one attempt.
enum Tried {
    /// It runs, or another node has it, or it failed.
    Over,
    /// A peer that may have it does not answer.
    Unanswered,
}

/// Resumes what this node lost, and what it inherits of others, until the node ends.
pub async fn rehydrate(
    context: Runtime,
    lost: Vec<Session>,
    mut inherited: mpsc::Receiver<Session>,
) {
    let ending = context.ending.clone();
    let mut left: VecDeque<(Session, u32)> = lost.into_iter().map(|session| (session, 1)).collect();
    loop {
        let Some((session, attempt)) = left.pop_front() else {
            let Some(Some(session)) = ending.run_until_cancelled(inherited.recv()).await else {
                return;
            };
            left.push_back((session, 1));
            continue;
        };
        if attempt > 1 && ending.run_until_cancelled(sleep(AGAIN)).await.is_none() {
            return;
        }
        if ending.is_cancelled() {
            return;
        }
        match resume(&context, &session).await {
            Tried::Unanswered if attempt < ATTEMPTS => left.push_back((session, attempt + 1)),
            Tried::Unanswered => {
                tracing::warn!(
                    session = %session.id,
                    "a session was not resumed by itself: a peer that may have it does not answer"
                );
            }
            Tried::Over => {}
        }
    }
}

/// Resumes one session, unless another resume was faster. What fails is tried once more, and has failed when
/// that fails too.
async fn resume(context: &Runtime, session: &Session) -> Tried {
    for is_last in [false, true] {
        let now = match context.store.fetch_any_session(session.id).await {
            Ok(Some(now)) => now,
            Ok(None) => return Tried::Over,
            Err(error) => {
                tracing::error!(session = %session.id, %error, "a session could not be looked at");
                return Tried::Over;
            }
        };
        if now.node != session.node || now.lifecycle != Lifecycle::Recoverable {
            return Tried::Over;
        }
        match start(context, now).await {
            // The session is back, and no caller waits for the answer.
            Ok(()) | Err(RuntimeError::NotNoted { .. }) => return Tried::Over,
            Err(RuntimeError::Elsewhere(error)) if error.stand() == Stand::Unanswered => {
                return Tried::Unanswered;
            }
            Err(RuntimeError::Elsewhere(error)) if error.stand() == Stand::Kept => {
                tracing::info!(session = %session.id, %error, "a session stays where it is");
                return Tried::Over;
            }
            Err(error) if is_last => {
                tracing::error!(session = %session.id, %error, "a session could not be resumed by itself");
            }
            Err(_) => {}
        }
    }
    Tried::Over
}

async fn start(context: &Runtime, session: Session) -> Result<(), RuntimeError> {
    let node = Caller::node(session.owner.clone());
    let wanted = Rehydrate { of: session.node };
    let wish = Wish::about(context, &node, Action::Resume, session);
    let started = async {
        let held = wish.preflight(wanted).await?.hold().await?;
        held.acquire().await?.start().await
    };
    let started = started.await;
    let wish = match &started {
        Ok(started) => wish.with_losses(&started.resumed.receipt),
        Err(_) => wish,
    };
    wish.end(started.map(drop)).await
}
