//! Waits for a cocoon's answer to begin. An upload may take as long as it moves.

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// When something last moved.
#[derive(Clone)]
pub(super) struct Moved(Arc<Mutex<Instant>>);

impl Moved {
    pub(super) fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `answer` becomes; none when nothing moved for so long.
    pub(super) async fn wait<T>(
        &self,
        limit: Duration,
        answer: impl Future<Output = T>,
    ) -> Option<T> {
        let still = async {
            loop {
                let end = self.last() + limit;
                if end <= Instant::now() {
                    return;
                }
                sleep_until(end).await;
            }
        };
        tokio::select! {
            answer = answer => Some(answer),
            () = still => None,
        }
    }
}

/// A body that notes each piece that moves on.
pub(super) struct Watched {
    pub(super) body: Body,
    pub(super) moved: Moved,
}

impl hyper::body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_ready() {
            self.moved.note();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
