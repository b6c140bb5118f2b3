//! The verbs of a session's life: opened or attached, captured, brought back, ended, passed on, and entered
//! by another tool.
//!
//! Each does its work and no more; `audited` notes what changes a session, and alone calls that.

use super::{check, show};
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::life;
use crate::life::{
    Abandon, Capture, Change, Close, Debug, Delete, HOLD_LIMIT, Resume, RollBack, Wish, drive,
    driver, other, pass_on,
};
use crate::request::Caller;
use crate::table::Hold;
use baton_api::{
    AttachSession, Invalid, OpenSession, PassSession, ResumeResult, ResumeSession,
    RollBack as Request, Scope, SessionView, SnapshotView, SwitchDebug,
};
use baton_browser::cdp::Transport;
use baton_session::{AgentName, Lifecycle, Owner, Session, SessionId, SessionName, SnapshotReason};
use baton_store::{Driver, StoreError, clock};
use secrecy::SecretString;

/// What a caller says of a new session.
struct Wanted {
    /// Unique among the owner's sessions that are not closed.
    name: SessionName,
    /// Free text for people.
    description: Option<String>,
    /// Whether its browser shows a window.
    headed: bool,
    /// Whether what its tabs do is recorded.
    debug: bool,
}

/// Makes the row of a new session, and holds that. It is active from the start: a node that dies right after this
/// finds it at its next start, and closes it because it has no snapshot.
async fn create(
    context: &Runtime,
    owner: &Owner,
    wanted: Wanted,
) -> Result<(Session, Hold), RuntimeError> {
    let Wanted { name, description, headed, debug } = wanted;
    let now = clock::now();
    let session = Session {
        id: SessionId::new(now, rand::random()),
        name,
        description: description.unwrap_or_default(),
        owner: owner.clone(),
        node: context.node,
        headed,
        debug,
        lifecycle: Lifecycle::Active,
        created_at: now,
        updated_at: now,
    };
    let hold = context.hold(session.id, "opened", HOLD_LIMIT).await?;
    context.store.create_session(&session).await?;
    Ok((session, hold))
}

/// Removes the row and the files of a session whose browser never started. What cannot be removed
/// is logged: the caller hears why the browser did not start, which is what matters.
async fn undo(context: &Runtime, hold: &Hold, session: &Session) {
    if let Err(error) = remove(context, hold, session).await {
        tracing::error!(session = %session.id, %error, "could not remove a session that never ran");
    }
}

/// The name goes first: whatever happens to the files, it is free.
async fn remove(context: &Runtime, hold: &Hold, session: &Session) -> Result<(), RuntimeError> {
    life::finish(context, session).await?;
    context.supervisor.delete_files(hold).await?;
    Ok(context.store.delete_session(&session.owner, session.id).await?)
}

/// Starts a browser with the tabs and the environment that are asked for. When it does not start,
/// nothing is left behind and the name stays free.
pub async fn open(
    context: &Runtime,
    caller: &Caller,
    mut request: OpenSession,
) -> Result<SessionView, RuntimeError> {
    check::open(&request)?;
    if request.reveal {
        caller.require(Scope::Reveal)?;
    }
    if !request.files.is_empty() {
        caller.require(Scope::Admin)?;
        if caller.owner != Owner::local() {
            return Err(Invalid {
                field: "files",
                expected: "no folders, for an owner other than local",
                found: "some".to_owned(),
            }
            .into());
        }
        check::folders(context.supervisor.data(), &request.files)?;
    }
    context.supervisor.expect_staying()?;
    context.supervisor.expect_labels(&request.labels)?;
    // They are decided now, whatever a caller says.
    request.environment.permissions.iter_mut().for_each(|one| one.changed = None);
    let wanted = Wanted {
        name: request.name.clone(),
        description: request.description.clone(),
        headed: request.headed,
        debug: request.debug,
    };
    let (session, hold) = create(context, &caller.owner, wanted).await?;
    let opened = async {
        // A drain that began meanwhile may not have seen its row; one that begins later does.
        context.supervisor.expect_staying()?;
        if !request.labels.is_empty() {
            context.store.set_session_labels(session.id, &request.labels).await?;
        }
        Ok::<_, RuntimeError>(context.supervisor.open(&hold, &session, &request).await?)
    };
    if let Err(error) = opened.await {
        undo(context, &hold, &session).await;
        return Err(error);
    }
    tracing::info!(session = %session.id, "opened a session");
    drive(context, caller, &session).await?;
    show::describe(context, session).await
}

/// Keeps the default context of a running browser as a session. The browser is not ours: closing
/// the session leaves it running, and a resume starts one of our own.
pub async fn attach(
    context: &Runtime,
    caller: &Caller,
    request: AttachSession,
) -> Result<SessionView, RuntimeError> {
    check::name(&request.name)?;
    check::description(request.description.as_deref())?;
    check::cdp_address(&request.cdp_url)?;
    context.supervisor.expect_staying()?;
    let AttachSession { name, description, cdp_url } = request;
    let wanted = Wanted { name, description, headed: false, debug: false };
    let (session, hold) = create(context, &caller.owner, wanted).await?;
    let attached = async {
        // As when one is opened.
        context.supervisor.expect_staying()?;
        context.supervisor.attach(&hold, &session, &cdp_url).await
    };
    if let Err(error) = attached.await {
        undo(context, &hold, &session).await;
        return Err(RuntimeError::Attach(error));
    }
    tracing::info!(session = %session.id, "attached to a browser");
    drive(context, caller, &session).await?;
    show::describe(context, session).await
}

/// Reads the browser of an active session; the snapshot is on disk when this returns.
pub async fn capture(wish: &Wish<'_>) -> Result<SnapshotView, RuntimeError> {
    let context = wish.context;
    let held = wish.preflight(Capture).await?.hold().await?;
    let (owner, session) = (&held.session.owner, held.session.id);
    let snapshot = context.supervisor.capture(session, SnapshotReason::Request).await?;
    // The snapshot is there, whatever can be said of it.
    let unread = show::unread(context, owner, &snapshot).await.unwrap_or_else(|error| {
        tracing::warn!(%session, %error, "what could not be read is not told");
        Vec::new()
    });
    Ok(SnapshotView { unread, ..show::snapshot_view(&snapshot) })
}

/// Starts a browser for a session that has none and restores its last good snapshot into it. The
/// receipt says item by item what came back. One that several nodes have is taken from its holder first.
pub async fn resume(
    wish: &Wish<'_>,
    ResumeSession { browser }: ResumeSession,
) -> Result<ResumeResult, RuntimeError> {
    wish.hear().await?;
    let held = wish.preflight(Resume { browser }).await?.hold().await?;
    let started = held.acquire().await?.start().await?;
    tracing::info!(session = %started.session.id, snapshot = %started.resumed.snapshot, "resumed a session");
    show::started(wish.context, started).await
}

/// Captures the session if it is active, ends its browser, and brings it back from any of its
/// snapshots, also one that a resume would pass over. What it held until now stays in its history.
pub async fn rollback(wish: &Wish<'_>, request: &Request) -> Result<ResumeResult, RuntimeError> {
    wish.hear().await?;
    let held = wish.preflight(RollBack { to: &request.to }).await?.hold().await?;
    let started = held.stop().await?.acquire().await?.start().await?;
    tracing::info!(session = %started.session.id, to = request.to, "rolled a session back");
    show::started(wish.context, started).await
}

/// Takes a last snapshot of an active session, ends its browser and frees its name. Snapshots and
/// profile are kept: a closed session can be resumed.
pub async fn close(wish: &Wish<'_>) -> Result<SessionView, RuntimeError> {
    let held = wish.preflight(Close).await?.hold().await?;
    let session = life::end(wish.context, &held.hold, &held.session).await?;
    life::release_peer_lease(wish.context, &session.owner, session.id).await;
    tracing::info!(session = %session.id, "closed a session");
    show::describe(wish.context, session).await
}

/// Ends the browser of a session as it is, closes the session and removes its profile. Its
/// snapshots are kept until it is deleted.
pub async fn abandon(wish: &Wish<'_>) -> Result<SessionView, RuntimeError> {
    let context = wish.context;
    let held = wish.preflight(Abandon).await?.hold().await?;
    context.supervisor.abandon(&held.hold).await?;
    // The files go first, because a full disk would not take the rest; whatever becomes of them, the
    // name is freed.
    let removed = context.supervisor.delete_files(&held.hold).await;
    let session = life::finish(context, &held.session).await?;
    life::release_peer_lease(context, &session.owner, session.id).await;
    removed?;
    life::let_go(context, &session).await?;
    tracing::info!(session = %session.id, "abandoned a session");
    show::describe(context, session).await
}

/// Removes the snapshots, receipts and profile of a session that is not active. The files go
/// first: when the node dies in between, the row is still there to be deleted again.
pub async fn delete(wish: &Wish<'_>) -> Result<(), RuntimeError> {
    let context = wish.context;
    let held = wish.preflight(Delete).await?.hold().await?;
    let (owner, session) = (&held.session.owner, held.session.id);
    context.supervisor.delete_files(&held.hold).await?;
    // One that was saved is deleted at its peers as well, as soon as they hear of it.
    context.peers.publish_tombstone(context, owner, &held.hold).await?;
    match context.store.delete_session(owner, session).await {
        Err(StoreError::SessionNotFound { .. }) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    // The parts are of no use any more; the next pruning would find them as well.
    if let Err(error) = context.store.collect_parts_of(owner).await {
        tracing::warn!(%error, "parts of a deleted session were not removed");
    }
    tracing::info!(%session, "deleted a session");
    Ok(())
}

/// How long a reason may be, in characters.
const REASON_MAX: usize = 1000;

/// Passes a session to another agent, or to none. A caller that does not drive it says why.
pub async fn pass(wish: &Wish<'_>, request: &PassSession) -> Result<SessionView, RuntimeError> {
    let (context, caller) = (wish.context, wish.by);
    let reason = reason(request)?;
    let held = wish.preflight(Change).await?.hold().await?;
    let session = held.session.clone();
    let found = driver(context, &session).await?;
    match &found {
        Some(agent) if caller.agent.as_ref() != Some(agent) && reason.is_empty() => {
            return Err(other(&session, agent.clone(), caller));
        }
        _ => {}
    }
    pass_on(context, &session, found.as_ref(), request.to.as_ref(), reason).await?;
    tracing::info!(session = %session.id, to = ?request.to, "passed a session on");
    show::describe(context, session).await
}

/// Passes a session to a person, and returns who gets it back. Two who drive under one name could not be told
/// apart, so theirs is one that no agent here has.
pub(super) async fn begin_turn(
    wish: &Wish<'_>,
    person: &AgentName,
    why: &str,
) -> Result<Option<AgentName>, RuntimeError> {
    let context = wish.context;
    let request = PassSession { to: Some(person.clone()), reason: Some(why.to_owned()) };
    let why = reason(&request)?;
    let held = wish.preflight(Change).await?.hold().await?;
    let id = held.session.id;
    let found = context.store.fetch_driver(id).await?;
    let (driver, turn) = found.map_or((None, None), |found| (found.agent, found.turn));
    // A turn that another node, or this one before it ended, could not give back leads to who was before it.
    let back = turn.map_or_else(|| driver.clone(), |turn| turn.from);
    let table = context.supervisor.table();
    if back.as_ref() == Some(person) || table.has_client(id, person) {
        let (field, expected) = ("name", "one that no agent of this session has");
        return Err(Invalid { field, expected, found: person.to_string() }.into());
    }
    let (store, now) = (&context.store, clock::now());
    store.begin_turn(id, driver.as_ref(), person, back.as_ref(), why, now).await?;
    table.has_passed();
    tracing::info!(session = %id, %person, "a person took a session over");
    Ok(back)
}

fn reason(request: &PassSession) -> Result<&str, RuntimeError> {
    let reason = request.reason.as_deref().unwrap_or_default().trim();
    let is_given = request.reason.is_some();
    let length = reason.chars().count();
    if length > REASON_MAX || is_given && length == 0 {
        let found = format!("{length} characters");
        return Err(Invalid { field: "reason", expected: "1 to 1000 characters", found }.into());
    }
    Ok(reason)
}

/// Records what the tabs of a session do from now on, and in every browser it gets later; or no longer, which
/// forgets what was recorded. Secrets are kept, with the scope `reveal`, as long as this browser runs and it
/// is not switched again.
pub async fn debug(
    wish: &Wish<'_>,
    SwitchDebug { on, reveal }: SwitchDebug,
) -> Result<SessionView, RuntimeError> {
    let context = wish.context;
    check::debug(on, reveal)?;
    if reveal {
        wish.by.require(Scope::Reveal)?;
    }
    let held = wish.preflight(Debug).await?.hold().await?;
    let session = &held.session;
    drive(context, wish.by, session).await?;
    // They end with a browser, and there is none.
    if reveal && session.lifecycle != Lifecycle::Active {
        let (name, found) = (session.name.clone(), session.lifecycle);
        return Err(RuntimeError::WrongState { name, expected: "active", found });
    }
    if on && session.lifecycle == Lifecycle::Active {
        context.supervisor.record(session, reveal).await?;
    }
    let switched = context.store.switch_debug(session.id, on, clock::now()).await;
    if !on || switched.is_err() && !session.debug {
        context.supervisor.stop_recording(session.id);
    } else if switched.is_err() {
        // The caller that asked for them hears that it failed.
        context.supervisor.forget_secrets(session.id);
    }
    show::describe(context, switched?).await
}

/// An active session of this node.
pub async fn active(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<Session, RuntimeError> {
    let session = context.find(owner, reference).await?;
    expect_active(context, &session)?;
    Ok(session)
}

fn expect_active(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    if session.lifecycle != Lifecycle::Active {
        let (name, found) = (session.name.clone(), session.lifecycle);
        return Err(RuntimeError::WrongState { name, expected: "active", found });
    }
    if session.node != context.node {
        return Err(RuntimeError::OtherNode { name: session.name.clone(), node: session.node });
    }
    Ok(())
}

/// Checks that the caller may drive the browser of an active session. One that is not kept from the files of
/// the machine, or from what listens there, is for the owner for whom the node runs alone: its driver has
/// them. A person who has taken it over comes by no such way, and who says their name is not them.
pub async fn enter(
    context: &Runtime,
    caller: &Caller,
    session: &Session,
) -> Result<(), RuntimeError> {
    expect_confined(context, caller, session)?;
    drive(context, caller, session).await?;
    match context.store.fetch_driver(session.id).await? {
        Some(Driver { agent: Some(person), turn: Some(_), .. }) => {
            if caller.agent.as_ref() != Some(&person) {
                return Err(other(session, person, caller));
            }
            let expected = "one that is not the person who has taken the session over";
            Err(Invalid { field: "agent", expected, found: person.to_string() }.into())
        }
        _ => Ok(()),
    }
}

/// Checks that who drives a browser would have nothing of the machine by it that is not theirs.
pub(super) fn expect_confined(
    context: &Runtime,
    caller: &Caller,
    session: &Session,
) -> Result<(), RuntimeError> {
    let confinement = context.supervisor.confinement(session.id);
    if let (false, Some(rules)) = (caller.owner == Owner::local(), confinement) {
        let not_kept = |from| Err(RuntimeError::NotConfined { name: session.name.clone(), from });
        if !rules.holds() {
            return not_kept("the files of this machine");
        }
        if !context.supervisor.is_fenced(session.id) {
            return not_kept("what listens on this machine and in its network");
        }
    }
    Ok(())
}

/// Connects to the browser of an active session, as one more client beside the others. A ticket is
/// used by that, unless the browser does not answer.
pub async fn connect(
    wish: &Wish<'_>,
    ticket: Option<&SecretString>,
) -> Result<Transport, RuntimeError> {
    let (context, session) = (wish.context, &wish.session);
    expect_active(context, session)?;
    enter(context, wish.by, session).await?;
    if let Some(ticket) = ticket {
        context.tickets.punch(ticket)?;
    }
    let knocked = context.supervisor.knock(session.id).await;
    if let Some(ticket) = ticket.filter(|_| knocked.is_err()) {
        context.tickets.put_back(ticket);
    }
    Ok(knocked?)
}
