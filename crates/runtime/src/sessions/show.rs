//! Sessions as callers see them: one in full, or a page of them.

use super::snapshots;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::latest::{Latest, last_good};
use crate::life::Started;
use crate::live::LiveError;
use crate::request;
use baton_api::{
    DriverView, ListSessions, ResumeResult, SessionList, SessionSummary, SessionView, Tab,
};
use baton_session::login::forecast;
use baton_session::{CertificateView, Lifecycle, Owner, PartKind, Session, State, parts};
use baton_store::blocking::blocking;
use baton_store::{Driver, Snapshot, StoreError, clock};

/// What a forecast is made of, and what of the environment is shown.
const SHOWN: [PartKind; 3] = [PartKind::Cookies, PartKind::Environment, PartKind::Certificates];

/// One session: its tabs, its latest snapshot and its latest receipt.
pub async fn show(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<SessionView, RuntimeError> {
    let session = context.find(owner, reference).await?;
    describe(context, session).await
}

/// The same, with all that addresses of tabs hold.
pub(super) async fn show_revealed(
    context: &Runtime,
    session: Session,
) -> Result<SessionView, RuntimeError> {
    describe_by(context, session, Tab::revealed).await
}

/// The view of a session that was found.
pub(super) async fn describe(
    context: &Runtime,
    session: Session,
) -> Result<SessionView, RuntimeError> {
    describe_by(context, session, Tab::of).await
}

async fn describe_by(
    context: &Runtime,
    session: Session,
    shown: fn(&baton_session::Tab) -> Tab,
) -> Result<SessionView, RuntimeError> {
    let found = readable(last_good(&context.store, session.id).await)?.flatten();
    let (good, newest) = match found {
        Some(Latest { snapshot, passed_over, .. }) => (Some(snapshot), passed_over),
        None => (None, None),
    };
    let held = match &good {
        Some(good) => Some(read(context, &session, good, &SHOWN).await?),
        None => None,
    };
    let snapshot = newest.or(good);
    let mut view = snapshot.as_ref().map(snapshots::snapshot);
    if let (Some(view), Some(snapshot)) = (&mut view, &snapshot) {
        view.unread = snapshots::unread(context, &session.owner, snapshot).await?;
    }
    let driver = context.store.fetch_driver(session.id).await?;
    let agent = driver.and_then(self::driver);
    let receipt = readable(context.store.latest_receipt(session.id).await)?.flatten();
    Ok(SessionView {
        // Only a door knows how its caller reaches this node.
        cdp_url: None,
        tabs: tabs(context, &session, snapshot.as_ref()).await?.iter().map(shown).collect(),
        foreign_tabs: context.supervisor.foreign_tabs(session.id).await.unwrap_or(0),
        snapshot: view,
        forecast: held.as_ref().map(|held| forecast(held, clock::now())),
        certificates: held.iter().flat_map(trusted).collect(),
        permissions: held.map(|held| held.environment.permissions).unwrap_or_default(),
        sandbox: context.supervisor.table().checked_out_to(session.id),
        shared: context.peers.shown(context, &session).await?,
        receipt,
        session: SessionSummary {
            confinement: context.supervisor.confinement(session.id),
            agent,
            ..summary(session)
        },
    })
}

/// Whom a browser with this state trusts.
fn trusted(state: &State) -> impl Iterator<Item = CertificateView> {
    state.environment.certificates.iter().map(|certificate| certificate.view().clone())
}

/// What was read, or none when it is damaged: that is no reason not to show the rest.
fn readable<T>(read: Result<T, StoreError>) -> Result<Option<T>, RuntimeError> {
    match read {
        Err(error @ (StoreError::SnapshotCorrupt { .. } | StoreError::ReceiptCorrupt { .. })) => {
            tracing::warn!(%error, "left out of a session's view");
            Ok(None)
        }
        read => Ok(Some(read?)),
    }
}

/// The tabs of the running browser; without one that answers, those of the snapshot.
async fn tabs(
    context: &Runtime,
    session: &Session,
    snapshot: Option<&Snapshot>,
) -> Result<Vec<baton_session::Tab>, RuntimeError> {
    if session.lifecycle == Lifecycle::Active {
        match context.supervisor.tabs(session.id).await {
            Err(LiveError::NotActive(_) | LiveError::CheckedOut { .. } | LiveError::Browser(_)) => {
            }
            tabs => return Ok(tabs?),
        }
    }
    let Some(snapshot) = snapshot else { return Ok(Vec::new()) };
    Ok(read(context, session, snapshot, &[PartKind::Tab]).await?.tabs)
}

/// What a snapshot holds of some kinds. A part that is damaged is left out.
async fn read(
    context: &Runtime,
    session: &Session,
    snapshot: &Snapshot,
    kinds: &[PartKind],
) -> Result<State, RuntimeError> {
    let wanted: Vec<_> =
        snapshot.parts.iter().filter(|part| kinds.contains(&part.kind)).cloned().collect();
    let found = context.store.fetch_parts(&session.owner, &wanted).await?;
    let join = move || parts::join(found.iter().filter_map(|part| part.as_ref().ok()));
    let (state, _damaged) = blocking(join).await?;
    Ok(state)
}

/// The view of a session that has just come back.
pub(super) async fn started(
    context: &Runtime,
    Started { session, resumed, handed }: Started,
) -> Result<ResumeResult, RuntimeError> {
    let session = context.store.fetch_session(&session.owner, session.id).await?;
    let mut view = describe(context, session).await?;
    view.receipt = Some(resumed.receipt);
    Ok(ResumeResult { session: view, handed, timing: resumed.timing })
}

/// One page of the owner's sessions, newest first.
pub async fn list(
    context: &Runtime,
    owner: &Owner,
    query: ListSessions,
) -> Result<SessionList, RuntimeError> {
    let limit = request::limit(query.limit)?;
    // One more than asked for tells whether there is another page.
    let found = context.store.list_sessions(owner, query.state, query.after, limit + 1).await?;
    let (found, next) = request::cut(found, limit, |session| session.id);
    let mut drivers = context.store.list_drivers(owner).await?;
    let item = |session: Session| SessionSummary {
        confinement: context.supervisor.confinement(session.id),
        agent: drivers.remove(&session.id).and_then(driver),
        ..summary(session)
    };
    Ok(SessionList { items: found.into_iter().map(item).collect(), next })
}

/// One line of a list.
fn summary(session: Session) -> SessionSummary {
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

/// Who drives a session, as others see it.
pub(super) fn driver(driver: Driver) -> Option<DriverView> {
    let Driver { agent, fence, since, reason } = driver;
    agent.map(|agent| DriverView { agent, since, fence, reason })
}
