//! Rows as callers see them.

use baton_api::{DriverView, SessionSummary, SnapshotView};
use baton_session::Session;
use baton_store::{Driver, Snapshot};

/// One line of a list.
pub(super) fn summary(session: Session) -> SessionSummary {
    SessionSummary {
        id: session.id,
        name: session.name,
        description: session.description,
        state: session.lifecycle,
        owner: session.owner,
        headed: session.headed,
        debug: session.debug,
        confinement: None,
        agent: None,
        created_at: session.created_at,
        updated_at: session.updated_at,
    }
}

/// A snapshot without what it holds.
pub(super) fn snapshot(snapshot: &Snapshot) -> SnapshotView {
    SnapshotView {
        id: snapshot.id,
        taken_at: snapshot.taken_at,
        reason: snapshot.reason,
        parts: snapshot.parts.len(),
        bytes: snapshot.bytes,
        shrunk: snapshot.shrunk,
        sibling: snapshot.sibling,
        saved: snapshot.saved,
        damaged: 0,
        unread: Vec::new(),
    }
}

/// Who drives a session, as others see it.
pub(super) fn driver(driver: Driver) -> Option<DriverView> {
    let Driver { agent, fence, since, reason } = driver;
    agent.map(|agent| DriverView { agent, since, fence, reason })
}
