//! Looking names up, with what the machine has for it.
//!
//! The one idea: that takes a thread for as long as it likes, also when nobody waits for it any more, and all that the
//! process does with files wants such threads, too. So there are few look-ups at once, and each keeps its place until its
//! thread has ended.

use crate::blocking::blocking;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// How long a name may take to be looked up, with the wait for a place.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);
/// How many names one way out looks up at once, and how many all of this process; it has 512 threads.
const OF_ONE: usize = 16;
const OF_ALL: usize = 64;

static ALL: Semaphore = Semaphore::const_new(OF_ALL);

/// Why a name leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAddress {
    /// It has none.
    None,
    /// Nobody said so in time.
    TimedOut,
}

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
        let look = move || (name.as_str(), 0).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        match self.run(look, LIMIT).await {
            Some(Ok(found)) => Ok(found.into_iter().map(|address| address.ip()).collect()),
            Some(Err(_)) => Err(NoAddress::None),
            None => Err(NoAddress::TimedOut),
        }
    }

    /// Does some work in a thread; none when it was not done in time, and then the thread may go on.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        limit: Duration,
    ) -> Option<T> {
        let done = async {
            // Nobody closes either of them.
            let places = (Arc::clone(&self.0).acquire_owned().await, ALL.acquire().await);
            blocking(move || {
                let done = work();
                drop(places);
                done
            })
            .await
        };
        tokio::time::timeout(limit, done).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{Lookups, OF_ONE};
    use std::sync::mpsc::channel;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    const SOON: Duration = Duration::from_millis(50);
    const LIMIT: Duration = Duration::from_secs(10);

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
            assert_eq!(lookups.run(slow, SOON).await, None);
        }
        assert_eq!(begun.iter().take(OF_ONE).count(), OF_ONE);
        // The threads go on, so there is no place for one more, and it does not begin.
        let late = tell.clone();
        assert_eq!(lookups.run(move || late.send(()).unwrap(), SOON).await, None);
        begun.try_recv().unwrap_err();
        // Another way out has places of its own.
        assert_eq!(Lookups::default().run(|| 7, LIMIT).await, Some(7));
        drop(end);
        assert_eq!(lookups.run(|| 7, LIMIT).await, Some(7));
    }
}
