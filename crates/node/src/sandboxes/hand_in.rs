//! Finds the session that is to be handed in, checks that it logs somebody in, and takes it.

use super::{SandboxRefusal, service};
use crate::auth::Caller;
use crate::live::{Handed, Lending, LiveError, Loan};
use crate::sessions::drive;
use crate::{Context, NodeError, clock, sync};
use baton_api::sandbox::{BrowserSession, BrowserSessionType, HandedIn, Login};
use baton_browser::profile::compile::CacheKey;
use baton_session::cookie::Expiry;
use baton_session::domains::Domain;
use baton_session::login::{expect_login, logins};
use baton_session::{Lifecycle, Owner, Receipt, SandboxId, Session, State, admit, import};
use baton_store::StoreError;
use jiff::Timestamp;

/// A session on its way into a sandbox.
pub(super) struct Found {
    /// What it holds.
    pub(super) state: State,
    /// When that was.
    pub(super) taken_at: Timestamp,
    /// Under which name its profile may be kept.
    pub(super) key: Option<CacheKey>,
    /// That it was taken, if nobody else may have it meanwhile.
    pub(super) loan: Option<Loan>,
    /// What its maker is told.
    pub(super) told: HandedIn,
}

/// Finds a session by what a request says of it, and takes it for the sandbox `to`.
pub(super) async fn find(
    context: &Context,
    caller: &Caller,
    wanted: &BrowserSession,
    domains: &[Domain],
    to: SandboxId,
) -> Result<Found, NodeError> {
    match (wanted.kind, &wanted.storage_state, &wanted.session_id) {
        (BrowserSessionType::Inline, Some(_), Some(_))
        | (BrowserSessionType::Reference, Some(_), _) => {
            refuse("either inline with storageState, or reference with sessionId", "both")
        }
        (BrowserSessionType::Inline, None, _) => {
            refuse("inline with storageState", "none: give a Playwright storageState")
        }
        (BrowserSessionType::Reference, None, None) => {
            refuse("reference with sessionId", "none: give an id or a name")
        }
        (BrowserSessionType::Inline, Some(file), None) => {
            if wanted.shared || wanted.session_service_url.is_some() {
                return refuse("inline with storageState alone", "fields of a reference");
            }
            let text = file.clone();
            let read = move || inline(text.as_str().as_bytes(), clock::now());
            let read = tokio::task::spawn_blocking(read).await.map_err(|_| LiveError::Stopping)?;
            accept(read?, domains)
        }
        (BrowserSessionType::Reference, None, Some(reference)) => {
            let Some(url) = &wanted.session_service_url else {
                return kept_here(context, caller, wanted, reference, domains, to).await;
            };
            if wanted.shared {
                return refuse("without shared where a service keeps it", "both");
            }
            let (state, left_out) = service::fetch(context, caller, url, reference).await?;
            accept(admitted(BrowserSessionType::Reference, state, left_out, clock::now()), domains)
        }
    }
}

/// A session of this node.
async fn kept_here(
    context: &Context,
    caller: &Caller,
    wanted: &BrowserSession,
    reference: &str,
    domains: &[Domain],
    to: SandboxId,
) -> Result<Found, NodeError> {
    if wanted.shared {
        copy(context, &caller.owner, reference, domains).await
    } else {
        borrow(context, caller, reference, domains, to).await
    }
}

fn refuse<T>(expected: &'static str, found: impl Into<String>) -> Result<T, NodeError> {
    Err(SandboxRefusal::NoSession { expected, found: found.into() }.into())
}

/// What came with the request.
fn inline(file: &[u8], now: Timestamp) -> Result<Found, NodeError> {
    let read = import::read(file).map_err(SandboxRefusal::from)?;
    Ok(admitted(BrowserSessionType::Inline, read.state, read.left_out, now))
}

/// What came from elsewhere, as far as a browser can be given it. Cookies that have expired stay until it
/// is clear whether somebody is logged in.
fn admitted(
    kind: BrowserSessionType,
    mut state: State,
    mut receipt: Receipt,
    now: Timestamp,
) -> Found {
    let ended: Vec<_> =
        state.cookies.iter().filter(|cookie| is_over(cookie, now)).cloned().collect();
    receipt.extend(admit::admit(&mut state, Expiry(now.as_microsecond())));
    state.cookies.extend(ended);
    let told = HandedIn {
        kind,
        session_id: None,
        name: None,
        snapshot: None,
        writes_back: false,
        logins: Vec::new(),
        receipt,
    };
    Found { state, taken_at: now, key: None, loan: None, told }
}

fn is_over(cookie: &baton_session::Cookie, now: Timestamp) -> bool {
    cookie.expires.is_some_and(|end| end.0 <= now.as_microsecond())
}

/// Checks that a session logs somebody in, and says for how long.
fn accept(mut found: Found, domains: &[Domain]) -> Result<Found, NodeError> {
    let now = clock::now();
    expect_login(&found.state, domains, now).map_err(SandboxRefusal::from)?;
    let sites = logins(&found.state, now).into_iter();
    found.told.logins = sites
        .map(|(site, forecast)| Login { domain: site.as_str().to_owned(), forecast })
        .collect();
    Ok(found)
}

/// A copy of a session, which stays with whoever has it.
async fn copy(
    context: &Context,
    owner: &Owner,
    reference: &str,
    domains: &[Domain],
) -> Result<Found, NodeError> {
    let session = context.find(owner, reference).await?;
    let runs_here = session.lifecycle == Lifecycle::Active && context.hub.holds(session.id);
    let session = if runs_here { context.take_turn(owner, reference).await?.0 } else { session };
    let handed = context.hub.copy_out(&session).await?;
    accept(of(&session, handed, false), domains)
}

/// A session that the sandbox has until it ends.
async fn borrow(
    context: &Context,
    caller: &Caller,
    reference: &str,
    domains: &[Domain],
    to: SandboxId,
) -> Result<Found, NodeError> {
    let owner = &caller.owner;
    let found = context.find(owner, reference).await?;
    expect_free(context, &found)?;
    drive(context, caller, &found).await?;
    Box::pin(sync::lease::take(context, caller, reference)).await?;
    let taken = async {
        let (session, _turn) = context.take_turn_here(owner, reference).await?;
        expect_free(context, &session)?;
        // What another node saved since is what is handed in.
        sync::settle(context, &session).await?;
        let lending = context.hub.begin_lending(&session).await?;
        lend(context, &session, lending, domains, to).await
    };
    let taken = Box::pin(taken).await;
    if taken.is_err() {
        sync::lease::release(context, owner, found.id).await?;
    }
    taken.map_err(|error| held_elsewhere(&found, error))
}

async fn lend(
    context: &Context,
    session: &Session,
    lending: Lending,
    domains: &[Domain],
    to: SandboxId,
) -> Result<Found, NodeError> {
    // Before anything changes: what logs nobody in is not even taken.
    expect_login(&lending.handed.state, domains, clock::now()).map_err(SandboxRefusal::from)?;
    let (loan, handed) = context.hub.lend(lending, to).await?;
    let mut found = accept(of(session, handed, true), domains)?;
    found.loan = Some(loan);
    Ok(found)
}

fn of(session: &Session, handed: Handed, writes_back: bool) -> Found {
    let told = HandedIn {
        kind: BrowserSessionType::Reference,
        session_id: Some(session.id),
        name: Some(session.name.clone()),
        snapshot: Some(handed.snapshot),
        writes_back,
        logins: Vec::new(),
        receipt: handed.receipt,
    };
    let key = Some(CacheKey::of(&handed.parts));
    Found { state: handed.state, taken_at: handed.taken_at, key, loan: None, told }
}

/// Checks that nobody has a session now.
fn expect_free(context: &Context, session: &Session) -> Result<(), NodeError> {
    let holder = match context.hub.borrower(session.id) {
        Some(sandbox) => format!("sandbox {sandbox} has it"),
        None if session.lifecycle == Lifecycle::Active => "its browser runs".to_owned(),
        None => return Ok(()),
    };
    Err(SandboxRefusal::Held { name: session.name.clone(), holder }.into())
}

fn held_elsewhere(session: &Session, error: NodeError) -> NodeError {
    let node = match error {
        NodeError::Store(StoreError::HeldElsewhere { node })
        | NodeError::Live(LiveError::Store(StoreError::HeldElsewhere { node })) => node,
        error => return error,
    };
    let holder = format!("node {node} has it");
    SandboxRefusal::Held { name: session.name.clone(), holder }.into()
}
