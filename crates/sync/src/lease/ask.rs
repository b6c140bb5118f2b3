//! Asks peers for a lease, several at once.

use crate::context::Sync;
use crate::error::SyncError;
use crate::remote::Remote;
use baton_api::sync::LeaseAnswer;
use baton_session::{Lease, SessionId};
use baton_store::Peer;
use futures_util::{StreamExt as _, stream};

/// How many peers are asked at once.
const ASKED_AT_ONCE: usize = 8;

/// A peer, and what it said.
pub(super) type Said = (Peer, Result<LeaseAnswer, SyncError>);

/// What each of them says to a lease of the session.
pub(super) async fn ask_all(
    context: &Sync,
    peers: &[Peer],
    session: SessionId,
    lease: Lease,
) -> Vec<Said> {
    let asked = stream::iter(peers.to_vec()).map(|peer| async move {
        let answer = async { Remote::of(context, &peer).await?.lease(session, lease).await };
        let answer = answer.await;
        (peer, answer)
    });
    asked.buffer_unordered(ASKED_AT_ONCE).collect().await
}
