//! Work that waits for the disk or takes the processor for long, off the async threads.
//!
//! The one idea: there is one way there, and a panic in the work is a panic of its caller. It reaches the log
//! and the answer as what it is, a fault of Baton, and never as something else.

use std::io;
use tokio::task::JoinError;

/// The node ends, and what was asked for was not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the node is stopping")]
pub struct Stopping;

impl From<Stopping> for io::Error {
    fn from(stopping: Stopping) -> Self {
        Self::other(stopping)
    }
}

/// Does some work off the async threads.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Stopping> {
    finished(tokio::task::spawn_blocking(work).await)
}

/// What a task came to; its panic goes on here.
pub fn finished<T>(ended: Result<T, JoinError>) -> Result<T, Stopping> {
    ended.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => Stopping,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_no_end_of_the_node() {
        assert_eq!(blocking(|| 7).await, Ok(7));
        let asked = tokio::spawn(blocking(|| -> u8 { panic!("a fault") })).await;
        let panic = asked.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref(), Some(&"a fault"));
    }

    #[tokio::test]
    async fn a_task_that_was_ended_is_no_panic() {
        let task = tokio::spawn(std::future::pending::<()>());
        task.abort();
        assert_eq!(finished(task.await), Err(Stopping));
    }
}
