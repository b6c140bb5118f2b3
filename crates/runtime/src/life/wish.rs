//! A wish, what it becomes when it can be fulfilled, and the session that is held for it.

use super::expect_driver;
use super::want::{Want, WantScope};
use crate::audit::{Action, Note};
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::live::LiveError;
use crate::request::{Caller, Reference};
use crate::table::Hold;
use baton_api::{Answers, Scope};
use baton_session::{Owner, Receipt, Session};
use serde_json::Value;
use std::time::Duration;

/// How long a verb waits to hold a session; shorter than its caller waits for an answer.
pub(crate) const HOLD_LIMIT: Duration = Duration::from_mins(1);

/// What a caller wants of a session, with its entry in the audit log.
pub struct Wish<'a> {
    pub(crate) context: &'a Runtime,
    pub(crate) by: &'a Caller,
    /// The session as it stood when it was looked up.
    pub(crate) session: Session,
    note: Note,
}

impl<'a> Wish<'a> {
    /// Looks a session up, once for the whole way. That there is none is noted.
    pub(crate) async fn of(
        context: &'a Runtime,
        by: &'a Caller,
        action: Action,
        reference: impl Into<Reference<'_>>,
    ) -> Result<Self, RuntimeError> {
        match Self::find(context, by, action, reference.into()).await {
            Ok(wish) => Ok(wish),
            Err((note, error)) => Err(note.failed(&context.store, error).await),
        }
    }

    /// The same for a wish to see secrets, which only a key with the scope `reveal` may have. To any other
    /// one it is not said whether there is such a session, and that it asked is noted.
    pub(crate) async fn to_reveal(
        context: &'a Runtime,
        by: &'a Caller,
        action: Action,
        reference: impl Into<Reference<'_>>,
    ) -> Result<Self, RuntimeError> {
        let found = Self::find(context, by, action, reference.into()).await;
        let (note, error) = match (found, by.require(Scope::Reveal)) {
            (Ok(wish), Ok(())) => return Ok(wish),
            (Ok(Self { note, .. }) | Err((note, _)), Err(refused)) => (note, refused),
            (Err((note, error)), Ok(())) => (note, error),
        };
        Err(note.failed(&context.store, error).await)
    }

    async fn find(
        context: &'a Runtime,
        by: &'a Caller,
        action: Action,
        reference: Reference<'_>,
    ) -> Result<Self, (Note, RuntimeError)> {
        let words = match reference {
            Reference::Found(session) => return Ok(Self::about(context, by, action, *session)),
            Reference::Words(words) => words,
        };
        let found = context.find(&by.owner, words).await;
        let found = found.map_err(|error| (Note::new(&by.actor, &by.owner, action, words), error));
        Ok(Self::about(context, by, action, found?))
    }

    /// A wish about a session that has been found.
    pub fn about(context: &'a Runtime, by: &'a Caller, action: Action, session: Session) -> Self {
        let note = Note::new(&by.actor, &by.owner, action, session.id.to_string());
        let note = note.with("name", session.name.to_string());
        Self { context, by, session, note }
    }

    /// With one thing more for the log; never a secret.
    #[must_use]
    pub fn with(self, name: &str, value: impl Into<Value>) -> Self {
        Self { note: self.note.with(name, value), ..self }
    }

    /// With what did not come back, and which damaged snapshot was passed by, if that was so.
    #[must_use]
    pub fn with_losses(self, receipt: &Receipt) -> Self {
        Self { note: self.note.with_losses(receipt), ..self }
    }

    /// Notes how it ended, and gives that back.
    pub async fn end<T, E: Answers + From<RuntimeError>>(
        self,
        ended: Result<T, E>,
    ) -> Result<T, E> {
        self.note.end(&self.context.store, ended).await
    }

    /// Where the session's browser runs here, hears of peers whether one of them took it over meanwhile.
    /// Then what runs here is saved and closed when this returns.
    pub(crate) async fn hear(&self) -> Result<(), RuntimeError> {
        let session = self.session.id;
        if self.context.supervisor.holds(session) {
            self.context.peers.hear(self.context, &self.by.owner, session).await?;
        }
        Ok(())
    }

    /// Checks all that can be checked ahead. Changes nothing anywhere.
    pub async fn preflight<W: Want>(&self, want: W) -> Result<Ready<'_, W>, RuntimeError> {
        want.allows(self.context, &self.session)?;
        if want.drives() {
            expect_driver(self.context, self.by, &self.session).await?;
        }
        let (context, by, session) = (self.context, self.by, &self.session);
        let found = want.find(WantScope { context, by, session }).await?;
        Ok(Ready { wish: self, want, found })
    }
}

/// A wish that can be fulfilled, as far as that can be seen without changing anything.
pub struct Ready<'w, W: Want> {
    wish: &'w Wish<'w>,
    want: W,
    found: W::Preflight,
}

impl<'w, W: Want> Ready<'w, W> {
    /// Holds the session, once no other operation does. What may have changed meanwhile is checked again; and
    /// a session of this node that is active has a watched browser from here on. One whose node is gone is this
    /// node's from here on, for a verb that inherits it.
    pub async fn hold(self) -> Result<Held<'w, W>, RuntimeError> {
        let Self { wish, want, found } = self;
        let (context, id) = (wish.context, wish.session.id);
        let hold = context.supervisor.table().hold(id, W::DOING, HOLD_LIMIT).await;
        let hold = hold.map_err(LiveError::from)?;
        let session = context.store.fetch_session(&wish.by.owner, id).await?;
        let session = settled(context, &hold, session).await?;
        want.allows(context, &session)?;
        if want.drives() {
            expect_driver(context, wish.by, &session).await?;
        }
        let session =
            if W::INHERITS { brought_home(context, &want, &hold, session).await? } else { session };
        Ok(Held { wish, want, found, session, ran: false, hold })
    }
}

/// A session that is held for one thing to do with it.
pub struct Held<'w, W: Want> {
    pub(super) wish: &'w Wish<'w>,
    pub(super) want: W,
    /// What was found ahead.
    pub(super) found: W::Preflight,
    /// The session as it is now.
    pub(crate) session: Session,
    /// Whether its browser ran here until it was stopped for this.
    pub(super) ran: bool,
    pub(crate) hold: Hold,
}

/// A session of another node of this database becomes one of this node, unless that one holds it.
pub(super) async fn brought_home<W: Want>(
    context: &Runtime,
    want: &W,
    hold: &Hold,
    session: Session,
) -> Result<Session, RuntimeError> {
    if session.node == context.node {
        return Ok(session);
    }
    context.supervisor.adopt(&session).await?;
    let session = context.store.fetch_session(&session.owner, session.id).await?;
    let session = settled(context, hold, session).await?;
    want.allows(context, &session)?;
    Ok(session)
}

/// A session of this node whose row and browser agree.
pub async fn settled(
    context: &Runtime,
    hold: &Hold,
    session: Session,
) -> Result<Session, RuntimeError> {
    if session.node != context.node || !context.supervisor.settle(hold, &session).await? {
        return Ok(session);
    }
    Ok(context.store.fetch_session(&session.owner, session.id).await?)
}

impl Runtime {
    /// Finds a session of this node and holds it, once no other operation does. The session is as it is now,
    /// not as it was before the wait, and if it is active its browser is watched.
    pub async fn hold_here(
        &self,
        owner: &Owner,
        reference: &str,
    ) -> Result<(Session, Hold), RuntimeError> {
        let found = self.find(owner, reference).await?;
        self.hold_again(&found).await
    }

    /// The same for one that was found before.
    pub async fn hold_again(&self, found: &Session) -> Result<(Session, Hold), RuntimeError> {
        let hold = self.hold(found.id, "changed", HOLD_LIMIT).await?;
        let session = self.store.fetch_session(&found.owner, found.id).await?;
        if session.node != self.node {
            return Err(RuntimeError::OtherNode { name: session.name, node: session.node });
        }
        Ok((settled(self, &hold, session).await?, hold))
    }
}
