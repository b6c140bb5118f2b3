//! Pictures are drawn off the async threads.
//!
//! The one idea: a picture is never worth a capture. What it is drawn of comes from a site, so a fault over it costs
//! the picture alone; and since it is a fault of ours, the log says so.

use baton_egress::blocking;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;

/// Draws a picture; none when there is nothing to draw, and when that fails.
pub(super) async fn draw(
    work: impl FnOnce() -> Option<Vec<u8>> + Send + 'static,
) -> Option<Vec<u8>> {
    // Nothing of the work outlives it.
    let drawn = AssertUnwindSafe(blocking(work)).catch_unwind().await;
    drawn.unwrap_or_else(|_| {
        tracing::error!(
            "a picture could not be drawn, a fault of Baton: the capture goes on without it"
        );
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_fault_over_a_picture_costs_the_picture_alone() {
        assert_eq!(draw(|| Some(vec![7])).await, Some(vec![7]));
        assert_eq!(draw(|| panic!("a fault")).await, None);
    }
}
