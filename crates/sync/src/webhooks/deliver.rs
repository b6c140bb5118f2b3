//! Sends what waits for one webhook: in order, again and again while it does not take it, and not for
//! ever.

use super::Around;
use super::Hook;
use super::message::Delivery;
use backon::{ExponentialBuilder, Retryable};
use baton_api::ErrorCode;
use baton_net::outbound::Reach;
use baton_net::{WayError, client};
use baton_runtime::Actor;
use baton_runtime::audit::{Action, Note};
use baton_store::clock;
use http::header::{CONTENT_TYPE, USER_AGENT};
use std::sync::Arc;
use std::time::Duration;

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// What the node calls itself.
const AGENT: &str = concat!("baton/", env!("CARGO_PKG_VERSION"));

/// Why a message was not taken.
struct Failed {
    why: String,
    /// Whether it may be taken later.
    is_passing: bool,
}

impl From<String> for Failed {
    fn from(why: String) -> Self {
        Self { why, is_passing: true }
    }
}

/// Sends whatever comes, until the node ends. What waits then is lost.
pub(super) async fn work(around: Around, hook: Arc<Hook>) {
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
    let Err(Failed { why, .. }) = posted.await else { return };
    let (webhook, event) = (hook.place(), delivery.event.as_str());
    tracing::warn!(webhook, event, session = %delivery.session, why, "a webhook was not told");
    metrics::counter!("baton_webhooks_failed_total").increment(1);
    let note = Note::new(&Actor::node(), &hook.settings.owner, Action::TellWebhook, webhook);
    let note = note.with("event", event).with("session", delivery.session.to_string());
    let note = note.with("delivery", delivery.id.to_string()).with("why", why);
    note.refused(&around.store, ErrorCode::PeerUnreachable).await;
}

/// Sends a message once, signed for this second.
async fn post(around: &Around, hook: &Hook, delivery: &Delivery) -> Result<(), Failed> {
    let (url, id) = (&hook.settings.url, delivery.id.to_string());
    let key = hook.settings.secret.key().await?;
    let client = client::client(&around.outbound, url, Reach::default()).await.map_err(refused)?;
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
    let answer = request.send().await.map_err(client::said)?;
    let status = answer.status();
    match status.as_u16() {
        200..=299 => Ok(()),
        300..=399 => Err("it sends us elsewhere, where we do not go".to_owned().into()),
        // Whoever says that it is gone wants to hear nothing more of it.
        410 => Err(Failed { why: "it says that it is gone".to_owned(), is_passing: false }),
        _ => Err(format!("it answers {status}").into()),
    }
}

/// Why an address is not asked, without the path in it.
fn refused(error: WayError) -> Failed {
    match error {
        WayError::AddressNotAllowed { found } => {
            // The settings are read when the node starts, so another try finds the same.
            let why = format!("expected an address that this node may ask, found {found}");
            let is_passing = found.ends_with("which has no address");
            Failed { why, is_passing }
        }
        _ => "it cannot be asked".to_owned().into(),
    }
}
