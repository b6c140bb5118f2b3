//! The bounded queue between the reader of a connection and the consumer of its events.
//!
//! The one idea: a slow consumer never stalls the browser and never grows memory. Newer events are dropped
//! and counted, and one [`Event::Overflow`] takes their place, in order, so that the consumer knows from
//! where on it must distrust what it mirrored. What something waits for in the browser is never dropped, for
//! it would wait for ever: when there is no room even for that, the connection ends, and everybody sees it.

use super::CdpSessionId;
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How many events wait at most.
const CAPACITY: usize = 8192;
/// How many bytes of parameters wait at most.
const BYTES: usize = 64 * 1024 * 1024;
/// How much more may wait of what is never dropped: as much again.
const RESERVE: usize = 2;
/// The events that are never dropped: a request or a target waits until it is answered or let go on, a
/// script until it is resumed, a page until its dialog is closed; and who comes must be seen to leave.
const KEPT: [&str; 6] = [
    "Target.attachedToTarget",
    "Target.detachedFromTarget",
    "Fetch.requestPaused",
    "Fetch.authRequired",
    "Debugger.paused",
    "Page.javascriptDialogOpening",
];

/// Something that the browser said unasked.
#[derive(Debug, Clone)]
pub enum Event {
    /// An event of the protocol.
    Message {
        /// The flat session that it belongs to; none for the browser itself.
        session: Option<CdpSessionId>,
        /// Its name, such as `Target.targetCreated`.
        method: String,
        /// Its parameters as they came; they may hold lone surrogates.
        params: Box<RawValue>,
    },
    /// Here events are missing, because the consumer was too slow.
    Overflow {
        /// How many are missing.
        dropped: u64,
    },
}

impl Event {
    fn bytes(&self) -> usize {
        match self {
            Self::Message { params, .. } => params.get().len(),
            Self::Overflow { .. } => 0,
        }
    }

    /// Whether something in the browser may wait for its answer.
    fn is_kept(&self) -> bool {
        matches!(self, Self::Message { method, .. } if KEPT.contains(&method.as_str()))
    }
}

/// The consumer's end.
#[derive(Debug)]
pub struct Events {
    queue: Arc<Queue>,
}

impl Events {
    /// The next event in order, or none once the connection is closed and all were taken.
    pub async fn next(&mut self) -> Option<Event> {
        // Who takes many in a row and posts calls for them would not let these be written.
        tokio::task::coop::consume_budget().await;
        loop {
            let changed = self.queue.changed.notified();
            match self.queue.pop() {
                Popped::Event(event) => return Some(event),
                Popped::Closed => return None,
                Popped::Empty => changed.await,
            }
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.queue.abandon();
    }
}

/// The queue itself; the reader of the connection pushes.
#[derive(Debug, Default)]
pub(super) struct Queue {
    inner: Mutex<QueueState>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    events: VecDeque<Event>,
    bytes: usize,
    dropped: u64,
    closed: bool,
    abandoned: bool,
}

enum Popped {
    Event(Event),
    Empty,
    Closed,
}

impl Queue {
    /// A queue with its consumer.
    pub(super) fn new() -> (Arc<Self>, Events) {
        let queue = Arc::new(Self::default());
        (Arc::clone(&queue), Events { queue })
    }

    /// Adds an event, or drops and counts it when there is no room; false when one that must not be
    /// dropped has none.
    pub(super) fn push(&self, event: Event) -> bool {
        let mut inner = self.lock();
        if inner.abandoned {
            return true;
        }
        let is_kept = event.is_kept();
        let times = if is_kept { RESERVE } else { 1 };
        // An event larger than the whole bound still passes through an empty queue.
        let full = inner.events.len() >= CAPACITY * times
            || (!inner.events.is_empty() && inner.bytes + event.bytes() > BYTES * times);
        if full {
            inner.dropped += 1;
            return !is_kept;
        }
        if inner.dropped > 0 {
            let dropped = std::mem::take(&mut inner.dropped);
            inner.events.push_back(Event::Overflow { dropped });
        }
        inner.bytes += event.bytes();
        inner.events.push_back(event);
        drop(inner);
        self.changed.notify_one();
        true
    }

    /// Marks the end: the consumer takes what is there, then none.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    fn abandon(&self) {
        *self.lock() = QueueState { abandoned: true, ..QueueState::default() };
    }

    fn pop(&self) -> Popped {
        let mut inner = self.lock();
        if let Some(event) = inner.events.pop_front() {
            inner.bytes -= event.bytes();
            return Popped::Event(event);
        }
        if inner.dropped > 0 {
            let dropped = std::mem::take(&mut inner.dropped);
            return Popped::Event(Event::Overflow { dropped });
        }
        if inner.closed { Popped::Closed } else { Popped::Empty }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: usize) -> Event {
        of("A.b", number)
    }

    fn of(method: &str, number: usize) -> Event {
        let params = RawValue::from_string(number.to_string()).unwrap();
        Event::Message { session: None, method: method.to_owned(), params }
    }

    #[tokio::test]
    async fn what_the_browser_waits_for_is_never_dropped_without_a_word() {
        let (queue, mut events) = Queue::new();
        for number in 0..CAPACITY + 5 {
            assert!(queue.push(event(number)));
        }
        assert!(queue.push(of("Fetch.requestPaused", 1)));
        assert!(queue.push(event(0)));
        assert!(queue.push(of("Target.attachedToTarget", 2)));
        for _ in 0..CAPACITY {
            assert!(matches!(events.next().await, Some(Event::Message { .. })));
        }
        let mut next = async || match events.next().await.unwrap() {
            Event::Message { method, .. } => method,
            Event::Overflow { dropped } => dropped.to_string(),
        };
        for expected in ["5", "Fetch.requestPaused", "1", "Target.attachedToTarget"] {
            assert_eq!(next().await, expected);
        }
        let mut taken = 0;
        while queue.push(of("Fetch.requestPaused", 3)) {
            taken += 1;
        }
        assert_eq!(taken, CAPACITY * RESERVE);
    }

    #[tokio::test]
    async fn what_a_slow_consumer_missed_is_told_in_its_place() {
        let (queue, mut events) = Queue::new();
        for number in 0..CAPACITY + 3 {
            queue.push(event(number));
        }
        for _ in 0..CAPACITY {
            assert!(matches!(events.next().await, Some(Event::Message { .. })));
        }
        queue.push(event(0));
        assert!(matches!(events.next().await, Some(Event::Overflow { dropped: 3 })));
        assert!(matches!(events.next().await, Some(Event::Message { .. })));
        queue.close();
        assert!(events.next().await.is_none());
    }

    #[tokio::test]
    async fn an_overflow_at_the_end_is_told_as_well() {
        let (queue, mut events) = Queue::new();
        for number in 0..=CAPACITY {
            queue.push(event(number));
        }
        queue.close();
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event);
        }
        assert!(matches!(last, Some(Event::Overflow { dropped: 1 })));
    }
}
