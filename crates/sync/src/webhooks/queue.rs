//! What waits for one webhook: bounded, and the oldest goes first, out or away.

use super::message::Delivery;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How many messages wait for one webhook at most.
const MOST: usize = 256;

/// Messages in the order in which they were told.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<VecDeque<Delivery>>,
    came: Notify,
}

impl Queue {
    /// Puts one at the end; whether the oldest had to go for it.
    pub(super) fn put(&self, delivery: Delivery) -> bool {
        let mut waiting = self.waiting();
        let is_full = waiting.len() >= MOST;
        if is_full {
            waiting.pop_front();
        }
        waiting.push_back(delivery);
        self.came.notify_one();
        is_full
    }

    /// Waits for the oldest and takes it.
    pub(super) async fn next(&self) -> Delivery {
        loop {
            // The guard must be gone before the wait.
            let oldest = self.waiting().pop_front();
            if let Some(delivery) = oldest {
                return delivery;
            }
            self.came.notified().await;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting().len()
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Delivery>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Event;
    use super::super::message::{Delivery, News};
    use super::{MOST, Queue};
    use baton_session::{NodeId, SessionId};
    use jiff::Timestamp;

    fn delivery() -> Delivery {
        let at = Timestamp::UNIX_EPOCH;
        let node = NodeId::new(at, [0; 10]);
        let session = SessionId::new(at, [0; 10]);
        let name = "shop".parse().unwrap();
        let news = News { event: Event::New, session, name, rev: None, node, from: node };
        Delivery::new(&news, at)
    }

    #[tokio::test]
    async fn what_is_too_much_takes_the_place_of_the_oldest() {
        let queue = Queue::default();
        let told: Vec<_> = (0..MOST + 2).map(|_| delivery()).collect();
        let ids: Vec<_> = told.iter().map(|one| one.id).collect();
        let dropped = told.into_iter().map(|one| queue.put(one));
        assert_eq!(dropped.filter(|dropped| *dropped).count(), 2);
        assert_eq!((queue.len(), queue.next().await.id), (MOST, ids[2]));
    }
}
