//! Whose process has ended, so that nobody is there who could be asked.
//!
//! The one idea: what is taken for crashed is not read, and what it holds is lost when its session moves. So it counts
//! as there as soon as anything tells so. The browser tells of a crash without being asked. Asked, it tells of each
//! page that has no process, also of one that is just being made: so that is asked only of one that has been silent
//! for a while, as one is that crashed before anybody watched it.

use super::shared::Shared;
use crate::cdp::{CdpSession, CdpSessionId, Connection};
use serde_json::json;
use std::pin::pin;
use std::time::Duration;
use tokio::time::timeout;

/// How long a target may be silent until the browser is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(2);

/// `Inspector.targetCrashed` or `Inspector.targetReloadedAfterCrash`.
pub(super) fn note(shared: &Shared, session: &CdpSessionId, has_crashed: bool) {
    shared.note_crash(session, has_crashed);
    if has_crashed {
        // What it asked for and what it loaded ended with it.
        shared.in_flight().left(session);
        shared.loads().left(session);
        shared.answered().notify_one();
    }
}

/// Events were missed: the browser tells again which of the targets that have answered before are not there.
pub(super) fn ask_again(connection: &Connection, shared: &Shared) {
    shared.crashed().clear();
    let attached = shared.attached();
    for (session, _) in attached.iter().filter(|(_, target)| target.is_watched) {
        ask(&connection.session(session.clone()));
    }
}

/// Waits for a target. Where it is silent for a while, the browser is asked whether it is there.
pub(super) async fn wait_for<T>(session: &CdpSession, answer: impl Future<Output = T>) -> T {
    let mut answer = pin!(answer);
    if let Ok(answer) = timeout(SILENCE, answer.as_mut()).await {
        return answer;
    }
    ask(session);
    answer.await
}

/// The browser itself answers, with an event where there is no process.
fn ask(session: &CdpSession) {
    session.post("Inspector.enable", json!({}));
}
