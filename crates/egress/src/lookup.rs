//! Looking names up, with what the machine has for it.
//!
//! The one idea: that takes a thread for as long as it likes, also when nobody waits for it any more, and all that the
//! process does with files wants such threads, too. So there are few look-ups at once, and each keeps its place until its
//! thread has ended. Whoever answers says how many addresses a name has, so only the first ones count.

use crate::blocking::blocking;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// How long a name may take to be looked up, with the wait for a place.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);
/// How many names one way out looks up at once, and how many all those of this process; it has 512 threads.
const OF_ONE: usize = 16;
const OF_ALL: usize = 64;
/// How many addresses of a name count: each is judged, and perhaps tried.
const ADDRESSES: usize = 32;

static ALL: Semaphore = Semaphore::const_new(OF_ALL);

/// Why a name leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAddress {
    /// It has none.
    None,
    /// Nobody said so in time.
    TimedOut,
}

/// A place among those of one way out, and one among all. Nobody closes either of them.
type LookupPlace =
    (Result<OwnedSemaphorePermit, AcquireError>, Result<SemaphorePermit<'static>, AcquireError>);

/// The look-ups of one way out. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Lookups(Arc<Semaphore>);

impl Default for Lookups {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(OF_ONE)))
    }
}

impl Lookups {
    /// Where a name leads now.
    pub(crate) async fn addresses(&self, name: String) -> Result<Vec<IpAddr>, NoAddress> {
        addresses(name, self.place(), LIMIT).await
    }

    async fn place(&self) -> LookupPlace {
        (Arc::clone(&self.0).acquire_owned().await, ALL.acquire().await)
    }
}

/// Where a name leads now, for what no way out asks: whoever does has places of its own, as many as the names that it
/// looks up at once.
pub async fn look_up(
    name: &str,
    places: &'static Semaphore,
    limit: Duration,
) -> Result<Vec<IpAddr>, NoAddress> {
    addresses(name.to_owned(), places.acquire(), limit).await
}

async fn addresses(
    name: String,
    place: impl Future<Output = impl Send + 'static>,
    limit: Duration,
) -> Result<Vec<IpAddr>, NoAddress> {
    match run(place, move || (name.as_str(), 0).to_socket_addrs().map(first), limit).await {
        Some(Ok(found)) => Ok(found),
        Some(Err(_)) => Err(NoAddress::None),
        None => Err(NoAddress::TimedOut),
    }
}

/// The first of what was found.
fn first(found: impl Iterator<Item = SocketAddr>) -> Vec<IpAddr> {
    found.take(ADDRESSES).map(|address| address.ip()).collect()
}

/// Does some work in a thread once there is a place; none when it was not done in time, and then the thread may go on.
async fn run<T: Send + 'static>(
    place: impl Future<Output = impl Send + 'static>,
    work: impl FnOnce() -> T + Send + 'static,
    limit: Duration,
) -> Option<T> {
    let done = async {
        let place = place.await;
        blocking(move || {
            let done = work();
            drop(place);
            done
        })
        .await
    };
    tokio::time::timeout(limit, done).await.ok()
}

#[cfg(test)]
mod tests {
    use super::{ADDRESSES, LIMIT, Lookups, NoAddress, OF_ONE, Semaphore, first, look_up, run};
    use std::net::{IpAddr, SocketAddr};
    use std::sync::mpsc::channel;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    const SOON: Duration = Duration::from_millis(50);
    static FREE: Semaphore = Semaphore::const_new(1);
    static FULL: Semaphore = Semaphore::const_new(0);

    #[tokio::test]
    async fn a_look_that_nobody_waits_for_keeps_its_place_until_it_ends() {
        let lookups = Lookups::default();
        let ((tell, begun), (end, ended)) = (channel(), channel::<()>());
        let ended = Arc::new(Mutex::new(ended));
        for _ in 0..OF_ONE {
            let (tell, ended) = (tell.clone(), Arc::clone(&ended));
            let slow = move || {
                tell.send(()).unwrap();
                let _ = ended.lock().unwrap().recv();
            };
            assert_eq!(run(lookups.place(), slow, SOON).await, None);
        }
        assert_eq!(begun.iter().take(OF_ONE).count(), OF_ONE);
        // The threads go on, so there is no place for one more, and it does not begin.
        let late = tell.clone();
        let more = move || late.send(()).unwrap();
        assert_eq!(run(lookups.place(), more, SOON).await, None);
        begun.try_recv().unwrap_err();
        // Another way out has places of its own, and so has whoever else looks names up.
        assert_eq!(run(Lookups::default().place(), || 7, LIMIT).await, Some(7));
        let own = vec![IpAddr::from([127, 0, 0, 1])];
        assert_eq!(look_up("127.0.0.1", &FREE, LIMIT).await, Ok(own));
        assert_eq!(look_up("127.0.0.1", &FULL, SOON).await, Err(NoAddress::TimedOut));
        drop(end);
        assert_eq!(run(lookups.place(), || 7, LIMIT).await, Some(7));
    }

    #[test]
    fn of_very_many_addresses_the_first_ones_count() {
        let all = (0..=u8::MAX).map(|last| SocketAddr::from(([11, 7, 0, last], 443)));
        let found = first(all);
        assert_eq!(found.len(), ADDRESSES);
        assert_eq!(found[1], IpAddr::from([11, 7, 0, 1]));
    }
}
