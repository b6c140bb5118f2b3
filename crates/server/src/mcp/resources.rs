//! Resources: a session and its receipt in full, and the board, for clients that attach them to a conversation.
//!
//! A client subscribes to the board: it hears that it changed, and reads it when it likes. One of the newest
//! protocol opens a stream for what it wants to hear. One of an older protocol subscribes, and hears of it until
//! its session of the protocol ends.

use super::verb::require;
use crate::context::Context;
use crate::error::NodeError;
use baton_api::{Answers, ListSessions, Scope, SessionSummary};
use baton_runtime::board::Followed;
use baton_runtime::{Caller, board, sessions};
use baton_session::printable;
use percent_encoding::percent_decode_str;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ResourceUpdatedNotificationParam, SubscriptionFilter,
};
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use serde::Serialize;
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::{CancellationToken, DropGuard};

const JSON: &str = "application/json";
const SCHEME: &str = "baton://sessions/";
/// The board that agents share. Clients can subscribe to it.
const BOARD: &str = "baton://federation";

/// A page of the caller's sessions as resources.
pub(super) async fn list(
    context: &Context,
    caller: &Caller,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let allowed = require(context, caller, Scope::Read).await;
    allowed.map_err(|error| failed(&error))?;
    let is_first = cursor.is_none();
    let Ok(after) = cursor.map(|cursor| cursor.parse()).transpose() else {
        return Err(ErrorData::invalid_params("expected a cursor of the page before", None));
    };
    let query = ListSessions { after, ..ListSessions::default() };
    let found =
        sessions::list(context, &caller.owner, query).await.map_err(|error| failed(&error))?;
    let resource = |session: &SessionSummary| {
        Resource::new(format!("{SCHEME}{}", session.id), session.name.to_string())
            .with_description(format!("{}; {}", session.state, session.description))
            .with_mime_type(JSON)
    };
    let board = (is_first && board::is_there(context, caller)).then(the_board);
    let items = board.into_iter().chain(found.items.iter().map(resource)).collect();
    let mut page = ListResourcesResult::with_all_items(items);
    page.next_cursor = found.next.map(|next| next.to_string());
    page.ttl_ms = Some(0);
    page.cache_scope = Some(CacheScope::Private);
    Ok(page)
}

fn the_board() -> Resource {
    Resource::new(BOARD, "federation")
        .with_description("The board that agents share: who does what, what is to be done, who drives which session")
        .with_mime_type(JSON)
}

/// What can be read, as addresses with a gap.
pub(super) fn templates() -> ListResourceTemplatesResult {
    ListResourceTemplatesResult::with_all_items(vec![
        ResourceTemplate::new(format!("{SCHEME}{{session}}"), "session")
            .with_description("A session: state, tabs, latest snapshot, when its cookies expire")
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{SCHEME}{{session}}/receipt"), "receipt")
            .with_description("What the latest resume brought back, item by item")
            .with_mime_type(JSON),
    ])
}

/// Reads the board, a session or its receipt.
pub(super) async fn read(
    context: &Context,
    caller: &Caller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let allowed = require(context, caller, Scope::Read).await;
    allowed.map_err(|error| failed(&error))?;
    if uri == BOARD {
        let view = board::show(context, caller).await.map_err(|error| failed(&error))?;
        return Ok(contents(uri, as_json(&view)?));
    }
    let unknown = || {
        let expected = format!(
            "expected {BOARD}, or {SCHEME}NAME or {SCHEME}NAME/receipt of a session that there is"
        );
        ErrorData::resource_not_found(expected, None)
    };
    let rest = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
    let (reference, is_receipt) = match rest.strip_suffix("/receipt") {
        Some(reference) => (reference, true),
        None => (rest, false),
    };
    // The client that fills the template in escapes what is no plain ASCII.
    let reference = percent_decode_str(reference).decode_utf8().map_err(|_| unknown())?;
    let view = match sessions::show(context, &caller.owner, &reference).await {
        Ok(view) => view,
        Err(_) if context.find(&caller.owner, &reference).await.is_err() => return Err(unknown()),
        Err(error) => return Err(failed(&error)),
    };
    let text =
        if is_receipt { as_json(&view.receipt.ok_or_else(unknown)?)? } else { as_json(&view)? };
    Ok(contents(uri, text))
}

fn contents(uri: &str, text: String) -> ReadResourceResult {
    let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    let mut read = ReadResourceResult::new(vec![contents]);
    read.ttl_ms = Some(0);
    read.cache_scope = Some(CacheScope::Private);
    read
}

fn as_json(value: &impl Serialize) -> Result<String, ErrorData> {
    serde_json::to_string(value)
        .map(|text| printable::json(&text))
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// An operation's error as one of the protocol, which has no results for resources that fail.
fn failed(error: &impl Answers) -> ErrorData {
    let problem = error.problem();
    if problem.status >= 500 {
        tracing::error!(%error, "a resource could not be read");
    }
    let data = json!({"code": problem.code.as_str(), "hint": problem.hint});
    ErrorData::invalid_params(problem.detail, Some(data))
}

/// What a client can subscribe to.
pub(super) fn offered() -> SubscriptionFilter {
    SubscriptionFilter::builder().resource_subscription(BOARD).build()
}

/// Tells a client of the newest protocol of changes, until it leaves or the node ends. It heard that it is
/// subscribed before we looked, so the first look is sent as well: something may have changed between.
pub(super) async fn listen(
    context: &Context,
    caller: &Caller,
    subscription: SubscriptionContext,
) -> Result<(), ErrorData> {
    if subscription.accepted().resource_subscriptions.is_none() {
        subscription.cancelled().await;
        return Ok(());
    }
    let mut followed = follow_node(context, caller).await.map_err(|error| failed(&error))?;
    loop {
        tokio::select! {
            () = subscription.cancelled() => return Ok(()),
            seen = followed.next() => if seen.is_none() { return Ok(()) },
        }
        // A client that has left is no failure.
        if subscription.sink().notify_resource_updated(BOARD).await.is_err() {
            return Ok(());
        }
    }
}

/// What one client of an older protocol has subscribed to; it ends with this.
#[derive(Clone, Default)]
pub(super) struct Subscribed(Arc<Mutex<Option<DropGuard>>>);

impl Subscribed {
    /// Tells the client of changes from now on.
    pub(super) async fn follow(
        &self,
        context: &Context,
        caller: &Caller,
        uri: &str,
        peer: Peer<RoleServer>,
    ) -> Result<(), ErrorData> {
        expect_board(uri)?;
        let mut followed = follow_node(context, caller).await.map_err(|error| failed(&error))?;
        // It is answered after this look, and hears of what changes from then on. When the node ends
        // now, the next look says so.
        let _ = followed.next().await;
        let ended = CancellationToken::new();
        context.tasks.spawn(tell(followed, peer, ended.clone()));
        *self.lock() = Some(ended.drop_guard());
        Ok(())
    }

    /// Tells the client of changes no more.
    pub(super) fn end(&self, uri: &str) -> Result<(), ErrorData> {
        expect_board(uri)?;
        *self.lock() = None;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<DropGuard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn tell(mut followed: Followed, peer: Peer<RoleServer>, ended: CancellationToken) {
    loop {
        tokio::select! {
            () = ended.cancelled() => return,
            seen = followed.next() => if seen.is_none() { return },
        }
        let updated = ResourceUpdatedNotificationParam::new(BOARD);
        if peer.notify_resource_updated(updated).await.is_err() {
            return;
        }
    }
}

async fn follow_node(context: &Context, caller: &Caller) -> Result<Followed, NodeError> {
    require(context, caller, Scope::Read).await?;
    Ok(board::follow(context, caller).await?)
}

fn expect_board(uri: &str) -> Result<(), ErrorData> {
    if uri == BOARD {
        return Ok(());
    }
    let expected = format!("expected {BOARD}, the only resource that can be subscribed to");
    Err(ErrorData::resource_not_found(expected, None))
}
