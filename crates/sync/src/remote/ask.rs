//! One request to a peer: sealed, signed, sent as fast as is set, and its answer verified, which is waited for
//! while the peer lives.

use super::{Remote, SEALED, Topic};
use crate::credential::{Shown, TUNNEL};
use crate::error::SyncError;
use crate::letting_in::confirms_there;
use crate::messages::{sign_request, verify_response};
use crate::not_joined::NotJoined;
use crate::sealing;
use crate::sealing::SealContext;
use backon::{ExponentialBuilder, Retryable};
use baton_api::{ErrorCode, Problem};
use baton_net::outbound::{ANSWER_LIMIT, SMALL_MAX, address, bounded};
use baton_session::peer::AuthMethod;
use baton_store::blocking::blocking;
use baton_store::clock;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request};
use std::future::IntoFuture as _;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// How long a request may take with all its repetitions.
const WHOLE_LIMIT: Duration = Duration::from_secs(ANSWER_LIMIT.as_secs() + 30);
/// How often a request is repeated when the line is cut or the peer has no time.
const RETRIES: usize = 4;

/// One request: where it goes and what it says.
pub(super) struct Ask<'a> {
    method: Method,
    path: &'a [&'a str],
    topic: Topic,
    body: Option<Bytes>,
    /// Whether compressing it pays.
    compress: bool,
    /// The largest answer.
    limit: usize,
    /// How long it may take, however often it is repeated; as long as any answer when none is said.
    within: Option<Duration>,
    /// Whether the peer may be silent for as long.
    is_silent: bool,
}

impl<'a> Ask<'a> {
    pub(super) fn get(path: &'a [&'a str], topic: Topic, limit: usize) -> Self {
        let (method, body, within) = (Method::GET, None, None);
        Self { method, path, topic, body, compress: false, limit, within, is_silent: false }
    }

    pub(super) fn post(
        path: &'a [&'a str],
        topic: Topic,
        body: Vec<u8>,
        compress: bool,
        limit: usize,
    ) -> Self {
        Self {
            method: Method::POST,
            path,
            topic,
            body: Some(body.into()),
            compress,
            limit,
            within: None,
            is_silent: false,
        }
    }

    /// The same, for which a peer may be silent until it has something to say.
    pub(super) fn in_silence(self) -> Self {
        Self { is_silent: true, ..self }
    }

    /// The same, which may take no longer than this.
    pub(super) fn within(self, limit: Duration) -> Self {
        Self { within: Some(limit), ..self }
    }
}

impl Remote {
    /// Asks, and asks again when the line was cut or the peer had no time.
    pub(super) async fn ask(&self, ask: Ask<'_>) -> Result<Vec<u8>, SyncError> {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(200))
            .with_max_delay(Duration::from_secs(5))
            .with_max_times(RETRIES)
            .with_jitter();
        let asked = (|| self.ask_once(&ask)).retry(pauses).when(FailedRequest::is_passing);
        let limit = ask.within.unwrap_or(WHOLE_LIMIT);
        let Ok(asked) = timeout(limit, Box::pin(asked.into_future())).await else {
            return Err(SyncError::TooSlow { name: self.peer.name.clone() });
        };
        asked.map_err(|failed| failed.error)
    }

    /// Asks once; and once more, with another token, when one that was kept is refused.
    pub(super) async fn ask_once(&self, ask: &Ask<'_>) -> Result<Vec<u8>, FailedRequest> {
        let asked = Box::pin(self.ask_with_token(ask)).await;
        match &asked {
            Ok(_) => self.statuses.waits(self.peer.node, false),
            Err(failed) if failed.is_pending => self.statuses.waits(self.peer.node, true),
            Err(_) => {}
        }
        asked
    }

    async fn ask_with_token(&self, ask: &Ask<'_>) -> Result<Vec<u8>, FailedRequest> {
        let shown = self.way.show().await?;
        let asked = Box::pin(self.ask_as(ask, &shown)).await;
        if !asked.as_ref().is_err_and(|failed| failed.is_unknown) {
            return asked;
        }
        if !self.way.discard(&shown).await {
            return asked;
        }
        let shown = self.way.show().await?;
        let asked = Box::pin(self.ask_as(ask, &shown)).await;
        if asked.as_ref().is_err_and(|failed| failed.is_unknown) {
            self.way.discard(&shown).await;
        }
        asked
    }

    /// Asks once, and shows nothing: who asks is in the question.
    pub(super) async fn ask_unknown(&self, ask: &Ask<'_>) -> Result<Vec<u8>, SyncError> {
        let asked = Box::pin(self.ask_as(ask, &Shown::nothing())).await;
        asked.map_err(|failed| failed.error)
    }

    /// Asks, and shows this.
    async fn ask_as(&self, ask: &Ask<'_>, shown: &Shown) -> Result<Vec<u8>, FailedRequest> {
        let (mut request, signature) = self.request(ask, shown).await?;
        if let Some(limit) = ask.within {
            *request.timeout_mut() = Some(limit);
        }
        let sent = request.body().map_or(0, |body| body.as_bytes().map_or(0, <[u8]>::len));
        let answered = self.coming(ask, sent, self.client.http.execute(request)).await?;
        let response = match answered {
            Ok(response) => response,
            Err(error) => return Err(self.cut(error).await),
        };
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let mut head = http::Response::new(());
        *head.status_mut() = response.status();
        *head.headers_mut() = response.headers().clone();
        // What is sealed is a little longer than what is in it.
        let most = ask.limit.saturating_add(ask.limit / 1000).saturating_add(SMALL_MAX);
        let body = self.coming(ask, 0, bounded(response, most)).await?;
        let body = match body {
            Ok(body) => body,
            Err(why) => return Err(FailedRequest::passing(self.place().broke_off(why).await)),
        };
        self.pace.count(sent + body.len()).await;
        let (parts, ()) = head.into_parts();
        let context = SealContext {
            purpose: ask.topic.answered,
            session: ask.topic.session,
            revision: None,
            recipient: self.identity.node(),
            sender: self.peer.node,
        };
        let (identity, key, limit) = (self.identity.clone(), self.peer.key, ask.limit);
        // The seal proves no author and the signature covers the digest of what is sealed, so the
        // digest is made first: nothing of an answer is opened before we know who wrote it.
        let work = move || {
            verify_response(&parts, &body, &signature, &key, clock::now())
                .map_err(|error| error.to_string())?;
            sealing::open(&identity, &context, &body, limit).map_err(|error| error.to_string())
        };
        Ok(blocking(work).await?.map_err(|why| SyncError::Untrusted { why })?)
    }

    /// Waits for what comes, as long as the peer lives, or where it may be silent, for as long as it may.
    async fn coming<T>(
        &self,
        ask: &Ask<'_>,
        sent: usize,
        coming: impl Future<Output = T>,
    ) -> Result<T, SyncError> {
        if ask.is_silent { Ok(coming.await) } else { self.place().while_alive(sent, coming).await }
    }

    /// A request that was cut off may go well the next time; one that took its time may not take it again.
    async fn cut(&self, error: reqwest::Error) -> FailedRequest {
        let is_late = error.is_timeout();
        let error = self.place().judge(error).await;
        let is_passing =
            !is_late && matches!(error, SyncError::Unreachable { .. } | SyncError::BrokeOff { .. });
        FailedRequest { is_passing, ..FailedRequest::passing(error) }
    }

    /// A request, sealed and signed.
    async fn request(
        &self,
        ask: &Ask<'_>,
        shown: &Shown,
    ) -> Result<(reqwest::Request, baton_session::NodeSignature), SyncError> {
        let untrusted = |why: String| SyncError::Untrusted { why };
        let mut request = Request::builder()
            .method(ask.method.clone())
            .uri(address(&self.url, ask.path)?.as_str());
        if let Some(authorization) = &shown.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        if let Some(tunnel) = self.way.tunnel()? {
            request = request.header(TUNNEL, tunnel);
        }
        if ask.body.is_some() {
            request = request.header(CONTENT_TYPE, SEALED);
        }
        let request = request.body(()).map_err(|error| untrusted(error.to_string()))?;
        let (mut parts, ()) = request.into_parts();
        let context = SealContext {
            purpose: ask.topic.asked,
            session: ask.topic.session,
            revision: None,
            recipient: self.peer.node,
            sender: self.identity.node(),
        };
        let (key, identity, card) =
            (self.seal_key.clone(), self.identity.clone(), self.card.clone());
        let (plain, compress) = (ask.body.clone(), ask.compress);
        // A copy of the handle, not of the bytes.
        let work = move || {
            let body = match plain {
                None => Vec::new(),
                Some(plain) => sealing::seal(&key, &context, &plain, compress)
                    .map_err(|error| error.to_string())?,
            };
            let signature = sign_request(&identity, &card, &mut parts, &body, clock::now())
                .map_err(|error| error.to_string())?;
            Ok::<_, String>((parts, body, signature))
        };
        let (parts, body, signature) = blocking(work).await?.map_err(untrusted)?;
        let request = reqwest::Request::try_from(Request::from_parts(parts, body))
            .map_err(|error| untrusted(error.to_string()))?;
        Ok((request, signature))
    }

    async fn refused(&self, response: reqwest::Response) -> FailedRequest {
        let status = response.status();
        let body = bounded(response, SMALL_MAX).await.unwrap_or_default();
        let is_passing = matches!(status.as_u16(), 429 | 502..=504);
        let (is_unknown, name) = (status.as_u16() == 401, self.peer.name.clone());
        let mut is_pending = false;
        let error = match serde_json::from_slice::<Problem>(&body) {
            Ok(Problem { code: ErrorCode::Unauthenticated, detail, hint, .. }) => {
                self.way.not_let_in(detail, hint)
            }
            // What to type there is known here. A proxy in between has no say in it.
            Ok(Problem { code: ErrorCode::PendingThere, .. }) => {
                is_pending = true;
                SyncError::PendingThere { name, next: confirms_there(&self.identity) }
            }
            Ok(Problem { code: ErrorCode::InvitationNotFound, .. }) => {
                NotJoined::Over { name }.into()
            }
            Ok(Problem { code: ErrorCode::NotShared | ErrorCode::SessionNotFound, .. }) => {
                SyncError::NotThere { name }
            }
            Ok(Problem { detail, hint, .. }) => {
                let why = hint.map_or(detail.clone(), |hint| format!("{detail}\n{hint}"));
                SyncError::Denied { name, why }
            }
            // A node says why; what says nothing and is not passing is in front of it.
            Err(_) if self.way.method == AuthMethod::Tunnel && !is_passing => {
                self.way.not_through(format!("HTTP status {status}"))
            }
            Err(_) => SyncError::Denied { name, why: format!("HTTP status {status}") },
        };
        FailedRequest { error, is_passing, is_unknown, is_pending }
    }
}

/// A request that failed, and whether it may go well the next time.
pub(super) struct FailedRequest {
    pub(super) error: SyncError,
    is_passing: bool,
    /// Whether the peer does not know who asks.
    is_unknown: bool,
    /// Whether this node is not confirmed at the peer.
    is_pending: bool,
}

impl FailedRequest {
    fn passing(error: SyncError) -> Self {
        Self { error, is_passing: true, is_unknown: false, is_pending: false }
    }

    fn is_passing(&self) -> bool {
        self.is_passing
    }
}

impl<E: Into<SyncError>> From<E> for FailedRequest {
    fn from(error: E) -> Self {
        Self { error: error.into(), is_passing: false, is_unknown: false, is_pending: false }
    }
}

/// Counts bytes, and waits when they were too many for the time.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: Option<NonZeroU64>,
    started: Instant,
    bytes: AtomicU64,
}

impl Pace {
    /// No byte has gone yet.
    pub(crate) fn new(per_second: Option<NonZeroU64>) -> Self {
        Self { per_second, started: Instant::now(), bytes: AtomicU64::new(0) }
    }

    /// How many have gone.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Counts bytes that have gone, and waits until it is time for the next.
    pub(crate) async fn count(&self, bytes: usize) {
        if let Some(due) = self.next_after(bytes as u64) {
            sleep_until(due).await;
        }
    }

    /// Counts bytes that have gone; and when it is time for the next, if that was set.
    fn next_after(&self, bytes: u64) -> Option<Instant> {
        let all = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let micros = all.saturating_mul(1_000_000) / self.per_second?;
        Some(self.started + Duration::from_micros(micros))
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;
    use std::num::NonZeroU64;
    use std::time::Duration;

    #[test]
    fn bytes_take_the_time_that_the_limit_gives_them() {
        let pace = Pace::new(NonZeroU64::new(1_000));
        let after = |bytes: u64| pace.next_after(bytes).unwrap() - pace.started;
        assert_eq!(after(2_500), Duration::from_millis(2_500));
        assert_eq!(after(0), Duration::from_millis(2_500), "nothing takes no time");
        assert_eq!(after(500), Duration::from_secs(3), "and what went before is not forgotten");
        assert_eq!(pace.bytes(), 3_000);
    }

    #[test]
    fn without_a_limit_nobody_waits_and_bytes_are_counted_all_the_same() {
        let pace = Pace::new(None);
        assert_eq!(pace.next_after(1 << 40), None);
        assert_eq!(pace.bytes(), 1 << 40);
    }
}
