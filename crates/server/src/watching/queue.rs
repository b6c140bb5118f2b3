//! What is under way for a viewer: what has begun, and what waits to.
//!
//! The one idea: an act is done in the name of who drives, and so no longer than they do. One that has not begun when
//! their turn is lost, or the viewer is gone, never begins; those that have begun in tabs are waited for before the
//! session goes back, so that whoever gets it has it alone.

use super::acts::{self, Act, Done};
use crate::context::Context;
use baton_api::live::LiveRefusal;
use baton_runtime::sessions::PersonTurn;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::mem;
use std::pin::Pin;
use std::task;
use std::task::Poll;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long what has begun in tabs may take until the session is given back; nothing of it is gone on with then, but
/// for what is also to be noted.
const ACT_LIMIT: Duration = Duration::from_secs(3);

/// An act that begins only as long as it may.
struct QueuedAct {
    act: Act,
    over: CancellationToken,
    has_begun: bool,
}

impl Future for QueuedAct {
    type Output = Done;

    fn poll(mut self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<Done> {
        if !self.has_begun && self.over.is_cancelled() {
            return Poll::Ready(Done::Tab(None));
        }
        self.has_begun = true;
        self.act.as_mut().poll(task)
    }
}

/// What is under way for a viewer.
pub(super) struct ActQueue {
    /// What the viewer wants for itself: to take over, to find the browser.
    wanted: FuturesUnordered<QueuedAct>,
    /// What is done with tabs.
    on_tabs: FuturesUnordered<QueuedAct>,
    /// Sessions that go back, whatever becomes of the viewer.
    given: FuturesUnordered<Act>,
    /// The viewer is gone.
    gone: CancellationToken,
    /// Its turn is over.
    turn_over: CancellationToken,
}

impl ActQueue {
    /// Nothing is under way.
    pub(super) fn new() -> Self {
        let gone = CancellationToken::new();
        Self {
            wanted: FuturesUnordered::new(),
            on_tabs: FuturesUnordered::new(),
            given: FuturesUnordered::new(),
            turn_over: gone.child_token(),
            gone,
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.wanted.len() + self.on_tabs.len() + self.given.len()
    }

    /// Something that the viewer wants as long as it is there.
    pub(super) fn want(&self, act: Act) {
        self.wanted.push(QueuedAct { act, over: self.gone.clone(), has_begun: false });
    }

    /// Something to be done with a tab as long as the viewer drives.
    pub(super) fn on_tab(&self, act: Act) {
        self.on_tabs.push(QueuedAct { act, over: self.turn_over.clone(), has_begun: false });
    }

    /// Gives the session back, once what was to be done with tabs before is over.
    pub(super) fn give_back(&mut self, context: &Context, turn: PersonTurn) {
        let before = finish(mem::take(&mut self.on_tabs), ACT_LIMIT);
        self.given.push(acts::give_back(context, turn, before));
    }

    /// Somebody else has the session: what has not begun in tabs never does.
    pub(super) fn lose_turn(&mut self) {
        mem::replace(&mut self.turn_over, self.gone.child_token()).cancel();
    }

    /// What is done next; none where nothing is under way.
    pub(super) async fn next(&mut self) -> Option<Done> {
        tokio::select! {
            biased;
            Some(done) = self.given.next() => Some(done),
            Some(done) = self.wanted.next() => Some(done),
            Some(done) = self.on_tabs.next() => Some(done),
            else => None,
        }
    }

    /// The viewer is gone: what has not begun never does, and what has begun in tabs is waited for.
    pub(super) async fn let_go(&mut self) {
        self.gone.cancel();
        // Nobody hears any more what was refused.
        finish(mem::take(&mut self.on_tabs), ACT_LIMIT).await;
    }
}

/// Waits so long for what is done with tabs; what of it was refused.
async fn finish(mut on_tabs: FuturesUnordered<QueuedAct>, limit: Duration) -> Vec<LiveRefusal> {
    let mut refused = Vec::new();
    let all = async {
        while let Some(done) = on_tabs.next().await {
            if let Done::Tab(Some(refusal)) = done {
                refused.push(refusal);
            }
        }
    };
    if timeout(limit, all).await.is_err() {
        tracing::debug!("what was asked for in tabs is left, and the session given back");
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use futures_util::future::pending;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tokio::sync::oneshot;

    /// Counts how many of its acts have begun, and how many have ended.
    #[derive(Clone, Default)]
    struct Counts {
        begun: Arc<AtomicU32>,
        ended: Arc<AtomicU32>,
    }

    impl Counts {
        /// An act that ends when it may.
        fn act(&self, may_end: oneshot::Receiver<()>) -> Act {
            let Self { begun, ended } = self.clone();
            Box::pin(async move {
                begun.fetch_add(1, Ordering::SeqCst);
                may_end.await.ok();
                ended.fetch_add(1, Ordering::SeqCst);
                Done::Tab(None)
            })
        }

        /// One that could end at once.
        fn short_act(&self) -> Act {
            self.act(oneshot::channel().1)
        }

        fn now(&self) -> (u32, u32) {
            (self.begun.load(Ordering::SeqCst), self.ended.load(Ordering::SeqCst))
        }
    }

    /// Has all begin that may.
    fn begin(queue: &mut ActQueue) {
        assert!(queue.next().now_or_never().is_none());
    }

    #[tokio::test]
    async fn what_has_not_begun_when_the_viewer_is_gone_never_begins() {
        let (mut queue, counts) = (ActQueue::new(), Counts::default());
        queue.on_tab(counts.short_act());
        queue.want(counts.short_act());
        queue.let_go().await;
        while queue.next().await.is_some() {}
        assert_eq!((counts.now(), queue.count()), ((0, 0), 0));
    }

    #[tokio::test]
    async fn what_has_begun_in_tabs_is_over_before_the_session_goes_back() {
        let (mut queue, counts) = (ActQueue::new(), Counts::default());
        let (end, may_end) = oneshot::channel();
        queue.on_tab(counts.act(may_end));
        begin(&mut queue);
        queue.on_tab(counts.short_act());
        {
            let mut gone = pin!(queue.let_go());
            assert!(gone.as_mut().now_or_never().is_none());
            assert_eq!(counts.now(), (1, 0), "the one that had begun, and no other");
            end.send(()).unwrap();
            gone.await;
        }
        assert_eq!((counts.now(), queue.count()), ((1, 1), 0));
    }

    #[tokio::test]
    async fn what_waits_in_a_turn_that_is_lost_is_not_done_in_the_next_one() {
        let (mut queue, counts) = (ActQueue::new(), Counts::default());
        queue.on_tab(counts.short_act());
        queue.lose_turn();
        let (_end, may_end) = oneshot::channel();
        queue.on_tab(counts.act(may_end));
        while queue.next().now_or_never().is_some() {}
        assert_eq!((counts.now(), queue.count()), ((1, 0), 1), "that of the next turn");
    }

    #[tokio::test]
    async fn a_tab_that_does_not_answer_keeps_no_session() {
        let queue = ActQueue::new();
        queue.on_tab(Box::pin(pending()));
        assert!(finish(queue.on_tabs, Duration::from_millis(10)).await.is_empty());
    }
}
