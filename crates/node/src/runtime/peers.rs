//! What sessions ask of the nodes elsewhere, without knowing how those are asked.

use super::caller::Caller;
use super::error::RuntimeError;
use super::here::Runtime;
use crate::table::Hold;
use baton_api::sync::{HandedView, SharedView};
use baton_session::wire::Provenance;
use baton_session::{Owner, Session, SessionId};
use futures_util::future::BoxFuture;

/// Whether whoever runs a session elsewhere is asked to give it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// They are: they capture, save and close it.
    Asked,
    /// They are not: the session is taken only if it is still this node's.
    IfFree,
}

/// What peers answer, some time.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, RuntimeError>>;

/// The nodes elsewhere that may have a session as well.
pub trait Peers: Send + Sync {
    /// Takes a session that is held here, if it is shared, from whoever has it. What they had is here
    /// afterwards. Tells how it came, if somebody else had it.
    fn take<'a>(
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

    /// Checks that nobody deleted it meanwhile.
    fn expect_there<'a>(&'a self, runtime: &'a Runtime, session: &'a Session) -> Answer<'a, ()>;

    /// Tells that a session is free.
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
    fn bury<'a>(&'a self, runtime: &'a Runtime, owner: &'a Owner, hold: &'a Hold)
    -> Answer<'a, ()>;

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
