//! Freight: how many bytes of bodies the node holds at once, of all requests and answers and of each key.
//!
//! The bound of a body says how much one request may weigh. Of a thousand requests it says nothing, so what
//! they weigh together is counted here, as it comes, until its request was answered; and of an answer that
//! is whole in memory, until it was taken.

use super::{BodyTrouble, Bounds, Visit};
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_ENCODING;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// What answers of this size or less weigh is not counted.
const LIGHT: u64 = 64 << 10;

/// What the node holds. Cheap to clone.
#[derive(Clone)]
pub struct Freight(Arc<FreightState>);

struct FreightState {
    /// How many bytes at once, of all and of one key.
    limits: (usize, usize),
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    all: usize,
    keys: HashMap<String, usize>,
}

impl Freight {
    /// Nothing is held yet.
    pub fn new(bounds: &Bounds) -> Self {
        let limits = (bounds.freight, bounds.freight_of_key);
        Self(Arc::new(FreightState { limits, held: Mutex::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What of it belongs to one request or answer; it is given back with this.
struct Load {
    freight: Freight,
    visit: Option<Visit>,
    held: Mutex<(Option<String>, usize)>,
}

impl Load {
    fn new(freight: &Freight, visit: Option<Visit>) -> Self {
        Self { freight: freight.clone(), visit, held: Mutex::default() }
    }

    /// Takes so many more bytes; whether there was room.
    fn reserve(&self, bytes: usize) -> bool {
        let mut mine = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = self.freight.lock();
        if mine.0.is_none() {
            // Bodies are read once it is known who asks.
            mine.0 = self.visit.as_ref().and_then(|visit| visit.name().map(str::to_owned));
        }
        let theirs = mine.0.as_ref().map_or(0, |key| held.keys.get(key).copied().unwrap_or(0));
        let (all, each) = self.freight.0.limits;
        if held.all.saturating_add(bytes) > all || theirs.saturating_add(bytes) > each {
            if let Some(visit) = &self.visit {
                visit.note(BodyTrouble::NoRoom);
            }
            return false;
        }
        held.all += bytes;
        if let Some(key) = &mine.0 {
            *held.keys.entry(key.clone()).or_default() += bytes;
        }
        mine.1 += bytes;
        true
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let mine = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut held = self.freight.lock();
        held.all -= mine.1;
        if let Some(key) = &mine.0
            && let Some(theirs) = held.keys.get_mut(key)
        {
            *theirs -= mine.1;
            if *theirs == 0 {
                held.keys.remove(key);
            }
        }
    }
}

/// What was loaded of the request's body, for those who make more of it.
#[derive(Clone)]
struct Loaded {
    load: Arc<Load>,
    /// Whether it is not as long as what it will be read as.
    is_packed: bool,
}

/// The layer: counts what a request brings, and what its answer holds.
pub async fn weigh(State(freight): State<Freight>, mut request: Request, next: Next) -> Response {
    let visit = request.extensions().get::<Visit>().cloned();
    let load = Arc::new(Load::new(&freight, visit.clone()));
    let is_packed = request.headers().contains_key(CONTENT_ENCODING);
    request.extensions_mut().insert(Loaded { load: Arc::clone(&load), is_packed });
    let weighed = Arc::clone(&load);
    let response = next.run(request.map(|body| Weighed::of(body, weighed))).await;
    drop(load);
    match response.body().size_hint().exact() {
        Some(size) if size > LIGHT => {}
        _ => return response,
    }
    let load = Load::new(&freight, visit);
    let size = response.body().size_hint().exact().unwrap_or_default();
    if load.reserve(usize::try_from(size).unwrap_or(usize::MAX)) {
        response.map(|body| Weighed::kept(body, load))
    } else {
        axum::http::StatusCode::TOO_MANY_REQUESTS.into_response()
    }
}

/// The layer for bodies that were unpacked on their way: counts what they have become.
pub async fn weigh_unpacked(request: Request, next: Next) -> Response {
    let packed = request.extensions().get::<Loaded>().filter(|loaded| loaded.is_packed);
    match packed.map(|loaded| Arc::clone(&loaded.load)) {
        Some(load) => next.run(request.map(|body| Weighed::of(body, load))).await,
        None => next.run(request).await,
    }
}

/// A body whose bytes are counted.
struct Weighed {
    body: Body,
    load: Arc<Load>,
    /// Whether all of it was counted before.
    is_counted: bool,
}

impl Weighed {
    fn of(body: Body, load: Arc<Load>) -> Body {
        Body::new(Self { body, load, is_counted: false })
    }

    fn kept(body: Body, load: Load) -> Body {
        Body::new(Self { body, load: Arc::new(load), is_counted: true })
    }
}

impl HttpBody for Weighed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && !self.is_counted
            && !self.load.reserve(frame.data_ref().map_or(0, Bytes::len))
        {
            return Poll::Ready(Some(Err(axum::Error::new(BodyTrouble::NoRoom))));
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

#[cfg(test)]
mod tests {
    use super::Bounds;
    use super::{Freight, Load};

    const ALL: usize = 512;
    const EACH: usize = 256;

    fn of(freight: &Freight, key: &str) -> Load {
        let load = Load::new(freight, None);
        load.held.lock().unwrap().0 = Some(key.to_owned());
        load
    }

    #[test]
    fn what_one_key_and_all_hold_is_bounded_and_given_back() {
        let bounds = Bounds { freight: ALL, freight_of_key: EACH, ..Bounds::default() };
        let freight = Freight::new(&bounds);
        let ada = of(&freight, "ada");
        assert!(ada.reserve(EACH - 1));
        assert!(!of(&freight, "ada").reserve(2), "her share is used up by all of her requests");
        let bob = of(&freight, "bob");
        assert!(bob.reserve(ALL - EACH));
        assert!(!of(&freight, "eve").reserve(2), "there is no room at all");
        drop(ada);
        assert!(of(&freight, "eve").reserve(2));
        drop(bob);
        let held = freight.lock();
        assert_eq!((held.all, held.keys.len()), (0, 0));
    }
}
