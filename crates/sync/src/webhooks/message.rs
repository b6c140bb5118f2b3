//! What a webhook is told: that something happened to a session, never what it holds.

use super::Event;
use baton_session::{DeliveryId, NodeId, RevisionId, SessionId, SessionName};
use jiff::Timestamp;
use serde_json::json;

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
pub(super) struct Delivery {
    pub(super) id: DeliveryId,
    pub(super) event: Event,
    pub(super) session: SessionId,
    pub(super) body: String,
}

impl Delivery {
    pub(super) fn new(news: &News, at: Timestamp) -> Self {
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
