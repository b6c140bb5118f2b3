//! Makes a session of a file.
//!
//! The one idea: all that can be refused is refused before anything is stored, and then the session
//! and its only snapshot are stored together. A resume brings it to life on a fresh profile.

use super::{check, show};
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_api::{Contents, FileText, ImportSession, ImportView, SessionView};
use baton_session::cookie::Expiry;
use baton_session::import::{self, Imported};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{
    Environment, Lifecycle, Owner, Part, Receipt, Session, SessionId, SessionName, SnapshotId,
    SnapshotReason, State, admit, parts,
};
use baton_store::NewSnapshot;
use baton_store::blocking::blocking;
use baton_store::clock;
use jiff::Timestamp;

/// A session of the owner with the state in the file, recoverable.
pub async fn import(
    context: &Runtime,
    owner: &Owner,
    request: ImportSession,
) -> Result<ImportView, RuntimeError> {
    let now = clock::now();
    let ImportSession { name, description, file } = request;
    let work = move || open(&file, now);
    let opened = blocking(work).await?;
    let Opened { name: own_name, description: own, holds, parts, left_out } = opened?;
    let name = name_of(name, &own_name)?;
    let description = description.unwrap_or(own);
    let made = Made { name, description, parts, reason: SnapshotReason::Import };
    let session = made.store(context, owner).await?;
    Ok(ImportView { session, holds, left_out })
}

/// A session that begins with a snapshot, and with no browser.
pub(super) struct Made {
    pub(super) name: SessionName,
    pub(super) description: String,
    /// All that its only snapshot holds.
    pub(super) parts: Vec<Part>,
    /// Where that came from.
    pub(super) reason: SnapshotReason,
}

impl Made {
    /// Stores the session, recoverable, and its snapshot together.
    pub(super) async fn store(
        self,
        context: &Runtime,
        owner: &Owner,
    ) -> Result<SessionView, RuntimeError> {
        let Self { name, description, parts, reason } = self;
        check::description(Some(&description))?;
        let now = clock::now();
        let session = Session {
            id: SessionId::new(now, rand::random()),
            name,
            description,
            owner: owner.clone(),
            node: context.node,
            headed: false,
            debug: false,
            lifecycle: Lifecycle::Recoverable,
            created_at: now,
            updated_at: now,
        };
        context.store.create_session_with(&session, first(&session, parts, reason)).await?;
        tracing::info!(session = %session.id, %reason, "made a session of a snapshot");
        show::describe(context, session).await
    }
}

/// What a file holds.
struct Opened {
    name: String,
    description: String,
    holds: Contents,
    parts: Vec<Part>,
    left_out: Receipt,
}

/// Reads a file of any kind, and takes of it what a browser can be given.
fn open(file: &FileText, now: Timestamp) -> Result<Opened, RuntimeError> {
    let read = import::read(file.as_str().as_bytes());
    let Imported { head, mut state, mut left_out, .. } =
        read.map_err(|error| RuntimeError::BadFile { reason: error.to_string() })?;
    left_out.extend(admit::admit(&mut state, Expiry(now.as_microsecond())));
    admit_environment(&mut state, &mut left_out);
    let holds = Contents::from(&state);
    let (name, description) = (head.name, head.description);
    Ok(Opened { name, description, holds, parts: parts::split(&state), left_out })
}

/// An environment that no session could be opened with costs itself only.
fn admit_environment(state: &mut State, left_out: &mut Receipt) {
    if let Err(error) = check::environment(&state.environment) {
        left_out.push(ReceiptItem::rejected(ItemKind::Environment, "environment", error));
        state.environment = Environment::default();
    }
}

/// The name that was asked for, or else that of the file.
fn name_of(wanted: Option<SessionName>, own: &str) -> Result<SessionName, RuntimeError> {
    let name = match wanted {
        Some(name) => name,
        None => own.parse().map_err(|_| RuntimeError::NoName)?,
    };
    check::name(&name)?;
    Ok(name)
}

fn first(session: &Session, parts: Vec<Part>, reason: SnapshotReason) -> NewSnapshot {
    NewSnapshot {
        id: SnapshotId::new(session.created_at, rand::random()),
        session: session.id,
        owner: session.owner.clone(),
        taken_at: session.created_at,
        reason,
        term: None,
        shrunk: false,
        sibling: false,
        saved: false,
        parts,
        carried: Vec::new(),
        keep: None,
    }
}
