//! Work that takes a thread for long, off those on which everybody waits.
//!
//! The one idea: a panic in the work is a panic of the task that asked for it, and never a look that found nothing.

use std::future::pending;
use std::panic::resume_unwind;

/// Does some work off the async threads, and goes on with its panic.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime ends, and with it the tasks that wait.
            Err(_) => pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_one_of_the_task_that_asked() {
        assert_eq!(blocking(|| 7).await, 7);
        let asked = tokio::spawn(blocking(|| -> u8 { panic!("a fault") })).await;
        assert_eq!(asked.unwrap_err().into_panic().downcast_ref(), Some(&"a fault"));
    }
}
