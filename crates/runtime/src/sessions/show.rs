//! Sessions as callers see them: one in full, a page of them, and the history of its snapshots, with what
//! two of them differ in.

use super::way_out::way_out;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::latest::{Latest, last_good, latest};
use crate::life::Started;
use crate::live::LiveError;
use crate::request::{self, PageBound};
use baton_api::sandbox::Login;
use baton_api::{
    CompareSnapshots, DiffView, DriverView, History, ListHistory, ListSessions, LoginList,
    ResumeResult, SessionList, SessionSummary, SessionView, SnapshotView, StateView, Tab,
};
use baton_browser::icon::redraw;
use baton_session::diff::diff as compare;
use baton_session::login::{Known, SignIns, forecast, logins};
use baton_session::{
    CertificateView, Lifecycle, Owner, Part, PartHash, PartKind, PartRef, Session, Site,
    SnapshotId, State, StorageKey, Unread, parts, redact,
};
use baton_store::blocking::blocking;
use baton_store::{Driver, Snapshot, StoreError, clock};
use std::collections::HashMap;

/// What a forecast is made of, and what of the environment is shown.
const SHOWN: [PartKind; 4] =
    [PartKind::Cookies, PartKind::Environment, PartKind::Certificates, PartKind::Egress];

/// What may be a login beside cookies.
const STORED: [PartKind; 2] = [PartKind::LocalStorage, PartKind::Database];

/// What tells where a session may be logged in, but for databases.
const OF_LOGINS: [PartKind; 3] = [PartKind::Cookies, PartKind::LocalStorage, PartKind::Tab];

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
        Some(good) => Some(read_parts(context, &session, good, &SHOWN).await?),
        None => None,
    };
    // Where something was stored, its name tells; what it is, is not read for it.
    let parts = good.iter().flat_map(|good| &good.parts);
    let stored = parts.filter(|part| STORED.contains(&part.kind)).filter_map(PartRef::key);
    let stored: Vec<StorageKey> = stored.filter(StorageKey::is_first_party).collect();
    let snapshot = newest.or(good);
    let mut view = snapshot.as_ref().map(snapshot_view);
    if let (Some(view), Some(snapshot)) = (&mut view, &snapshot) {
        view.unread = unread(context, &session.owner, snapshot).await?;
    }
    let driver = context.store.fetch_driver(session.id).await?;
    let agent = driver.and_then(self::driver);
    let receipt = readable(context.store.latest_receipt(session.id).await)?.flatten();
    Ok(SessionView {
        // Only a door knows how its caller reaches this node.
        cdp_url: None,
        attached: context.supervisor.is_attached(session.id),
        tabs: tabs(context, &session, snapshot.as_ref()).await?.iter().map(shown).collect(),
        foreign_tabs: context.supervisor.foreign_tabs(session.id).await.unwrap_or(0),
        snapshot: view,
        forecast: held.as_ref().map(|held| forecast(held, clock::now())),
        certificates: held.iter().flat_map(trusted).collect(),
        egress: way_out(context, &session, held.as_ref(), &stored).await,
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
    Ok(read_parts(context, session, snapshot, &[PartKind::Tab]).await?.tabs)
}

/// What a snapshot holds of some kinds. A part that is damaged is left out.
async fn read_parts(
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
    let limit = PageBound::OF_SESSIONS.size(query.limit)?;
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
    let Driver { agent, fence, since, reason, turn: _ } = driver;
    agent.map(|agent| DriverView { agent, since, fence, reason })
}

/// One page of a session's snapshots, newest first, and which of them a resume would take.
pub async fn history(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
    query: ListHistory,
) -> Result<History, RuntimeError> {
    let limit = PageBound::USUAL.size(query.limit)?;
    let session = context.find(owner, reference).await?;
    // One more than asked for tells whether there is another page.
    let mut found = context.store.list_history(session.id, query.after, limit + 1).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let resumes_from = resumes_from(context, &session, query.verify).await?;
    let mut known = HashMap::new();
    let mut shown = History { resumes_from, ..History::default() };
    for snapshot in found {
        let id = match snapshot {
            Ok(snapshot) => {
                let mut item = snapshot_view(&snapshot);
                if query.verify {
                    item.damaged = damaged(context, &session, &snapshot, &mut known).await?;
                }
                shown.items.push(item);
                snapshot.id
            }
            Err(StoreError::SnapshotCorrupt { id, .. }) => {
                shown.damaged.push(id);
                id
            }
            Err(error) => return Err(error.into()),
        };
        shown.next = more.then_some(id);
    }
    Ok(shown)
}

/// The snapshot that a resume would take; by the lists of parts, or by the parts themselves.
async fn resumes_from(
    context: &Runtime,
    session: &Session,
    verify: bool,
) -> Result<Option<SnapshotId>, RuntimeError> {
    if verify {
        return match Box::pin(context.supervisor.load_last_good(session)).await {
            // Nothing could be taken.
            Err(LiveError::SnapshotsDamaged { .. } | LiveError::NoSnapshot(_)) => Ok(None),
            loaded => Ok(Some(loaded?.snapshot)),
        };
    }
    match last_good(&context.store, session.id).await {
        // None of them can be read: nothing could be taken.
        Err(StoreError::SnapshotCorrupt { .. }) => Ok(None),
        found => Ok(found?.map(|found| found.snapshot.id)),
    }
}

/// How many parts of a snapshot are damaged. Each part is read once, however many snapshots have it.
async fn damaged(
    context: &Runtime,
    session: &Session,
    snapshot: &Snapshot,
    known: &mut HashMap<PartHash, bool>,
) -> Result<usize, RuntimeError> {
    let unknown = snapshot.parts.iter().filter(|part| !known.contains_key(&part.hash));
    let unknown: Vec<_> = unknown.cloned().collect();
    known.extend(unknown.iter().map(|part| (part.hash, false)));
    let damaged = context.supervisor.damaged_of(&session.owner, unknown).await?;
    known.extend(damaged.iter().map(|part| (part.hash, true)));
    Ok(snapshot.parts.iter().filter(|part| known[&part.hash]).count())
}

/// What changed from one snapshot of a session to another, without a value of either.
pub async fn diff(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
    query: CompareSnapshots,
) -> Result<DiffView, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let a = context.store.find_snapshot(session.id, &query.a).await?;
    let b = context.store.find_snapshot(session.id, &query.b).await?;
    let (before, mut unreadable) = read(context, owner, &a).await?;
    let (after, more) = read(context, owner, &b).await?;
    unreadable.extend(more);
    let diff = compare(&before, &after);
    Ok(DiffView { a: snapshot_view(&a), b: snapshot_view(&b), diff, unreadable })
}

/// The state of the latest snapshot. Secret values are replaced by markers unless `reveal`; parts
/// that cannot be read are named and cost nothing else.
pub async fn state(
    context: &Runtime,
    session: &Session,
    reveal: bool,
) -> Result<StateView, RuntimeError> {
    let (owner, name) = (&session.owner, session.name.clone());
    let Some(found) = latest(&context.store, session.id).await? else {
        return Err(RuntimeError::NoSnapshot { name, expected: "a snapshot" });
    };
    let Latest { snapshot, damaged, .. } = found;
    let mut unreadable: Vec<String> = damaged.iter().map(one_line).collect();
    let (state, damaged) = read(context, owner, &snapshot).await?;
    unreadable.extend(damaged);
    let shown = move || serde_json::to_value(&if reveal { state } else { redact::redact(&state) });
    let state = blocking(shown).await?;
    let state = state.map_err(|source| RuntimeError::NotShown { name, source })?;
    let (snapshot, taken_at) = (snapshot.id, snapshot.taken_at);
    Ok(StateView { snapshot, taken_at, redacted: !reveal, state, unreadable })
}

/// What a snapshot holds, and which of its parts cannot be read.
pub(super) async fn read(
    context: &Runtime,
    owner: &Owner,
    snapshot: &Snapshot,
) -> Result<(State, Vec<String>), RuntimeError> {
    let wanted: Vec<PartRef> =
        snapshot.parts.iter().filter(|part| !part.kind.is_picture()).cloned().collect();
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for part in context.store.fetch_parts(owner, &wanted).await? {
        match part {
            Ok(part) => found.push(part),
            Err(error) => unreadable.push(one_line(&error)),
        }
    }
    let (state, invalid) = blocking(move || parts::join(&found)).await?;
    unreadable.extend(invalid.iter().map(ToString::to_string));
    Ok((state, unreadable))
}

/// What could not be read when a snapshot was taken. A note that is damaged says nothing.
pub(super) async fn unread(
    context: &Runtime,
    owner: &Owner,
    snapshot: &Snapshot,
) -> Result<Vec<Unread>, RuntimeError> {
    Ok(Unread::of(&notes(context, owner, snapshot, PartKind::Unread).await?))
}

/// What is noted beside the state of a snapshot. A note that is damaged is none.
async fn notes(
    context: &Runtime,
    owner: &Owner,
    snapshot: &Snapshot,
    kind: PartKind,
) -> Result<Vec<Part>, RuntimeError> {
    let notes = snapshot.parts.iter().filter(|part| part.kind == kind);
    let found = context.store.fetch_parts(owner, &notes.cloned().collect::<Vec<_>>()).await?;
    Ok(found.into_iter().filter_map(Result::ok).collect())
}

fn one_line(error: &StoreError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Where a session may be logged in, by the snapshot that a resume would take. What a database holds is not
/// read for it: that there is one counts as a login that is possible.
pub async fn list_logins(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<LoginList, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let Some(good) = readable(last_good(&context.store, session.id).await)?.flatten() else {
        return Ok(LoginList::default());
    };
    let snapshot = good.snapshot;
    let held = read_parts(context, &session, &snapshot, &OF_LOGINS).await?;
    let databases = snapshot.parts.iter().filter(|part| part.kind == PartKind::Database);
    let stored: Vec<StorageKey> = databases.filter_map(PartRef::key).collect();
    let sign_ins = SignIns::of(&notes(context, owner, &snapshot, PartKind::SignIns).await?);
    let known = Known { state: &held, stored: &stored, sign_ins: &sign_ins };
    let items = logins(known, clock::now()).into_iter().map(Login::from).collect();
    Ok(LoginList { snapshot: Some(snapshot.id), items })
}

/// The preview of a snapshot, a PNG: of the one that is named, else of the latest.
pub async fn preview(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
    snapshot: Option<&str>,
) -> Result<Vec<u8>, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let found = match snapshot {
        Some(snapshot) => Some(context.store.find_snapshot(session.id, snapshot).await?),
        None => latest(&context.store, session.id).await?.map(|found| found.snapshot),
    };
    let mut parts = found.iter().flat_map(|snapshot| &snapshot.parts);
    match parts.find(|part| part.kind == PartKind::Preview) {
        Some(part) => Ok(context.store.fetch_part(owner, part).await?.bytes),
        None => Err(RuntimeError::NoSnapshot { name: session.name, expected: "a preview" }),
    }
}

/// The icon of the latest snapshot, a PNG.
pub async fn icon(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<Vec<u8>, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let icon = match latest(&context.store, session.id).await? {
        Some(found) => icon_of(context, owner, &found.snapshot).await?,
        None => None,
    };
    let (_, png) =
        icon.ok_or(RuntimeError::NoSnapshot { name: session.name, expected: "an icon" })?;
    Ok(png)
}

/// The icon in a snapshot, and whose it is. What lies there may have come from elsewhere, so it is drawn
/// anew, and what is no icon is none.
pub async fn icon_of(
    context: &Runtime,
    owner: &Owner,
    snapshot: &Snapshot,
) -> Result<Option<(Site, Vec<u8>)>, RuntimeError> {
    let Some(part) = snapshot.parts.iter().find(|part| part.kind == PartKind::Icon) else {
        return Ok(None);
    };
    let bytes = context.store.fetch_part(owner, part).await?.bytes;
    Ok(redraw(&bytes).map(|png| (Site::of_host(&part.name), png)))
}

/// A snapshot without what it holds.
pub(super) fn snapshot_view(snapshot: &Snapshot) -> SnapshotView {
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
