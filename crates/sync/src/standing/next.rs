//! Answers a node that wants to hear of the next index.

use super::super::index_for::index_for;
use super::super::{forget, peers};
use super::{LOOK_PAUSE, TOGETHER};
use crate::context::Sync;
use crate::error::SyncError;
use baton_api::sync::{IndexMark, NextIndex, SyncIndex};
use baton_session::{PeerLimits, json};
use baton_store::blocking::blocking;
use baton_store::{Generation, Peer};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// How long a node is kept waiting. Shorter than what proxies usually allow.
pub(crate) const WAIT: Duration = Duration::from_secs(25);

/// The index for a peer: at once when it has seen another one or none, else as soon as there is another
/// one, and after `WAIT`, or when this node ends, the word that there is none.
pub async fn next_index(
    context: &Sync,
    peer: &Peer,
    known: Option<IndexMark>,
) -> Result<NextIndex, SyncError> {
    let deadline = Instant::now() + WAIT;
    let mut changes = context.store.listen();
    let mut limited = context.own.watches.peers();
    let mut looked: Option<(Generation, PeerLimits)> = None;
    loop {
        // What it is given may be less by now.
        let peer = peers::find_confirmed(context, &peer.owner, &peer.node.to_string()).await?;
        let now = (context.store.owner_generation(&peer.owner).await?, peer.limits.clone());
        if looked.as_ref() != Some(&now) {
            looked = Some(now);
            let index = index_for(context, &peer).await?;
            let marked = Arc::clone(&index);
            let mark = blocking(move || mark(&marked)).await?;
            if known.as_ref() != Some(&mark) {
                forget::told(context, &peer, &index).await?;
                return Ok(NextIndex { mark, index: Some(SyncIndex::clone(&index)) });
            }
        }
        let news = async {
            tokio::select! {
                _ = changes.recv() => sleep(TOGETHER).await,
                _ = limited.changed() => {}
                () = sleep(LOOK_PAUSE) => {}
            }
        };
        let waited = timeout_at(deadline, news);
        let is_over =
            context.ending.run_until_cancelled(waited).await.is_none_or(|one| one.is_err());
        if let (true, Some(mark)) = (is_over, known.clone()) {
            return Ok(NextIndex { mark, index: None });
        }
    }
}

/// Which index it is.
fn mark(index: &SyncIndex) -> IndexMark {
    IndexMark(Sha256::digest(json::bytes(index)).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}
