//! Sessions as files: given out as one, made of one, or kept of a context that a client made.
//!
//! The one idea: all that can be refused is refused before anything is stored, and then the session and its
//! only snapshot are stored together. A resume brings it to life on a fresh profile.

use super::{check, show};
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::life::{Capture, Wish};
use crate::live::{LiveError, Loaded};
use baton_api::{
    Contents, ContextList, ContextView, ExportFormat, ExportSession, ExportView, FileText,
    ImportSession, ImportView, Invalid, KeepContext, SessionView, Tab,
};
use baton_browser::{ContextId, MadeContext};
use baton_session::cookie::Expiry;
use baton_session::import::Imported;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::state::OriginState;
use baton_session::wire::{Head, SessionFile, Version};
use baton_session::{
    Lifecycle, Owner, Part, Receipt, Session, SessionId, SessionName, SnapshotId, SnapshotReason,
    State, StorageKey, admit, import, parts, playwright, wire,
};
use baton_store::blocking::blocking;
use baton_store::{NewSnapshot, clock};
use jiff::Timestamp;

/// The largest file that leaves a node or enters it, in bytes.
pub const FILE_LIMIT: usize = 128 << 20;

/// The last good snapshot of a session as a file, or what replaces it where parts of it are damaged. An
/// active session is captured first.
pub async fn export(
    context: &Runtime,
    mut session: Session,
    query: ExportSession,
) -> Result<ExportView, RuntimeError> {
    if query.deep
        && (session.lifecycle == Lifecycle::Active || query.format != ExportFormat::Session)
    {
        return Err(RuntimeError::NotDeep { name: session.name });
    }
    let loaded = if session.lifecycle == Lifecycle::Active {
        let (now, _hold) = context.hold_again(&session).await?;
        session = now;
        context.supervisor.load_now(&session).await
    } else {
        context.supervisor.load_last_good(&session).await
    };
    let Loaded { snapshot, taken_at, mut state, mut receipt, .. } = match loaded {
        Err(LiveError::NoSnapshot(_)) => {
            return Err(RuntimeError::NoSnapshot { name: session.name, expected: "a snapshot" });
        }
        loaded => loaded?,
    };
    if query.deep {
        receipt.extend(add(context, &session, &mut state).await?);
    }
    let holds = Contents::from(&state);
    let head = head(context, &session, taken_at).await?;
    let (text, lost) = write(query.format, head, state).await?;
    receipt.extend(lost);
    if text.len() > FILE_LIMIT {
        let (name, size) = (session.name, text.len());
        return Err(RuntimeError::FileTooLarge { name, size, limit: FILE_LIMIT });
    }
    let file = FileText::new(text)
        .map_err(|source| RuntimeError::NotShown { name: session.name.clone(), source })?;
    tracing::info!(session = %session.id, %snapshot, format = %query.format, "exported a session");
    Ok(ExportView {
        id: session.id,
        name: session.name,
        snapshot,
        taken_at,
        format: query.format,
        holds,
        receipt,
        file,
    })
}

/// Writes the file, off the async threads: a large one takes the processor.
async fn write(
    format: ExportFormat,
    head: Head,
    state: State,
) -> Result<(String, Receipt), RuntimeError> {
    let work = move || match format {
        ExportFormat::Session => (wire::write(&SessionFile { head, state }), Receipt::default()),
        ExportFormat::StorageState => {
            let (text, lost) = playwright::write(&state);
            (text, lost.into_iter().map(Into::into).collect())
        }
    };
    Ok(blocking(work).await?)
}

async fn head(
    context: &Runtime,
    session: &Session,
    taken_at: Timestamp,
) -> Result<Head, RuntimeError> {
    let origin = context.peers.provenance(context, session).await?;
    Ok(Head {
        id: session.id.to_string(),
        name: session.name.to_string(),
        description: session.description.clone(),
        origin,
        sync: Version { version: 1, last_modified: Some(taken_at), ..Version::default() },
    })
}

/// Adds to the state the folders of the origins concerned, from the session's profile, on which no browser
/// may run: a folder that is written to would travel half changed. Each origin that has none is reported.
///
/// These are the browser's own folders of databases, which hold what no script can read.
async fn add(
    context: &Runtime,
    session: &Session,
    state: &mut State,
) -> Result<Receipt, RuntimeError> {
    let concerned = state.origins.iter().filter(|(_, origin)| holds_the_unreadable(origin));
    let keys: Vec<StorageKey> = concerned.map(|(key, _)| key.clone()).collect();
    let mut receipt = Receipt::default();
    if keys.is_empty() {
        return Ok(receipt);
    }
    let (_, hold) = context.hold_again(session).await?;
    for (key, raw) in context.supervisor.read_raw(&hold, keys).await? {
        if raw.is_empty() {
            let reason = "no folder of its own is in this profile";
            receipt.push(ReceiptItem::not_portable(ItemKind::IndexedDb, key.as_str(), reason));
        } else if let Some(origin) = state.origins.get_mut(&key) {
            origin.raw = raw;
        }
    }
    Ok(receipt)
}

fn holds_the_unreadable(origin: &OriginState) -> bool {
    origin.databases.iter().any(|database| database.lost() > 0)
}

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
    let ImportedFile { name: own_name, description: own, holds, parts, left_out } = opened?;
    let name = name_of(name, &own_name)?;
    let description = description.unwrap_or(own);
    let made = Made { name, description, parts, reason: SnapshotReason::Import };
    let session = made.store(context, owner).await?;
    Ok(ImportView { session, holds, left_out })
}

/// A session that begins with a snapshot, and with no browser.
struct Made {
    name: SessionName,
    description: String,
    /// All that its only snapshot holds.
    parts: Vec<Part>,
    /// Where that came from.
    reason: SnapshotReason,
}

impl Made {
    /// Stores the session, recoverable, and its snapshot together.
    async fn store(self, context: &Runtime, owner: &Owner) -> Result<SessionView, RuntimeError> {
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
struct ImportedFile {
    name: String,
    description: String,
    holds: Contents,
    parts: Vec<Part>,
    left_out: Receipt,
}

/// Reads a file of any kind, and takes of it what a browser can be given.
fn open(file: &FileText, now: Timestamp) -> Result<ImportedFile, RuntimeError> {
    let read = import::read(file.as_str().as_bytes());
    let Imported { head, mut state, mut left_out, .. } =
        read.map_err(|error| RuntimeError::BadFile { reason: error.to_string() })?;
    left_out.extend(admit::admit(&mut state, Expiry(now.as_microsecond())));
    check::environment_of_file(&mut state.environment, &mut left_out)?;
    let holds = Contents::from(&state);
    let (name, description) = (head.name, head.description);
    Ok(ImportedFile { name, description, holds, parts: parts::split(&state), left_out })
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

/// The contexts of a running browser, each with its tabs.
pub async fn contexts(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<ContextList, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let made = context.supervisor.contexts(session.id).await?;
    let view = |one: MadeContext| ContextView {
        id: one.id.to_string(),
        tabs: one.tabs.iter().map(Tab::of).collect(),
    };
    Ok(ContextList { items: made.into_iter().map(view).collect() })
}

/// A session of its own, recoverable, with all that a context holds now.
///
/// A context belongs to its client for as long as that is there, and gone then. So it is not followed: what
/// it holds at the moment of the request becomes a session of its own.
pub(super) async fn keep(
    wish: &Wish<'_>,
    request: KeepContext,
) -> Result<ImportView, RuntimeError> {
    let KeepContext { context: wanted, name, description } = request;
    check::name(&name)?;
    check::description(description.as_deref())?;
    let context = wish.context;
    let held = wish.preflight(Capture).await?.hold().await?;
    let (owner, id) = (&held.session.owner, held.session.id);
    let which = choose(context.supervisor.contexts(id).await?, wanted.as_deref())?;
    let captured = context.supervisor.read_context(id, which).await?;
    let now = Expiry(clock::now().as_microsecond());
    let work = move || {
        let mut state = captured.state;
        let mut left_out = admit::admit(&mut state, now);
        for unread in captured.unread {
            left_out.push(ReceiptItem::rejected(ItemKind::Part, unread.place, unread.reason));
        }
        (Contents::from(&state), parts::split(&state), left_out)
    };
    let (holds, parts, left_out) = blocking(work).await?;
    let description = description.unwrap_or_default();
    let made = Made { name, description, parts, reason: SnapshotReason::Request };
    let session = made.store(context, owner).await?;
    Ok(ImportView { session, holds, left_out })
}

/// The one that is meant: by the beginning of its id, or the only one.
fn choose(made: Vec<MadeContext>, wanted: Option<&str>) -> Result<ContextId, RuntimeError> {
    let invalid = |found: String| Invalid {
        field: "context",
        expected: "the beginning of the id of one context in the session's browser",
        found,
    };
    let is_meant = |one: &MadeContext| wanted.is_none_or(|id| one.id.as_str().starts_with(id));
    let all = made.len();
    let mut meant = made.into_iter().filter(is_meant);
    match (meant.next(), meant.next()) {
        (Some(only), None) => Ok(only.id),
        (Some(_), Some(_)) => Err(invalid(format!("several, of {all} that there are")).into()),
        (None, _) => Err(invalid(format!("none, of {all} that there are")).into()),
    }
}
