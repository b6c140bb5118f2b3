//! Whether a peer that was asked something is still there.
//!
//! The one idea: an answer may take long, silence may not. A peer from which nothing has come for a moment is
//! asked beside that whether it lives, which needs no key and costs it nothing; so what it is doing for us
//! need not say that it goes on, and every version of Baton can be asked.

use super::{HEALTH_LIMIT, Remote, TUNNEL};
use crate::error::SyncError;
use baton_net::client::address;
use std::time::Duration;
use tokio::time::sleep;

/// How long a connection to a peer may take to open; one that opens in that time and is silent has shown that
/// somebody is there.
pub(super) const CONNECT_LIMIT: Duration = Duration::from_millis(2500);
/// How long nothing may come before a peer is asked whether it lives.
const QUIET: Duration = Duration::from_millis(400);
/// How long one that has said so is left alone.
const PAUSE: Duration = Duration::from_secs(2);
/// How many bytes a line carries in a second at least: what is under way on it goes first.
const SLOWEST: u64 = 32 << 10;

impl Remote {
    /// Waits for what comes from the peer, for as long as that shows that it lives. Of what is asked, `sent`
    /// bytes are under way. One that does not take connections is unreachable; one that takes them and says
    /// nothing is silent.
    pub(super) async fn while_alive<T>(
        &self,
        sent: usize,
        coming: impl Future<Output = T>,
    ) -> Result<T, SyncError> {
        tokio::pin!(coming);
        let on_the_way = Duration::from_secs(sent as u64 / SLOWEST);
        let limit = HEALTH_LIMIT.saturating_sub(QUIET) + on_the_way;
        let mut quiet = QUIET;
        loop {
            tokio::select! {
                biased;
                came = &mut coming => return Ok(came),
                () = sleep(quiet) => {}
            }
            tokio::select! {
                biased;
                came = &mut coming => return Ok(came),
                alive = self.shows_life(limit) => alive?,
            }
            quiet = PAUSE;
        }
    }

    /// Asks whether it lives. Whatever it says is a sign that it does. That it refuses to talk is none that it
    /// does not: a node that ends takes no connections any more, and finishes what was asked.
    async fn shows_life(&self, limit: Duration) -> Result<(), SyncError> {
        let request = self.http.get(address(&self.url, &["health"])?).timeout(limit);
        let request = match self.way.tunnel()? {
            Some(tunnel) => request.header(TUNNEL, tunnel),
            None => request,
        };
        match request.send().await {
            Err(error) if error.is_timeout() && error.is_connect() => Err(self.unreachable(error)),
            Err(error) if error.is_timeout() => {
                Err(SyncError::Silent { name: self.peer.name.clone() })
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
