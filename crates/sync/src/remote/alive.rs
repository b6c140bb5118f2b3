//! Whether a peer lives, and what a request that failed says of that.
//!
//! The one idea: an answer may take long, silence may not. A peer from which nothing has come for a moment is
//! asked beside that whether it lives, which needs no key and costs it nothing; so what it is doing for us
//! need not say that it goes on, and every version of Baton can be asked.
//!
//! A peer is unreachable only where no connection opens, because what it holds is taken over then. One that takes
//! connections is there, whatever becomes of them: in TLS, one that is frozen falls silent before its handshake,
//! which looks to the client of HTTP like a connection that never opened. So a connection without TLS is opened
//! beside it.

use crate::credential::{PeerAccess, TUNNEL};
use crate::error::SyncError;
use crate::not_trusted::NotTrusted;
use baton_net::outbound::{CheckedClient, Distrust, address, distrust, said};
use reqwest::{RequestBuilder, Response};
use std::io;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a peer may take to say that it lives.
const HEALTH_LIMIT: Duration = Duration::from_secs(3);
/// How long a connection to it may take to open.
const KNOCK_LIMIT: Duration = Duration::from_millis(2500);
/// How long one may take with TLS: no shorter than all that is waited for, so that whether it opens is known
/// before.
pub(crate) const CONNECT_LIMIT: Duration = HEALTH_LIMIT;
/// How long nothing may come before a peer is asked whether it lives.
const QUIET: Duration = Duration::from_millis(400);
/// How long one that has said so is left alone.
const PAUSE: Duration = Duration::from_secs(2);
/// How many bytes a line carries in a second at least: what is under way on it goes first.
const SLOWEST: u64 = 32 << 10;
/// What there is to say of one that does not take connections in time.
const TOO_LONG: &str = "it took too long";

/// Where a peer is asked.
pub(crate) struct Place<'a> {
    /// What asks there.
    pub(crate) client: &'a CheckedClient,
    /// With what.
    pub(crate) way: &'a PeerAccess,
    /// What the peer is called in errors.
    pub(crate) name: &'a str,
    /// Whether it is registered, so that people can ask for it by that name.
    pub(crate) is_known: bool,
}

impl Place<'_> {
    /// Waits for what comes from the peer, for as long as that shows that it lives. Of what is asked, `sent`
    /// bytes are under way. One that does not take connections is unreachable; one that takes them and says
    /// nothing is silent.
    pub(crate) async fn while_alive<T>(
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
        let begun = Instant::now();
        match self.client.knock(KNOCK_LIMIT).await {
            Ok(()) => {}
            Err(error) if is_late(&error) => return Err(self.unreachable(TOO_LONG.to_owned())),
            Err(_) => return Ok(()),
        }
        match self.ask_health(limit.saturating_sub(begun.elapsed()))?.send().await {
            Err(error) if error.is_timeout() => Err(self.silent()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// What it answers when it is asked how it is, for which no key is needed.
    pub(crate) async fn health(&self) -> Result<Response, SyncError> {
        let begun = Instant::now();
        self.client.knock(KNOCK_LIMIT).await.map_err(|error| {
            self.unreachable(if is_late(&error) { TOO_LONG.to_owned() } else { error.to_string() })
        })?;
        match self.ask_health(HEALTH_LIMIT.saturating_sub(begun.elapsed()))?.send().await {
            Ok(response) => Ok(response),
            Err(error) if error.is_timeout() => Err(self.silent()),
            Err(error) => Err(self.judge(error).await),
        }
    }

    fn ask_health(&self, limit: Duration) -> Result<RequestBuilder, SyncError> {
        let request = self.client.http.get(address(&self.way.url, &["health"])?).timeout(limit);
        Ok(match self.way.tunnel()? {
            Some(tunnel) => request.header(TUNNEL, tunnel),
            None => request,
        })
    }

    /// What a request that failed says of the peer.
    pub(crate) async fn judge(&self, error: reqwest::Error) -> SyncError {
        let name = self.name.to_owned();
        match distrust(&error) {
            Some(Distrust::Certificate(why)) => {
                return NotTrusted::Certificate { name, why }.into();
            }
            Some(Distrust::OtherKey) => return NotTrusted::OtherMachine { name }.into(),
            None => {}
        }
        match (error.is_timeout(), error.is_connect()) {
            (true, false) => SyncError::TooSlow { name },
            (true, true) if self.client.knock(KNOCK_LIMIT).await.is_ok() => self.silent(),
            (true, true) => self.unreachable(TOO_LONG.to_owned()),
            (false, _) => self.broke_off(said(error)).await,
        }
    }

    /// What it says of the peer that an answer of it was cut off, or was none.
    pub(crate) async fn broke_off(&self, why: String) -> SyncError {
        match self.client.knock(KNOCK_LIMIT).await {
            Ok(()) => SyncError::BrokeOff { name: self.name.to_owned(), why },
            Err(_) => self.unreachable(why),
        }
    }

    fn unreachable(&self, why: String) -> SyncError {
        SyncError::Unreachable { name: self.name.to_owned(), why }
    }

    fn silent(&self) -> SyncError {
        if self.is_known {
            return SyncError::Silent { name: self.name.to_owned() };
        }
        let why = "it takes the connection and says nothing".to_owned();
        SyncError::NotANode { url: self.way.url.clone(), why }
    }
}

fn is_late(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}
