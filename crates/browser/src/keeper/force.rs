//! Ending a keeper that does not answer.
//!
//! The one idea: the system knows who listens at a socket, whether or not that process runs. So even
//! a keeper that hangs can be named, and a process that took over its number cannot be meant.

use super::connect::{CONNECT_LIMIT, dial};
use super::error::KeeperError;
use rustix::process::{Pid, Signal, getpid, kill_process};
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// How long a killed process may take to be gone.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// Kills the keeper that listens at `socket`, whether it answers or not (SIGKILL), and waits until it
/// is gone; false when nobody listens. Its browser, whose pipe closes, ends by itself.
pub async fn force(socket: &Path) -> Result<bool, KeeperError> {
    let what = "a connection to the keeper";
    let dialled = tokio::time::timeout(CONNECT_LIMIT, dial(socket)).await;
    let mut stream = match dialled {
        Ok(Ok(stream)) => stream,
        Ok(Err(KeeperError::NotRunning { .. })) => return Ok(false),
        Ok(Err(error)) => return Err(error),
        Err(_) => return Err(KeeperError::TimedOut { what, limit: CONNECT_LIMIT }),
    };
    let listener = stream.peer_cred().map_err(KeeperError::file("ask for the owner of", socket))?;
    let keeper = listener.pid().and_then(Pid::from_raw).filter(|pid| *pid != getpid());
    let keeper = keeper.ok_or(KeeperError::NotUnderstood {
        expected: "a process of its own that listens",
        found: format!("{:?}", listener.pid()),
    })?;
    tracing::warn!(pid = keeper.as_raw_pid(), "killing a keeper that does not answer");
    // One that is gone by now is what we want.
    let _ = kill_process(keeper, Signal::KILL);
    let mut byte = [0];
    let gone = async { while matches!(stream.read(&mut byte).await, Ok(1..)) {} };
    tokio::time::timeout(KILL_LIMIT, gone).await.map(|()| true).map_err(|_| KeeperError::TimedOut {
        what: "the end of a killed keeper",
        limit: KILL_LIMIT,
    })
}
