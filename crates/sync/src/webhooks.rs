//! Webhooks: programs hear that a session came, changed or is in conflict, because of another node.
//!
//! The one idea: a message says *that* something happened and never what a session holds; a program that
//! wants more asks the node with a key. Nothing waits for a receiver: messages lie in a bounded queue for
//! each, in memory, of which the oldest goes first, out or away; and a worker sends them in order, signed
//! after Standard Webhooks 1.0.0, again and again while they are not taken, and not for ever.

use backon::{ExponentialBuilder, Retryable};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_api::ErrorCode;
use baton_net::outbound::{Outbound, Reach};
use baton_net::{WayError, outbound};
use baton_runtime::Actor;
use baton_runtime::audit::{Action, Note};
use baton_session::{DeliveryId, NodeId, Owner, RevisionId, SessionId, SessionName};
use baton_store::{Store, clock};
use hmac::{Hmac, KeyInit, Mac};
use http::header::{CONTENT_TYPE, USER_AGENT};
use jiff::Timestamp;
use serde_json::json;
use sha2::Sha256;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;
use zeroize::Zeroizing;

/// Of what a webhook hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A session came that was not here.
    New,
    /// Another revision of a session counts, because of one from elsewhere.
    Changed,
    /// A session was changed here and elsewhere, and someone may choose.
    Conflict,
}

impl Event {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::New, Self::Changed, Self::Conflict];

    /// The word in messages and settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "session.new",
            Self::Changed => "session.changed",
            Self::Conflict => "session.conflict",
        }
    }
}

/// Which receiver, and of what it hears.
#[derive(Debug, Clone)]
pub struct WebhookSettings {
    /// Where; its path may be a secret.
    pub url: Url,
    /// What messages are signed with.
    pub secret: Secret,
    /// Of what.
    pub events: BTreeSet<Event>,
    /// Of whose sessions.
    pub owner: Owner,
    /// How long a receiver is waited for.
    pub patience: Patience,
}

/// How long a receiver is waited for. The settings do not say this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// How often a message is sent at most.
    pub tries: usize,
    /// The pause after the first time; each further one is twice as long.
    pub pause: Duration,
    /// How long one answer may take.
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tries: 8, pause: Duration::from_secs(1), answer: Duration::from_secs(10) }
    }
}

/// A webhook, and what waits for it.
struct Hook {
    settings: WebhookSettings,
    queue: Queue,
}

impl Hook {
    /// Where it is, as far as logs may say it.
    fn place(&self) -> String {
        self.settings.url.origin().ascii_serialization()
    }
}

/// All of them. Cheap to clone.
#[derive(Clone)]
pub struct Webhooks(Arc<[Arc<Hook>]>);

impl Webhooks {
    /// Those of the settings, which have heard nothing yet.
    pub fn new(settings: Vec<WebhookSettings>) -> Self {
        let hook = |settings| Arc::new(Hook { settings, queue: Queue::default() });
        Self(settings.into_iter().map(hook).collect())
    }

    /// Whether any receiver hears of sessions of this owner.
    pub(crate) fn are_for(&self, owner: &Owner) -> bool {
        self.0.iter().any(|hook| hook.settings.owner == *owner)
    }

    /// Tells the webhooks that want to know; they hear it later.
    pub(crate) fn tell(&self, owner: &Owner, news: &News) {
        let wants = |hook: &&Arc<Hook>| {
            hook.settings.owner == *owner && hook.settings.events.contains(&news.event)
        };
        for hook in self.0.iter().filter(wants) {
            if hook.queue.enqueue(Delivery::new(news, clock::now())) {
                metrics::counter!("baton_webhooks_dropped_total").increment(1);
                let (webhook, event) = (hook.place(), news.event.as_str());
                tracing::warn!(
                    webhook,
                    event,
                    "too much waits for a webhook: the oldest is dropped"
                );
            }
        }
    }
}

/// Begins to send messages, until the node ends.
pub fn start(webhooks: &Webhooks, around: &Around) {
    for hook in webhooks.0.iter() {
        around.tasks.spawn(work(around.clone(), hook.clone()));
    }
}

/// What telling them takes. Cheap to clone.
#[derive(Clone)]
pub struct Around {
    /// Where it is noted what no receiver took.
    pub store: Store,
    /// Which addresses are asked.
    pub outbound: Outbound,
    /// What must be finished before the node ends.
    pub tasks: TaskTracker,
    /// Ends it.
    pub ending: CancellationToken,
}

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// What the node calls itself.
const AGENT: &str = concat!("baton/", env!("CARGO_PKG_VERSION"));

/// Why a message was not taken.
struct NotDelivered {
    why: String,
    /// Whether it may be taken later.
    is_passing: bool,
}

impl From<String> for NotDelivered {
    fn from(why: String) -> Self {
        Self { why, is_passing: true }
    }
}

/// Sends whatever comes, until the node ends. What waits then is lost.
async fn work(around: Around, hook: Arc<Hook>) {
    let webhook = hook.place();
    if let Err(why) = hook.settings.secret.key().await {
        tracing::warn!(webhook, why, "a webhook has no secret: nothing can be sent to it");
    }
    while let Some(delivery) = around.ending.run_until_cancelled(hook.queue.next()).await {
        let sent = Box::pin(deliver(&around, &hook, &delivery));
        if around.ending.run_until_cancelled(sent).await.is_none() {
            let lost = hook.queue.len() + 1;
            tracing::warn!(webhook, lost, "the node ends before a webhook has taken everything");
        }
    }
}

/// Sends a message until it is taken, or for as long as that is tried. What is not taken is noted.
async fn deliver(around: &Around, hook: &Hook, delivery: &Delivery) {
    let patience = &hook.settings.patience;
    let pauses = ExponentialBuilder::default()
        .with_min_delay(patience.pause)
        .with_max_delay(LONGEST_PAUSE)
        .with_max_times(patience.tries.saturating_sub(1))
        .with_jitter();
    let posted = (|| post(around, hook, delivery)).retry(pauses).when(|failed| failed.is_passing);
    let Err(NotDelivered { why, .. }) = posted.await else { return };
    let (webhook, event) = (hook.place(), delivery.event.as_str());
    tracing::warn!(webhook, event, session = %delivery.session, why, "a webhook was not told");
    metrics::counter!("baton_webhooks_failed_total").increment(1);
    let note = Note::new(&Actor::node(), &hook.settings.owner, Action::TellWebhook, webhook);
    let note = note.with("event", event).with("session", delivery.session.to_string());
    let note = note.with("delivery", delivery.id.to_string()).with("why", why);
    note.refused(&around.store, ErrorCode::PeerUnreachable).await;
}

/// Sends a message once, signed for this second.
async fn post(around: &Around, hook: &Hook, delivery: &Delivery) -> Result<(), NotDelivered> {
    let (url, id) = (&hook.settings.url, delivery.id.to_string());
    let key = hook.settings.secret.key().await?;
    let client =
        outbound::client(&around.outbound, url, Reach::default()).await.map_err(refused)?;
    let at = clock::now().as_second();
    let request = client
        .post(url.clone())
        .timeout(hook.settings.patience.answer)
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, AGENT)
        .header("webhook-signature", key.sign(&id, at, delivery.body.as_bytes()))
        .header("webhook-timestamp", at)
        .header("webhook-id", id)
        .body(delivery.body.clone());
    let answer = request.send().await.map_err(outbound::said)?;
    let status = answer.status();
    match status.as_u16() {
        200..=299 => Ok(()),
        300..=399 => Err("it sends us elsewhere, where we do not go".to_owned().into()),
        // A receiver that says that it is gone wants to hear nothing more.
        410 => Err(NotDelivered { why: "it says that it is gone".to_owned(), is_passing: false }),
        _ => Err(format!("it answers {status}").into()),
    }
}

/// Why an address is not asked, without the path in it.
fn refused(error: WayError) -> NotDelivered {
    match error {
        WayError::AddressNotAllowed { found } => {
            // The settings are read when the node starts, so another try finds the same.
            let why = format!("expected an address that this node may ask, found {found}");
            NotDelivered { why, is_passing: false }
        }
        WayError::NotFound { found } => {
            format!("expected a name that leads somewhere, found {found}").into()
        }
        _ => "it cannot be asked".to_owned().into(),
    }
}

/// What precedes the base64.
const PREFIX: &str = "whsec_";
/// How many bytes a key has.
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// Where the key of a webhook is.
#[derive(Debug, Clone)]
pub enum Secret {
    /// In the settings.
    Given(WebhookKey),
    /// In a file, which is read anew each time.
    File(PathBuf),
}

impl Secret {
    /// The key, or why there is none; never what was found in its place.
    async fn key(&self) -> Result<WebhookKey, String> {
        match self {
            Self::Given(key) => Ok(key.clone()),
            Self::File(path) => {
                let text = read(path).await;
                let text = text.map_err(|error| format!("its secret cannot be read: {error}"))?;
                text.trim().parse().map_err(|error: InvalidKey| error.to_string())
            }
        }
    }
}

async fn read(path: &Path) -> std::io::Result<Zeroizing<String>> {
    Ok(Zeroizing::new(baton_store::plain::secret(path).await?))
}

/// A key: 24 to 64 bytes.
#[derive(Clone)]
pub struct WebhookKey(Arc<Zeroizing<[u8; 64]>>);

/// A text that is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a secret of {PREFIX} and 24 to 64 bytes in base64, found another text")]
pub struct InvalidKey;

impl FromStr for WebhookKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let encoded = text.strip_prefix(PREFIX).unwrap_or(text);
        let bytes = Zeroizing::new(STANDARD.decode(encoded).map_err(|_| InvalidKey)?);
        if !LENGTHS.contains(&bytes.len()) {
            return Err(InvalidKey);
        }
        // HMAC fills a short key up with zeros to the size of its blocks (RFC 2104).
        let mut block = Zeroizing::new([0; 64]);
        block[..bytes.len()].copy_from_slice(&bytes);
        Ok(Self(Arc::new(block)))
    }
}

impl fmt::Debug for WebhookKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookKey(…)")
    }
}

impl WebhookKey {
    /// The value of `webhook-signature` for a message with this id that is sent at this second.
    fn sign(&self, id: &str, at: i64, body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new((&**self.0).into());
        mac.update(format!("{id}.{at}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// Something that happened to a session because of another node.
pub(crate) struct News {
    pub(crate) event: Event,
    pub(crate) session: SessionId,
    pub(crate) name: SessionName,
    /// The revision that counts now.
    pub(crate) rev: Option<RevisionId>,
    /// The node where it happened.
    pub(crate) node: NodeId,
    /// The node from which it came.
    pub(crate) from: NodeId,
}

/// A message to one webhook.
struct Delivery {
    id: DeliveryId,
    event: Event,
    session: SessionId,
    body: String,
}

impl Delivery {
    fn new(news: &News, at: Timestamp) -> Self {
        let id = DeliveryId::new(at, rand::random());
        let body = json!({
            "id": id,
            "event": news.event.as_str(),
            "time": at,
            "nodeId": news.node,
            "sessionId": news.session,
            "name": news.name,
            "rev": news.rev,
            "fromNode": news.from,
        });
        Self { id, event: news.event, session: news.session, body: body.to_string() }
    }
}

/// How many messages wait for one webhook at most.
const MOST: usize = 256;

/// Messages in the order in which they came.
#[derive(Default)]
struct Queue {
    waiting: Mutex<VecDeque<Delivery>>,
    came: Notify,
}

impl Queue {
    /// Puts one at the end; whether the oldest had to go for it.
    fn enqueue(&self, delivery: Delivery) -> bool {
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
    async fn next(&self) -> Delivery {
        loop {
            // The guard must be gone before the wait.
            let oldest = self.waiting().pop_front();
            if let Some(delivery) = oldest {
                return delivery;
            }
            self.came.notified().await;
        }
    }

    fn len(&self) -> usize {
        self.waiting().len()
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Delivery>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Delivery, Event, InvalidKey, MOST, News, Queue, WebhookKey, refused};
    use baton_net::WayError;
    use baton_session::{NodeId, SessionId};
    use jiff::Timestamp;

    /// The example of the libraries of Standard Webhooks.
    #[test]
    fn a_signature_is_what_the_standard_says() {
        let key: WebhookKey = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap();
        let body = br#"{"test": 2432232314}"#;
        let signed = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert!(!format!("{key:?}").contains("MfKQ"));
    }

    #[test]
    fn a_key_is_neither_short_nor_long_nor_another_text() {
        for bad in ["whsec_", "whsec_c2hvcnQ=", "not base64!", &"A".repeat(88)] {
            assert_eq!(bad.parse::<WebhookKey>().unwrap_err(), InvalidKey, "{bad}");
        }
    }

    #[test]
    fn a_message_waits_for_a_name_that_nobody_looked_up_and_for_no_other_setting() {
        let late = "hook.test, which was not looked up within 5s".to_owned();
        let late = refused(WayError::NotFound { found: late });
        assert!(late.is_passing && late.why.ends_with("within 5s"), "{}", late.why);
        let private = "hook.test, which leads to the private address 10.0.0.7".to_owned();
        assert!(!refused(WayError::AddressNotAllowed { found: private }).is_passing);
    }

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
        let dropped = told.into_iter().map(|one| queue.enqueue(one));
        assert_eq!(dropped.filter(|dropped| *dropped).count(), 2);
        assert_eq!((queue.len(), queue.next().await.id), (MOST, ids[2]));
    }
}
