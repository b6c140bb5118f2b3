//! Subscriptions: a client hears that the board changed, and reads it when it likes.
//!
//! A client of the newest protocol opens a stream for what it wants to hear. One of an older protocol
//! subscribes, and hears of it until its session of the protocol ends.

use super::resources::{BOARD, failed};
use super::verb::require;
use crate::context::Context;
use crate::error::NodeError;
use baton_api::Scope;
use baton_runtime::Caller;
use baton_runtime::board;
use baton_runtime::board::Followed;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::{CancellationToken, DropGuard};

/// What a client can subscribe to.
pub(super) fn offered() -> SubscriptionFilter {
    SubscriptionFilter::builder().resource_subscription(BOARD).build()
}

/// Tells a client of the newest protocol of changes, until it leaves or the node ends. It was told that
/// it is heard before we looked, so the first look is told as well: something may have changed between.
pub(super) async fn listen(
    context: &Context,
    caller: &Caller,
    subscription: SubscriptionContext,
) -> Result<(), ErrorData> {
    if subscription.accepted().resource_subscriptions.is_none() {
        subscription.cancelled().await;
        return Ok(());
    }
    let mut followed = begin(context, caller).await.map_err(|error| failed(&error))?;
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
    pub(super) async fn begin(
        &self,
        context: &Context,
        caller: &Caller,
        uri: &str,
        peer: Peer<RoleServer>,
    ) -> Result<(), ErrorData> {
        expect_board(uri)?;
        let mut followed = begin(context, caller).await.map_err(|error| failed(&error))?;
        // It is answered after this look, and hears of what changes from then on. When the node ends
        // now, the next look says so.
        let _ = followed.next().await;
        let ended = CancellationToken::new();
        context.tasks.spawn(tell(followed, peer, ended.clone()));
        *self.lock() = Some(ended.drop_guard());
        Ok(())
    }

    /// Tells it no more.
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

async fn begin(context: &Context, caller: &Caller) -> Result<Followed, NodeError> {
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
