//! What every operation on a session is given, and what it asks of the nodes elsewhere.
//!
//! Both stand together, for each names the other: what answers for the nodes elsewhere works on what the
//! operation was given.

use crate::error::RuntimeError;
use crate::feed::Feed;
use crate::live::{BrowserSupervisor, LiveError};
use crate::request::{Activity, Caller, Consent};
use crate::table::Hold;
use crate::tickets::Tickets;
use baton_api::sync::{HandedView, SharedView};
use baton_federation::Federation;
use baton_session::wire::Provenance;
use baton_session::{NodeId, Owner, Session, SessionId};
use baton_store::{Store, StoreError};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The surroundings of an operation on a session. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    /// The database.
    pub store: Store,
    /// The running browsers.
    pub supervisor: BrowserSupervisor,
    /// Which node this is.
    pub node: NodeId,
    /// The nodes elsewhere.
    pub peers: Arc<dyn Peers>,
    /// What was begun and must be finished before the node ends.
    pub tasks: TaskTracker,
    /// Ends what would go on for as long as its client likes, once the node ends.
    pub ending: CancellationToken,
    /// When the last request came.
    pub activity: Activity,
    /// The board that agents share, if there is one.
    pub board: Option<Federation>,
    /// How many keys this node revoked. It is marked as changed also when another node of the cluster says that it
    /// revoked one: what is open with a key looks then whether that is still good.
    pub revoked: watch::Sender<u64>,
    /// Tells those who follow the board that it changed.
    pub feed: Feed,
    /// What opens a browser for tools that send no headers.
    pub tickets: Tickets,
}

impl Runtime {
    /// Finds an owner's session by id, prefix or name.
    pub async fn find(&self, owner: &Owner, reference: &str) -> Result<Session, RuntimeError> {
        Ok(self.store.find_session(owner, reference).await?)
    }

    /// The same for who asks on the way to an operation, which itself says that there is none, or more than one. What
    /// the database does not answer is no absence.
    pub async fn find_if_there(
        &self,
        owner: &Owner,
        reference: &str,
    ) -> Result<Option<Session>, RuntimeError> {
        match self.store.find_session(owner, reference).await {
            Ok(session) => Ok(Some(session)),
            Err(StoreError::SessionNotFound { .. } | StoreError::Ambiguous { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Holds a session, which need not be here, once no other operation does.
    pub async fn hold(
        &self,
        id: SessionId,
        doing: &'static str,
        limit: Duration,
    ) -> Result<Hold, RuntimeError> {
        Ok(self.supervisor.table().hold(id, doing, limit).await.map_err(LiveError::from)?)
    }

    /// Whether the caller's key opens nothing any more: it was revoked since, or belongs to a peer that is
    /// limited by now.
    pub async fn is_shut_out(&self, caller: &Caller) -> Result<bool, RuntimeError> {
        Ok(!self.store.is_key_good(&caller.owner, &caller.key).await?)
    }
}

/// What peers answer, some time.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, RuntimeError>>;

/// The nodes elsewhere that may have a session as well.
pub trait Peers: Send + Sync {
    /// Takes a session that is held here, if it is shared, from the node that has it. What that one had is
    /// here afterwards. Returns how it came, if another node had it.
    fn acquire<'a>(
        &'a self,
        runtime: &'a Runtime,
        by: &'a Caller,
        hold: &'a Hold,
        consent: Consent,
    ) -> Answer<'a, Option<HandedView>>;

    /// Brings the working copy of a session that is shared up to date.
    fn settle<'a>(
        &'a self,
        runtime: &'a Runtime,
        hold: &'a Hold,
        session: &'a Session,
    ) -> Answer<'a, ()>;

    /// Checks that it was not deleted meanwhile.
    fn expect_there<'a>(&'a self, runtime: &'a Runtime, session: &'a Session) -> Answer<'a, ()>;

    /// Tells the peers that a session is free.
    fn release<'a>(
        &'a self,
        runtime: &'a Runtime,
        owner: &'a Owner,
        session: SessionId,
    ) -> Answer<'a, ()>;

    /// Hears whether one of them took over a session that runs here; then it is saved and closed.
    fn hear<'a>(
        &'a self,
        runtime: &'a Runtime,
        owner: &'a Owner,
        session: SessionId,
    ) -> Answer<'a, ()>;

    /// Brings what the one that has a session saved of it. Says whether there is such a one, and it answered.
    fn look_at_holder<'a>(
        &'a self,
        runtime: &'a Runtime,
        by: &'a Caller,
        session: SessionId,
    ) -> Answer<'a, bool>;

    /// Whether they know of it.
    fn is_shared<'a>(&'a self, runtime: &'a Runtime, session: &'a Session) -> Answer<'a, bool>;

    /// Deletes it there as well.
    fn publish_tombstone<'a>(
        &'a self,
        runtime: &'a Runtime,
        owner: &'a Owner,
        hold: &'a Hold,
    ) -> Answer<'a, ()>;

    /// How it stands among them; none when it is not shared.
    fn shown<'a>(
        &'a self,
        runtime: &'a Runtime,
        session: &'a Session,
    ) -> Answer<'a, Option<SharedView>>;

    /// Where it comes from.
    fn provenance<'a>(
        &'a self,
        runtime: &'a Runtime,
        session: &'a Session,
    ) -> Answer<'a, Provenance>;
}
