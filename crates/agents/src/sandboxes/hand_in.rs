//! Finds the session that is to be handed in, and checks that it logs somebody in.

use super::borrow::{self, kept_here};
use super::error::SandboxRefusal;
use super::found::{Found, accept};
use super::service;
use crate::context::Agents;
use crate::error::AgentsError;
use baton_api::FileText;
use baton_api::sandbox::{BrowserSession, BrowserSessionType, HandedIn, TakeBack};
use baton_runtime::Caller;
use baton_session::cookie::Expiry;
use baton_session::domains::Domain;
use baton_session::{Receipt, SandboxId, Session, State, admit, import};
use baton_store::blocking::blocking;
use baton_store::clock;
use jiff::Timestamp;

/// A session that a request wants.
pub(super) enum Sought<'a> {
    /// What came with it.
    Inline(&'a FileText),
    /// One of this node.
    Here(Session, &'a BrowserSession),
    /// One of another service, by its id there.
    Elsewhere(&'a str, &'a str),
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
                let session = borrow::seek(context, caller, wanted, reference).await?;
                return Ok(Sought::Here(session, wanted));
            };
            if wanted.shared {
                return refuse("without shared where a service keeps it", "both");
            }
            Ok(Sought::Elsewhere(url, reference))
        }
    }
}

/// Finds what is sought, checks that it logs somebody in, and takes it for the sandbox `to`.
pub(super) async fn find(
    context: &Agents,
    caller: &Caller,
    sought: Sought<'_>,
    domains: &[Domain],
    to: SandboxId,
) -> Result<Found, AgentsError> {
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
            let (state, left_out) = service::fetch(context, caller, url, reference).await?;
            accept(admitted(BrowserSessionType::Reference, state, left_out, clock::now()), domains)
        }
    }
}

fn refuse<T>(expected: &'static str, found: impl Into<String>) -> Result<T, AgentsError> {
    Err(SandboxRefusal::NoSession { expected, found: found.into() }.into())
}

/// What came with the request.
fn inline(file: &[u8], now: Timestamp) -> Result<Found, AgentsError> {
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
    Found { state, local_storage: None, taken_at: now, key: None, loan: None, ended: None, told }
}

fn is_over(cookie: &baton_session::Cookie, now: Timestamp) -> bool {
    cookie.expires.is_some_and(|end| end.0 <= now.as_microsecond())
}
