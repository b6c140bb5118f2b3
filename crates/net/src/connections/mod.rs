//! Connections: how many there may be, who keeps theirs, and how long a caller may take.
//!
//! Each has a task of its own, from the handshake on, so that one caller that falls silent keeps no other
//! waiting. Every phase has its limit in the connection itself, whatever answers behind it: the handshake of
//! TLS, the head of a request (and the silence before it), its body, an answer that is not taken. Rooms:
//! `bound` is a listener, and the sockets that hold their places; `places` says who may hold a connection,
//! and `freight` what bodies weigh together.
//!
//! A *visit* is what a request and its connection know of each other. The request says who asks, once that is known; the connection says how fast its body has to come. A body
//! that comes too slowly ends here, whatever waits for it: no caller holds a place by sending nothing.

pub mod freight;
mod listener;
mod places;

pub use freight::Freight;
pub use listener::Listener;

use axum::body::{Body, Bytes};
use baton_session::Owner;
use futures_util::future::BoxFuture;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use places::{Guest, Holder};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// The address of a connection's other end.
#[derive(Debug, Clone, Copy)]
pub struct Connection(pub SocketAddr);

/// What a door bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How many connections at once; a further one takes the place of another.
    pub connections: usize,
    /// How long a handshake, and then the head of each request, may take, how long a body may pause, and how
    /// long what is left of it is taken after an answer.
    pub silence: Duration,
    /// How long a body may take, beside the time that it has earned by what came.
    pub body: Duration,
    /// How many bytes of a body earn a second.
    pub bytes_per_second: u64,
    /// How long nothing of an answer may be taken.
    pub stalled: Duration,
    /// How many bytes of bodies are held at once.
    pub freight: usize,
    /// How many of them of one key.
    pub freight_of_key: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 1000,
            silence: Duration::from_secs(30),
            body: Duration::from_mins(1),
            bytes_per_second: 1024,
            stalled: Duration::from_mins(1),
            // The largest body has 160 MiB.
            freight: 512 << 20,
            freight_of_key: 256 << 20,
        }
    }
}

/// Knows keys.
pub trait Keys: Send + Sync {
    /// Whether the owner's key of this id opens anything. Where that cannot be looked up it is good: what is
    /// under way does not end for it.
    fn is_good<'a>(&'a self, owner: &'a Owner, id: &'a str) -> BoxFuture<'a, bool>;
}

/// Why a body was not taken to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyTrouble {
    /// It came too slowly, or not at all.
    #[error("expected the body of the request, found that it comes too slowly or not at all")]
    Slow,
    /// There is no room for it beside the others.
    #[error(
        "expected fewer bytes of requests and answers at once, found more\n\
         try again once others are done"
    )]
    NoRoom,
}

/// One request, as its connection knows it. Cheap to clone.
#[derive(Clone)]
pub struct Visit(Arc<VisitState>);

struct VisitState {
    guest: Guest,
    /// In whose name it is asked, once that is known.
    name: OnceLock<String>,
    trouble: OnceLock<BodyTrouble>,
    /// The connection ends after the answer.
    closing: CancellationToken,
}

impl Visit {
    fn start(guest: Guest, closing: CancellationToken) -> Self {
        guest.start_request();
        let (name, trouble) = (OnceLock::new(), OnceLock::new());
        Self(Arc::new(VisitState { guest, name, trouble, closing }))
    }

    /// The request shows a key of this id; the connection ends with it when `owner` says whose it is. Fails
    /// with the limit when there are too many connections with it.
    pub fn show(&self, name: &str, owner: Option<&Owner>) -> Result<(), usize> {
        self.0.guest.show(&Holder { name: name.to_owned(), owner: owner.cloned() })?;
        // A request is made in one name.
        let _ = self.0.name.set(name.to_owned());
        Ok(())
    }

    /// In whose name it is asked; none is a stranger.
    pub fn name(&self) -> Option<&str> {
        self.0.name.get().map(String::as_str)
    }

    /// Says why the body was not taken.
    pub fn note(&self, trouble: BodyTrouble) {
        // The first reason is the one.
        let _ = self.0.trouble.set(trouble);
    }

    /// Why the body was not taken, if it was not.
    pub fn trouble(&self) -> Option<BodyTrouble> {
        self.0.trouble.get().copied()
    }

    /// The connection is not used again.
    fn close(&self) {
        self.0.closing.cancel();
    }

    /// The body of the answer, after which the connection rests.
    fn answer(self, body: Body) -> Body {
        Body::new(Answer { body, _rest: Rest(self) })
    }
}

/// The body of a request, which has to come within its time.
struct Paced {
    body: Incoming,
    visit: Visit,
    bounds: Bounds,
    /// When a reader began to wait for it.
    begun: Option<Instant>,
    received: u64,
    is_whole: bool,
    limit: Pin<Box<Sleep>>,
}

impl Paced {
    fn new(body: Incoming, visit: Visit, bounds: Bounds) -> Self {
        let limit = Box::pin(sleep_until(Instant::now()));
        Self { body, visit, bounds, begun: None, received: 0, is_whole: false, limit }
    }

    /// Until when the next piece has to be there.
    fn deadline(&mut self) -> Instant {
        let now = Instant::now();
        let begun = *self.begun.get_or_insert(now);
        let earned = Duration::from_secs(self.received / self.bounds.bytes_per_second.max(1));
        (now + self.bounds.silence).min(begun + self.bounds.body + earned)
    }
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.begun.is_none() {
            let deadline = self.deadline();
            self.limit.as_mut().reset(deadline);
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            match &frame {
                Some(Ok(frame)) => {
                    self.received += frame.data_ref().map_or(0, Bytes::len) as u64;
                }
                Some(Err(_)) => {}
                None => self.is_whole = true,
            }
            let deadline = self.deadline();
            self.limit.as_mut().reset(deadline);
            return Poll::Ready(frame.map(|frame| frame.map_err(axum::Error::new)));
        }
        ready!(self.limit.as_mut().poll(context));
        self.visit.note(BodyTrouble::Slow);
        Poll::Ready(Some(Err(axum::Error::new(BodyTrouble::Slow))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        let is_whole = self.is_whole || self.body.is_end_stream();
        // One that is too slow has had its time.
        if !is_whole && self.visit.trouble() != Some(BodyTrouble::Slow) {
            self.visit.0.guest.leave_rest();
        }
    }
}

/// The body of an answer.
struct Answer {
    body: Body,
    _rest: Rest,
}

/// Says that the connection rests, once the answer is through or no caller waits for it.
struct Rest(Visit);

impl Drop for Rest {
    fn drop(&mut self) {
        self.0.0.guest.rest();
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
