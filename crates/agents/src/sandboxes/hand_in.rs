//! The session that is to be handed in: sought, found here or at another service, and checked that it is a
//! login.

use super::looks::Looks;
use crate::Agents;
use crate::error::{AgentsError, SandboxRefusal};
use crate::settings::SessionService;
use baton_api::FileText;
use baton_api::sandbox::{BrowserSession, BrowserSessionType, HandedIn, Login, TakeBack};
use baton_browser::profile::compile::CacheKey;
use baton_browser::profile::packed::AtHand;
use baton_net::outbound;
use baton_net::outbound::Reach;
use baton_runtime::audit::Action;
use baton_runtime::life::{CheckOut, CheckedOut, Want, Wish, expect_driver, stored};
use baton_runtime::live::{Checkout, Handed, LiveError};
use baton_runtime::sessions::check;
use baton_runtime::{Caller, RuntimeError};
use baton_session::cookie::Expiry;
use baton_session::import::{ImportError, Imported};
use baton_session::login::{Known, NoLogin, SignIns, expect_login, logins};
use baton_session::view::Domain;
use baton_session::{
    Lifecycle, PartKind, Receipt, SandboxId, Session, SessionName, State, StorageKey, admit, import,
};
use baton_store::blocking::blocking;
use baton_store::{StoreError, clock, plain};
use jiff::Timestamp;
use secrecy::SecretString;
use std::time::Duration;
use url::Url;

/// A session that a request wants.
pub(super) enum Sought<'a> {
    /// What came with it.
    Inline(&'a FileText),
    /// One of this node.
    Here(Session, &'a BrowserSession),
    /// One of another service, by its id there.
    Elsewhere(&'a str, &'a str),
}

/// A session on its way into a sandbox.
pub(super) struct HandIn {
    /// What it holds, but for what is at hand.
    pub(super) state: State,
    /// That, in the form of a profile.
    pub(super) at_hand: AtHand,
    /// Which storage keys it belongs to.
    pub(super) stored: Vec<StorageKey>,
    /// What sign-ins changed.
    pub(super) sign_ins: SignIns,
    /// When that was.
    pub(super) taken_at: Timestamp,
    /// Under which name its profile may be kept.
    pub(super) key: Option<CacheKey>,
    /// That it was checked out, if no other may have it meanwhile.
    pub(super) checkout: Option<Checkout>,
    /// The name of the session whose browser was ended for it.
    pub(super) ended: Option<SessionName>,
    /// What a browser in the sandbox is told of it.
    pub(super) looks: Looks,
    /// What its maker hears.
    pub(super) told: HandedIn,
}

/// Checks that a session is a login, and says for how long.
pub(super) fn accept(found: HandIn, domains: &[Domain]) -> Result<HandIn, AgentsError> {
    let now = clock::now();
    let is_login = expect_login(known(&found), domains, now);
    is_login.map_err(|source| refused(source, &found.told.receipt))?;
    Ok(with_logins(found, now))
}

/// Says where a session is logged in, and for how long.
fn with_logins(mut found: HandIn, now: Timestamp) -> HandIn {
    found.told.logins = logins(known(&found), now).into_iter().map(Login::from).collect();
    found
}

/// What is known of it, to judge where it is logged in.
pub(super) fn known(found: &HandIn) -> Known<'_> {
    Known { state: &found.state, stored: &found.stored, sign_ins: &found.sign_ins }
}

/// Why a session is not taken. What was left out of it may be the login.
fn refused(source: NoLogin, left_out: &Receipt) -> AgentsError {
    let mut lost = left_out.losses();
    let (NoLogin::Missing { place }, Some(first)) = (&source, lost.next()) else {
        return source.into();
    };
    let why = first.reason.as_deref().unwrap_or_default();
    let more = lost.count();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let left_out = format!("{} {}: {why}{more}", first.kind, first.place);
    SandboxRefusal::NotTaken { place: place.clone(), left_out }.into()
}

/// Understands what a request wants, and refuses at once what cannot be had.
pub(super) async fn seek<'a>(
    context: &Agents,
    caller: &Caller,
    wanted: &'a BrowserSession,
) -> Result<Sought<'a>, AgentsError> {
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
            let takes_all = wanted.take_back == TakeBack::All;
            let is_reference = wanted.shared || wanted.take || wanted.session_service_url.is_some();
            if is_reference || takes_all {
                return refuse("inline with storageState alone", "fields of a reference");
            }
            Ok(Sought::Inline(file))
        }
        (BrowserSessionType::Reference, None, Some(reference)) => {
            let comes_back = !wanted.shared && wanted.session_service_url.is_none();
            if wanted.take_back == TakeBack::All && !comes_back {
                return refuse("without takeBack where nothing is written back", "both");
            }
            if wanted.take && !comes_back {
                return refuse("without take where nobody else loses the session", "both");
            }
            if wanted.take && caller.agent.is_some() {
                return refuse(
                    "without take where an agent asks for it",
                    "take: agents pass sessions on",
                );
            }
            let Some(url) = &wanted.session_service_url else {
                let session = seek_session(context, caller, wanted, reference).await?;
                return Ok(Sought::Here(session, wanted));
            };
            if wanted.shared {
                return refuse("without shared where a service keeps it", "both");
            }
            Ok(Sought::Elsewhere(url, reference))
        }
    }
}

/// Finds what is sought, checks that it is a login, and takes it for the sandbox `to`.
pub(super) async fn find(
    context: &Agents,
    caller: &Caller,
    sought: Sought<'_>,
    domains: &[Domain],
    to: SandboxId,
) -> Result<HandIn, AgentsError> {
    match sought {
        Sought::Inline(file) => {
            let text = file.clone();
            let read = move || inline(text.as_str().as_bytes(), clock::now());
            let read = blocking(read).await?;
            accept(read?, domains)
        }
        Sought::Here(session, wanted) => {
            kept_here(context, caller, wanted, &session, domains, to).await
        }
        Sought::Elsewhere(url, reference) => {
            let (state, left_out) = fetch(context, caller, url, reference).await?;
            let kind = BrowserSessionType::Reference;
            accept(admitted(kind, state, left_out, clock::now())?, domains)
        }
    }
}

fn refuse<T>(expected: &'static str, found: impl Into<String>) -> Result<T, AgentsError> {
    Err(SandboxRefusal::NoSession { expected, found: found.into() }.into())
}

/// What came with the request.
fn inline(file: &[u8], now: Timestamp) -> Result<HandIn, AgentsError> {
    let read = import::read(file).map_err(SandboxRefusal::from)?;
    admitted(BrowserSessionType::Inline, read.state, read.left_out, now)
}

/// What came from elsewhere, as far as a browser can be given it. Cookies that have expired stay until it is
/// clear whether it is a login.
fn admitted(
    kind: BrowserSessionType,
    mut state: State,
    mut receipt: Receipt,
    now: Timestamp,
) -> Result<HandIn, AgentsError> {
    let ended: Vec<_> =
        state.cookies.iter().filter(|cookie| is_over(cookie, now)).cloned().collect();
    receipt.extend(admit::admit(&mut state, Expiry(now.as_microsecond())));
    state.cookies.extend(ended);
    check::environment_of_file(&mut state.environment, &mut receipt)?;
    let told = HandedIn {
        kind,
        session_id: None,
        name: None,
        snapshot: None,
        writes_back: false,
        logins: Vec::new(),
        receipt,
    };
    Ok(HandIn {
        looks: Looks::of(&state.environment, &state.tabs).with_workers(workers(&state).cloned()),
        state,
        at_hand: AtHand::default(),
        stored: Vec::new(),
        sign_ins: SignIns::default(),
        taken_at: now,
        key: None,
        checkout: None,
        ended: None,
        told,
    })
}

fn is_over(cookie: &baton_session::Cookie, now: Timestamp) -> bool {
    cookie.expires.is_some_and(|end| end.0 <= now.as_microsecond())
}

/// A session of this node that the caller may have now.
async fn seek_session(
    context: &Agents,
    caller: &Caller,
    wanted: &BrowserSession,
    reference: &str,
) -> Result<Session, AgentsError> {
    let found = context.find(&caller.owner, reference).await?;
    if !wanted.shared {
        let want = want(caller, wanted, &[]);
        want.allows(context, &found)?;
        if want.drives() {
            expect_driver(context, caller, &found).await?;
        }
    }
    Ok(found)
}

fn want<'w>(caller: &'w Caller, wanted: &BrowserSession, domains: &'w [Domain]) -> CheckOut<'w> {
    CheckOut { domains, agent: caller.agent.as_ref(), takes: wanted.take }
}

/// A session of this node: checked out to the sandbox `to`, or a copy.
async fn kept_here(
    context: &Agents,
    caller: &Caller,
    wanted: &BrowserSession,
    session: &Session,
    domains: &[Domain],
    to: SandboxId,
) -> Result<HandIn, AgentsError> {
    if wanted.shared {
        copy(context, session, domains).await
    } else {
        check_out(context, caller, session, want(caller, wanted, domains), to).await
    }
}

/// A copy of a session, which stays with its holder.
async fn copy(
    context: &Agents,
    session: &Session,
    domains: &[Domain],
) -> Result<HandIn, AgentsError> {
    let runs_here = session.lifecycle == Lifecycle::Active && context.supervisor.holds(session.id);
    let turn = if runs_here { Some(context.hold_again(session).await?) } else { None };
    let session = turn.as_ref().map_or(session, |(session, _)| session);
    let handed = context.supervisor.copy_out(session).await?;
    accept(of(session, handed, false), domains)
}

/// A session that the sandbox has until it ends.
async fn check_out(
    context: &Agents,
    caller: &Caller,
    found: &Session,
    want: CheckOut<'_>,
    to: SandboxId,
) -> Result<HandIn, AgentsError> {
    let wish = Wish::about(context, caller, Action::CheckOut, found.clone());
    let wish = wish.with("sandbox", to.to_string());
    let checked_out = Box::pin(hold_and_check_out(&wish, want, to)).await;
    let wish = match &checked_out {
        Ok(found) => wish.with_losses(&found.told.receipt),
        Err(_) => wish,
    };
    wish.end(checked_out.map_err(|error| held_elsewhere(found, error))).await
}

async fn hold_and_check_out<'w>(
    wish: &'w Wish<'w>,
    want: CheckOut<'w>,
    to: SandboxId,
) -> Result<HandIn, AgentsError> {
    let held = wish.preflight(want).await?.hold().await?.stop_to_check_out().await?;
    let CheckedOut { session, ran, checkout, handed } = held.acquire().await?.check_out(to).await?;
    let found = with_logins(of(&session, handed, true), clock::now());
    Ok(HandIn { checkout: Some(checkout), ended: ran.then_some(session.name), ..found })
}

fn of(session: &Session, handed: Handed, writes_back: bool) -> HandIn {
    let key = Some(CacheKey::of(&handed.parts).of_session(session.id));
    let stored = stored(&handed);
    let told = HandedIn {
        kind: BrowserSessionType::Reference,
        session_id: Some(session.id),
        name: Some(session.name.clone()),
        snapshot: Some(handed.snapshot),
        writes_back,
        logins: Vec::new(),
        receipt: handed.receipt,
    };
    // The state has no workers that are at hand, which its parts name.
    let named = handed.parts.iter().filter(|part| part.kind == PartKind::ServiceWorkers);
    let workers = named.map(|part| StorageKey::new(part.name.as_str()));
    HandIn {
        looks: Looks::of(&handed.state.environment, &handed.state.tabs).with_workers(workers),
        state: handed.state,
        at_hand: handed.at_hand,
        stored,
        sign_ins: handed.sign_ins,
        taken_at: handed.taken_at,
        key,
        checkout: None,
        ended: None,
        told,
    }
}

/// The storage keys with service workers.
fn workers(state: &State) -> impl Iterator<Item = &StorageKey> {
    let with = state.origins.iter().filter(|(_, origin)| !origin.service_workers.is_empty());
    with.map(|(key, _)| key)
}

fn held_elsewhere(session: &Session, error: AgentsError) -> AgentsError {
    let node = match error {
        AgentsError::Runtime(
            RuntimeError::Store(StoreError::HeldElsewhere { node })
            | RuntimeError::Live(LiveError::Store(StoreError::HeldElsewhere { node })),
        ) => node,
        error => return error,
    };
    let holder = format!("node {node} has it");
    RuntimeError::Held { name: session.name.clone(), holder }.into()
}

/// The largest answer, in bytes.
const ANSWER_MAX: usize = 128 << 20;
/// How long an answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// What a session holds at a service: `GET URL/ID/state?reveal=true`, as a Baton answers it, or any file
/// that is imported.
///
/// A service is one of the settings, and is asked with the key that the settings name, never the caller's;
/// and only for the owner whose that key is. So no caller reaches through this node what it could not reach
/// itself.
async fn fetch(
    context: &Agents,
    caller: &Caller,
    url: &str,
    session: &str,
) -> Result<(State, Receipt), AgentsError> {
    let services = &context.sandboxes.settings().services;
    let named = url.parse::<Url>().ok();
    let found = services.iter().find(|one| {
        one.owner == caller.owner && named.as_ref().is_some_and(|named| is_same(named, &one.url))
    });
    let service = found.ok_or(SandboxRefusal::UnknownService)?;
    let failed = |why: String| SandboxRefusal::Service { url: service.url.clone(), why };
    let asked = ask(context, service, session);
    let answer = tokio::time::timeout(ANSWER_LIMIT, asked).await;
    let answer = answer.map_err(|_| failed(format!("no answer within {ANSWER_LIMIT:?}")))??;
    Ok(blocking(move || read(&answer)).await?.map_err(failed)?)
}

/// The same address, with or without a slash at its end.
fn is_same(one: &Url, other: &Url) -> bool {
    one.as_str().trim_end_matches('/') == other.as_str().trim_end_matches('/')
}

async fn ask(
    context: &Agents,
    service: &SessionService,
    session: &str,
) -> Result<Vec<u8>, AgentsError> {
    let failed = |why: String| SandboxRefusal::Service { url: service.url.clone(), why };
    let key = plain::secret(&service.key_file).await;
    let key = key.map_err(|error| failed(format!("its key cannot be read: {error}")))?;
    let key = SecretString::from(key.trim());
    let client = outbound::client(&context.outbound, &service.url, Reach::default()).await?;
    let url = outbound::address(&service.url, &[session, "state"])?;
    let call = client.get(url).query(&[("reveal", true)]);
    let call = call.header("authorization", outbound::bearer(&key)?);
    let response = call.send().await.map_err(|error| failed(outbound::said(error)))?;
    let status = response.status();
    match status.as_u16() {
        200 => {}
        404 => return Err(SandboxRefusal::NotThere { session: session.to_owned() }.into()),
        300..=399 => {
            return Err(failed("it sends us elsewhere, where we do not go".to_owned()).into());
        }
        401 | 403 => return Err(failed("it refuses our key".to_owned()).into()),
        _ => return Err(failed(format!("it answers {status}")).into()),
    }
    outbound::bounded(response, ANSWER_MAX).await.map_err(|why| failed(why).into())
}

fn read(answer: &[u8]) -> Result<(State, Receipt), String> {
    match import::read(answer) {
        Ok(Imported { state, left_out, .. }) => Ok((state, left_out)),
        Err(ImportError::Redacted) => {
            Err("its answer has no secrets: its key for us lacks the scope reveal".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}
