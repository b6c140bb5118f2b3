//! Watching a peer: one request to it is open, and answered when it has something else to say.

use super::super::error::SyncError;
use super::super::remote::Remote;
use super::super::{differences, peers};
use super::watched::{Said, Watched};
use crate::context::Sync;
use baton_api::Answers;
use baton_api::sync::{IndexMark, SyncIndex};
use baton_session::{NodeId, Owner};
use baton_store::Peer;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// The pauses before a peer that does not answer is asked again; it may be gone for days.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A peer that answers sooner than this, again and again, is asked less and less often.
const SOON: Duration = Duration::from_secs(1);
/// The pauses between such answers.
const FIRST_REST: Duration = Duration::from_millis(20);
const LONGEST_REST: Duration = Duration::from_secs(2);

/// Begins to watch a peer.
pub(super) fn begin(context: &Sync, peer: &Peer) -> Arc<Watched> {
    let (said, until) = (Arc::default(), CancellationToken::new());
    let watch = Watch {
        context: context.clone(),
        owner: peer.owner.clone(),
        node: peer.node,
        said: Arc::clone(&said),
    };
    let (ending, left) = (context.ending.clone(), until.clone());
    context.tasks.spawn(async move {
        tokio::select! {
            () = ending.cancelled() => {}
            () = left.cancelled() => {}
            () = Box::pin(watch.run()) => {}
        }
    });
    Watched::new(peer.node, said, until.drop_guard())
}

/// The work of watching.
struct Watch {
    context: Sync,
    owner: Owner,
    node: NodeId,
    said: Arc<Mutex<Option<Said>>>,
}

impl Watch {
    async fn run(self) {
        let mut known: Option<(IndexMark, Arc<SyncIndex>)> = None;
        let (mut pause, mut rest) = (FIRST_PAUSE, FIRST_REST);
        let mut changed = self.context.own.watches.peers();
        loop {
            changed.mark_unchanged();
            let begun = Instant::now();
            match self.ask(known.take()).await {
                Ok(now) => {
                    self.note(Ok(Arc::clone(&now.1)));
                    known = Some(now);
                    pause = FIRST_PAUSE;
                    let is_soon = begun.elapsed() < SOON;
                    rest = if is_soon { (rest * 2).min(LONGEST_REST) } else { FIRST_REST };
                    sleep(rest).await;
                }
                Err(error) => {
                    self.note(Err(error.problem()));
                    // Another key, or another address, may help at once.
                    tokio::select! {
                        () = sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                        _ = changed.changed() => pause = FIRST_PAUSE,
                    }
                }
            }
        }
    }

    /// The index of the peer that comes next, or the one that is known when there is no other.
    async fn ask(
        &self,
        known: Option<(IndexMark, Arc<SyncIndex>)>,
    ) -> Result<(IndexMark, Arc<SyncIndex>), SyncError> {
        let (context, name) = (&self.context, self.node.to_string());
        let peer = peers::find_confirmed(context, &self.owner, &name).await?;
        let mark = known.as_ref().map(|(mark, _)| mark.clone());
        let next = Remote::of(context, &peer).await?.next_index(mark).await?;
        peers::heard(context, &peer);
        match (next.index, known) {
            (Some(index), _) => {
                differences::learn(context, &peer, &index).await?;
                Ok((next.mark, Arc::new(index)))
            }
            (None, Some(known)) => Ok(known),
            (None, None) => {
                let why = "expected an index, found the word that there is no other".to_owned();
                Err(SyncError::Untrusted { why })
            }
        }
    }

    fn note(&self, said: Said) {
        let mut last = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref() != Some(&said) {
            *last = Some(said);
            drop(last);
            self.context.own.watches.tell();
        }
    }
}
