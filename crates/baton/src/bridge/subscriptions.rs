//! Subscriptions of clients of older protocols, which subscribe once and hear of changes from then on.
//!
//! The node is asked in the newest protocol, by a stream for each. It ends with its node; then the next
//! node is asked, and the client hears that something may have changed meanwhile.

use super::client::Client;
use super::greeting::Greeting;
use super::message::{Incoming, Outcome, error};
use super::node::{self, Node};
use baton_api::Messages;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

pub(super) const SUBSCRIBE: &str = "resources/subscribe";
pub(super) const UNSUBSCRIBE: &str = "resources/unsubscribe";
/// What the node is asked instead, and clients of the newest protocol ask themselves.
pub(super) const LISTEN: &str = "subscriptions/listen";
/// What the client hears.
const UPDATED: &str = "notifications/resources/updated";
/// How long to wait before a node is asked again: twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What the client has subscribed to, each until it unsubscribes or leaves. A node has one resource of
/// this kind, and refuses others, so there are never many.
#[derive(Default)]
pub(super) struct Subscriptions(Mutex<HashMap<String, AbortOnDropHandle<()>>>);

impl Subscriptions {
    /// Answers a client that subscribes.
    pub(super) async fn begin(
        &self,
        request: &Incoming,
        node: &Arc<Node>,
        greeting: &Greeting,
        client: &Client,
    ) -> Outcome {
        let uri = uri(request)?;
        let mut params = Map::new();
        params.insert("notifications".to_owned(), json!({"resourceSubscriptions": [uri]}));
        node::introduce(&mut params, greeting);
        let asked = Asked { uri: uri.clone(), params, node: Arc::clone(node) };
        let stream = asked.open().await?;
        let task = tokio::spawn(asked.follow(stream, client.clone()));
        // One that was there already ends.
        self.lock().insert(uri, AbortOnDropHandle::new(task));
        Ok(json!({}))
    }

    /// Answers a client that wants to hear no more.
    pub(super) fn end(&self, request: &Incoming) -> Outcome {
        self.lock().remove(&uri(request)?);
        Ok(json!({}))
    }

    /// The client has left.
    pub(super) fn end_all(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, AbortOnDropHandle<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn uri(request: &Incoming) -> Result<String, Value> {
    let uri = request.params.get("uri").and_then(Value::as_str).map(str::to_owned);
    uri.ok_or_else(|| error(-32602, "expected the uri of a resource, found none"))
}

/// What the node is asked for.
struct Asked {
    uri: String,
    params: Map<String, Value>,
    node: Arc<Node>,
}

impl Asked {
    /// A stream on which the node tells of changes.
    async fn open(&self) -> Result<Messages, Value> {
        let mut stream = self.node.begin(&json!(1), LISTEN, &self.params).await?;
        let first = node::next(&mut stream).await?;
        let accepted = first.pointer("/params/notifications/resourceSubscriptions");
        let mut accepted = accepted.and_then(Value::as_array).into_iter().flatten();
        if accepted.any(|uri| *uri == *self.uri) {
            return Ok(stream);
        }
        let other = format!("{} is no resource that can be subscribed to", self.uri);
        Err(first.get("error").cloned().unwrap_or_else(|| error(-32002, &other)))
    }

    /// Tells the client of changes, whichever node is there.
    async fn follow(self, mut stream: Messages, client: Client) {
        let told = json!({"uri": self.uri});
        loop {
            while let Ok(message) = node::next(&mut stream).await {
                match message.get("method") {
                    Some(method) if method == UPDATED => client.mention(UPDATED, &told),
                    Some(_) => {}
                    // The node ends, or the key was revoked.
                    None => break,
                }
            }
            stream = self.open_again().await;
            client.mention(UPDATED, &told);
        }
    }

    /// The stream of the next node. None is started for it: whoever ended the last one may have meant it.
    async fn open_again(&self) -> Messages {
        let mut pause = FIRST_PAUSE;
        loop {
            sleep(pause).await;
            if self.node.is_there().await
                && let Ok(stream) = self.open().await
            {
                return stream;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
