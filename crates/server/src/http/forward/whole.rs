//! A body of which another node signed what it is: it comes to its end only where it is that.
//!
//! The one idea: who reads it need not know. What was changed on its way breaks off where it would have ended, so an
//! operation that wants all of it, as each does that is told something, does nothing with it; the answer says why.

use axum::body::{Body, Bytes};
use baton_sync::messages::BodyDigest;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

/// Whether a body turned out to be another one than was signed.
#[derive(Clone, Default)]
pub(super) struct IsChanged(Arc<AtomicBool>);

impl IsChanged {
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The same body, which breaks off where it is another one.
pub(super) fn expect(body: Body, digest: BodyDigest) -> (Body, IsChanged) {
    let is_changed = IsChanged::default();
    let expected = ExpectedBody { body, digest: Some(digest), is_changed: is_changed.clone() };
    (Body::new(expected), is_changed)
}

struct ExpectedBody {
    body: Body,
    /// What it has to be; none once that is known.
    digest: Option<BodyDigest>,
    is_changed: IsChanged,
}

impl HttpBody for ExpectedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some((digest, piece)) = self.digest.as_mut().zip(frame.data_ref()) {
                    digest.read(piece);
                }
            }
            Poll::Ready(None) if self.digest.take().is_some_and(|digest| !digest.is_met()) => {
                self.is_changed.0.store(true, Ordering::Relaxed);
                let error = io::Error::other("another body than the node signed");
                return Poll::Ready(Some(Err(axum::Error::new(error))));
            }
            _ => {}
        }
        polled
    }

    /// Who reads no further never hears what it is.
    fn is_end_stream(&self) -> bool {
        self.digest.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::expect;
    use axum::body::{Body, to_bytes};
    use baton_sync::messages::{BodyDigest, body_digest};

    #[tokio::test]
    async fn a_body_that_was_changed_breaks_off_where_it_would_end() {
        let is_whole = async |sent: &'static str, signed: &[u8]| {
            let digest = BodyDigest::new(body_digest(signed));
            let (body, is_changed) = expect(Body::from(sent), digest);
            let read = to_bytes(body, 100).await;
            assert_eq!(read.is_err(), is_changed.get());
            read.is_ok_and(|read| read == sent)
        };
        assert!(is_whole("alpha", b"alpha").await);
        assert!(is_whole("", b"").await);
        assert!(!is_whole("omega", b"alpha").await);
        assert!(!is_whole("", b"alpha").await, "it was taken away");
        assert!(!is_whole("alpha", b"").await, "it was added");
    }
}
