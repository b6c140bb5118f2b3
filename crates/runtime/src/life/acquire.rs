//! What a node has to have to start a session, its lease and its peer lease, and how both are given up when
//! the session ends.
//!
//! The one idea: the database first, because that can be given back as it was; then peers, of whom one may
//! close its browser for us. Both are given back, by themselves, unless something starts.

use super::want::{CheckOut, Move, Starts, StartsBrowser, Want};
use super::wish::{Held, Wish, brought_home};
use super::{drive, let_go};
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::live::{Checkout, Handed, Resumed, Taker};
use crate::table::Hold;
use baton_api::sync::HandedView;
use baton_session::{Lifecycle, NodeId, Owner, SandboxId, Session, SessionId, Term};
use baton_store::{StoreError, clock};

impl<'w, W: Starts> Held<'w, W> {
    /// Makes this node the holder of the session, for all who might run it. What another node saved since
    /// is here when this returns.
    pub async fn acquire(self) -> Result<Acquired<'w, W>, RuntimeError> {
        let Self { wish, want, found, session, ran, hold } = self;
        let context = wish.context;
        let back = ReleaseGuard::new(context, &session);
        let acquired = async {
            let session = brought_home(context, &want, &hold, session).await?;
            let by = if wish.by.is_node() { Taker::Node } else { Taker::Owner };
            // What is this node's it takes back, also while it is drained; what another one gives goes back there.
            let comes_here = back.home != context.node;
            let is_new = !ran && (by == Taker::Owner || comes_here);
            if is_new {
                // The drain may have begun while this waited for the hold, or for files that came ahead.
                context.supervisor.expect_staying()?;
            }
            let term = context.supervisor.acquire(&session, by).await?;
            if is_new {
                // A drain that began meanwhile may not have seen that this node holds it; one that begins later does.
                context.supervisor.expect_staying()?;
            }
            // One that ran here until now is this node's with its peers.
            let handed = if ran { None } else { ask_peers::<W>(wish, &hold, &session).await? };
            Ok((session, term, handed))
        };
        match acquired.await {
            Ok((session, term, handed)) => {
                Ok(Acquired { wish, want, found, session, hold, term, handed, ran, back })
            }
            Err(error) => Err(back.after(error).await),
        }
    }
}

impl<W: Want> Held<'_, W> {
    /// Captures what the session's browser holds, and ends it, if it has one. The peer lease stays
    /// this node's.
    pub(crate) async fn stop(mut self) -> Result<Self, RuntimeError> {
        if self.session.lifecycle == Lifecycle::Active {
            self.session.lifecycle = self.wish.context.supervisor.stop(&self.hold).await?;
            self.ran = true;
        }
        Ok(self)
    }
}

impl Held<'_, Move> {
    /// The same for a session that another node brings back.
    pub(crate) async fn stop_to_move(mut self) -> Result<Self, RuntimeError> {
        self.session.lifecycle = self.wish.context.supervisor.stop_to_move(&self.hold).await?;
        self.ran = true;
        Ok(self)
    }
}

impl<'w> Held<'w, CheckOut<'w>> {
    /// Captures what the session's browser holds, if it has one, and ends it once that is a login.
    pub async fn stop_to_check_out(mut self) -> Result<Self, RuntimeError> {
        if self.session.lifecycle == Lifecycle::Active {
            let handed = self.wish.context.supervisor.copy_out(&self.session).await?;
            self.want.accepts(&handed)?;
            self.found = Some(handed);
        }
        self.stop().await
    }
}

async fn ask_peers<W: Starts>(
    wish: &Wish<'_>,
    hold: &Hold,
    session: &Session,
) -> Result<Option<HandedView>, RuntimeError> {
    let handed = wish.context.peers.acquire(wish.context, wish.by, hold, W::CONSENT).await?;
    if W::SETTLES {
        // What another node saved since is what comes back; what was captured here is kept beside it.
        wish.context.peers.settle(wish.context, hold, session).await?;
        wish.context.peers.expect_there(wish.context, session).await?;
    }
    Ok(handed)
}

/// A session that this node holds, and no other node runs.
pub struct Acquired<'w, W: Want> {
    wish: &'w Wish<'w>,
    want: W,
    found: W::Preflight,
    session: Session,
    hold: Hold,
    term: Term,
    handed: Option<HandedView>,
    /// Whether its browser ran here until it was stopped for this.
    ran: bool,
    back: ReleaseGuard,
}

/// A session whose browser runs.
pub(crate) struct Started {
    pub(crate) session: Session,
    pub(crate) resumed: Resumed,
    /// How it came here, if it ran elsewhere.
    pub(crate) handed: Option<HandedView>,
}

/// A session that a sandbox has.
pub struct CheckedOut {
    /// Which session.
    pub session: Session,
    /// Whether its browser was ended for it.
    pub ran: bool,
    /// What gives it back.
    pub checkout: Checkout,
    /// What of it the sandbox is given.
    pub handed: Handed,
}

impl<W: StartsBrowser> Acquired<'_, W> {
    /// Starts a browser with what is brought back. The caller drives it.
    pub(crate) async fn start(self) -> Result<Started, RuntimeError> {
        let Self { wish, found, session, hold, term, handed, back, .. } = self;
        let (context, supervisor) = (wish.context, &wish.context.supervisor);
        // What a node brings back of another one goes back to that when it fails here, and others try it.
        let counts = !wish.by.is_node() || back.home == context.node;
        let loaded = match W::load(context, &session, found).await {
            Ok(loaded) => loaded,
            Err(error) => {
                if counts && let RuntimeError::Live(error) = &error {
                    supervisor.count_failure(&hold, error).await;
                }
                return Err(back.after(error).await);
            }
        };
        match supervisor.start(&hold, &session, term, loaded).await {
            Ok(resumed) => {
                back.disarm();
                is_driven_by(wish, &session, W::DRIVES).await;
                Ok(Started { session, resumed, handed })
            }
            Err(error) => {
                if counts {
                    supervisor.count_failure(&hold, &error).await;
                }
                Err(back.after(error).await.into())
            }
        }
    }
}

impl Acquired<'_, CheckOut<'_>> {
    /// Checks the session out to a sandbox, if what it holds by now is still a login.
    pub async fn check_out(self, to: SandboxId) -> Result<CheckedOut, RuntimeError> {
        let Self { wish, want, found, session, hold, term, ran, back, .. } = self;
        let supervisor = &wish.context.supervisor;
        let checked_out = async {
            let handed = supervisor.hand_again(&session, found).await?;
            want.accepts(&handed)?;
            let checkout = supervisor.check_out(&hold, &session, term, &handed, to).await?;
            Ok::<_, RuntimeError>((checkout, handed))
        };
        match checked_out.await {
            Ok((checkout, handed)) => {
                back.disarm();
                if want.takes
                    && let Err(error) = let_go(wish.context, &session).await
                {
                    tracing::warn!(session = %session.id, %error, "who drove a session still does");
                }
                is_driven_by(wish, &session, true).await;
                Ok(CheckedOut { session, ran, checkout, handed })
            }
            Err(error) => Err(back.after(error).await),
        }
    }
}

/// An agent drives what it started. It is checked before; what is passed on at this very moment stays so.
async fn is_driven_by(wish: &Wish<'_>, session: &Session, drives: bool) {
    if !drives {
        return;
    }
    if let Err(error) = drive(wish.context, wish.by, session).await {
        tracing::warn!(session = %session.id, %error, "whoever started a session does not drive it");
    }
}

/// Gives back what was acquired, unless that is not needed.
struct ReleaseGuard {
    context: Runtime,
    owner: Owner,
    session: SessionId,
    /// Whose session it was.
    home: NodeId,
    is_needed: bool,
}

impl ReleaseGuard {
    fn new(context: &Runtime, session: &Session) -> Self {
        let (context, owner) = (context.clone(), session.owner.clone());
        Self { context, owner, session: session.id, home: session.node, is_needed: true }
    }

    /// What was acquired is held from now on.
    fn disarm(mut self) {
        self.is_needed = false;
    }

    /// Gives everything back because of an error, which stays the error whatever comes of that.
    async fn after<E>(mut self, error: E) -> E {
        self.is_needed = false;
        release_all(&self.context, &self.owner, self.session, self.home).await;
        error
    }
}

impl Drop for ReleaseGuard {
    /// The caller has gone, or panicked.
    fn drop(&mut self) {
        if self.is_needed {
            let (context, owner) = (self.context.clone(), self.owner.clone());
            let (session, home, tasks) = (self.session, self.home, context.tasks.clone());
            tasks.spawn(async move { release_all(&context, &owner, session, home).await });
        }
    }
}

/// Gives the lease back, the session to the node that it was of, and the peer lease. That one fails does not
/// keep the others from it: an own start frees the first, and peers ask again for the last.
async fn release_all(context: &Runtime, owner: &Owner, session: SessionId, home: NodeId) {
    if let Err(error) = context.store.release_lease(session, context.node).await {
        tracing::error!(%session, %error, "the lease of a session was not given back");
    }
    if home != context.node
        && let Err(error) = send_home(context, session, home).await
    {
        // Another node may have it by now.
        tracing::info!(%session, %home, %error, "a session does not go back to its node");
    }
    release_peer_lease(context, owner, session).await;
}

async fn send_home(context: &Runtime, session: SessionId, home: NodeId) -> Result<(), StoreError> {
    match context.store.fetch_any_session(session).await? {
        Some(now) if now.node == context.node => context.store.adopt_session(session, home).await,
        _ => Ok(()),
    }
}

/// Tells peers that a session does not run here any more.
pub(crate) async fn release_peer_lease(context: &Runtime, owner: &Owner, session: SessionId) {
    if let Err(error) = context.peers.release(context, owner, session).await {
        tracing::error!(%session, %error, "peers are not told that a session is free");
    }
}

/// Takes a last snapshot and closes the session; no agent drives it any more.
pub async fn end(
    context: &Runtime,
    hold: &Hold,
    session: &Session,
) -> Result<Session, RuntimeError> {
    context.supervisor.close(hold).await?;
    let closed = finish(context, session).await?;
    let_go(context, &closed).await?;
    Ok(closed)
}

/// Moves the row to closed from whatever it is now: a watcher may notice the end of the browser at the same
/// time and move it as well.
pub(crate) async fn finish(context: &Runtime, session: &Session) -> Result<Session, RuntimeError> {
    loop {
        let now = context.store.fetch_session(&session.owner, session.id).await?;
        if now.lifecycle == Lifecycle::Closed {
            return Ok(now);
        }
        let (id, from) = (now.id, now.lifecycle);
        match context
            .store
            .update_lifecycle(id, context.node, from, Lifecycle::Closed, clock::now())
            .await
        {
            // A watcher moves an active session once, so this ends.
            Err(StoreError::LifecycleConflict { .. }) => {}
            moved => return Ok(moved?),
        }
    }
}
