//! The way off the async threads, for what takes the processor for long.

use crate::error::StoreError;

/// Runs what takes the processor for long (compression, encryption) off the async threads. A panic in it
/// goes on here: it is a fault of ours and no end of the program.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => StoreError::Interrupted,
    })
}
