//! One connection a browser: one that comes again takes the place of the one before, which may not have
//! noticed yet that its network is gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

/// The places of all browsers, by the key of each. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Seats(Arc<Mutex<HashMap<String, Taken>>>);

struct Taken {
    /// Tells whoever sits there to leave.
    leave: CancellationToken,
    /// Held by whoever sits there.
    chair: Arc<tokio::sync::Mutex<()>>,
}

/// A browser's place; free again when this is dropped.
pub(crate) struct Seat {
    leave: CancellationToken,
    key: String,
    seats: Seats,
    _chair: OwnedMutexGuard<()>,
}

impl Seats {
    /// Takes the place of the browser with this key, once whoever sits there has left.
    pub(crate) async fn sit(&self, key: &str) -> Seat {
        let leave = CancellationToken::new();
        let chair = {
            let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let before = seats.remove(key);
            let chair = before.map_or_else(Arc::default, |Taken { leave, chair }| {
                leave.cancel();
                chair
            });
            seats.insert(key.to_owned(), Taken { leave: leave.clone(), chair: Arc::clone(&chair) });
            chair
        };
        let chair = chair.lock_owned().await;
        Seat { leave, key: key.to_owned(), seats: self.clone(), _chair: chair }
    }
}

impl Seat {
    /// Ends when another connection takes this place.
    pub(crate) async fn left(&self) {
        self.leave.cancelled().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.seats.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Who waits for it has put a token of its own there.
        if !self.leave.is_cancelled() {
            seats.remove(&self.key);
        }
    }
}
