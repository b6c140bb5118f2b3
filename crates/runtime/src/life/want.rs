//! What each verb asks of a session.
//!
//! The one idea: one small type a verb says where the session may stand, and whether another agent that
//! drives it is in the way. It is asked before the wait and after it, so no verb can forget either.

use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::live::LiveError;
use baton_session::{Lifecycle, Session};

/// Of which session something is wanted, and by whom.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub(super) context: &'a Runtime,
    pub(super) by: &'a Caller,
    pub(super) session: &'a Session,
}

/// What a verb asks of a session.
pub trait Want {
    /// What is found ahead.
    type Found: Send;
    /// What goes on while the session is held, for whoever waits.
    const DOING: &'static str;
    /// Whether only the agent that drives the session may have this.
    const DRIVES: bool;

    /// The same, for a verb that some may have of any session.
    fn drives(&self) -> bool {
        Self::DRIVES
    }

    /// Whether the session stands where this can be done. Asked before the wait and after it.
    fn allows(&self, context: &Runtime, session: &Session) -> Result<(), RuntimeError>;

    /// Finds what is needed for it. Changes nothing anywhere.
    fn find(
        &self,
        asked: Asked<'_>,
    ) -> impl Future<Output = Result<Self::Found, RuntimeError>> + Send;
}

/// Refuses a session whose home is another node.
pub(super) fn expect_home(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    if session.node == context.node {
        return Ok(());
    }
    Err(RuntimeError::OtherNode { name: session.name.clone(), node: session.node })
}

/// Refuses a session that a sandbox has.
pub(super) fn expect_unlent(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    let id = session.id;
    let borrower = context.hub.table().borrower(id);
    borrower.map_or(Ok(()), |sandbox| Err(LiveError::Lent { id, sandbox }.into()))
}

/// Refuses a session for where it stands.
pub(super) fn refuse(session: &Session, expected: &'static str) -> RuntimeError {
    let (name, found) = (session.name.clone(), session.lifecycle);
    RuntimeError::WrongState { name, expected, found }
}

/// A verb that needs nothing but the session.
macro_rules! wants {
    ($(#[$doc:meta] $name:ident: $doing:literal, drives $drives:literal, $allows:expr;)*) => {$(
        #[$doc]
        pub(crate) struct $name;

        impl Want for $name {
            type Found = ();
            const DOING: &'static str = $doing;
            const DRIVES: bool = $drives;

            fn allows(&self, context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
                expect_home(context, session)?;
                let allows: fn(&Runtime, &Session) -> Result<(), RuntimeError> = $allows;
                allows(context, session)
            }

            async fn find(&self, _: Asked<'_>) -> Result<(), RuntimeError> {
                Ok(())
            }
        }
    )*};
}

wants! {
    /// To capture it and end its browser.
    Close: "closed", drives true, open;
    /// To end its browser without a last snapshot.
    Abandon: "abandoned", drives true, open;
    /// To remove all that is kept of it.
    Delete: "deleted", drives true, without_browser;
    /// To read its browser. Looking at a session is free, whoever drives it.
    Capture: "captured", drives false, active;
    /// To switch whether what its tabs do is recorded.
    Debug: "switched", drives true, |_, _| Ok(());
    /// To change what is said of it.
    Change: "changed", drives false, |_, _| Ok(());
}

fn open(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    // Who has it says more than where it stands: it was closed to be lent.
    expect_unlent(context, session)?;
    if session.lifecycle == Lifecycle::Closed {
        return Err(refuse(session, "active, recoverable, stale or failed"));
    }
    Ok(())
}

fn without_browser(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    // A row that is active though its browser is gone is seen as what it is once it is held.
    expect_unlent(context, session)?;
    if context.hub.holds(session.id) {
        return Err(refuse(session, "closed or abandoned first"));
    }
    Ok(())
}

fn active(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    expect_unlent(context, session)?;
    if session.lifecycle != Lifecycle::Active {
        return Err(refuse(session, "active"));
    }
    Ok(())
}
