//! Webhooks: who is told that a session came, changed or is in conflict, because of another node.
//!
//! The one idea: a message says *that* something happened and never what a session holds; whoever
//! wants more asks the node with a key. Nothing waits for a receiver: messages lie in a bounded queue
//! for each, in memory, and a worker sends them in order, signed after Standard Webhooks.

mod deliver;
mod key;
mod message;
mod queue;

pub use key::{InvalidKey, Secret, WebhookKey};
pub(crate) use message::News;

use baton_net::outbound::Outbound;
use baton_session::Owner;
use baton_store::Store;
use baton_store::clock;
use message::Delivery;
use queue::Queue;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

/// Of what a webhook is told.
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

/// Who is told, and of what.
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
    /// Those of the settings, to whom nothing was told yet.
    pub fn new(settings: Vec<WebhookSettings>) -> Self {
        let hook = |settings| Arc::new(Hook { settings, queue: Queue::default() });
        Self(settings.into_iter().map(hook).collect())
    }

    /// Whether anybody is told of sessions of this owner.
    pub(crate) fn are_for(&self, owner: &Owner) -> bool {
        self.0.iter().any(|hook| hook.settings.owner == *owner)
    }

    /// Tells those who want to know; they hear it later.
    pub(crate) fn tell(&self, owner: &Owner, news: &News) {
        let wants = |hook: &&Arc<Hook>| {
            hook.settings.owner == *owner && hook.settings.events.contains(&news.event)
        };
        for hook in self.0.iter().filter(wants) {
            if hook.queue.put(Delivery::new(news, clock::now())) {
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

/// Begins to send what is told, until the node ends.
pub fn start(webhooks: &Webhooks, around: &Around) {
    for hook in webhooks.0.iter() {
        around.tasks.spawn(deliver::work(around.clone(), hook.clone()));
    }
}

/// What telling them takes. Cheap to clone.
#[derive(Clone)]
pub struct Around {
    /// Where it is noted what nobody took.
    pub store: Store,
    /// Which addresses are asked.
    pub outbound: Outbound,
    /// What must be finished before the node ends.
    pub tasks: TaskTracker,
    /// Ends it.
    pub ending: CancellationToken,
}
