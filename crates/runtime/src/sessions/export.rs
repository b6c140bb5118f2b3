//! Gives a session out as a file.

use super::deep;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::live::{LiveError, Loaded};
use baton_api::{Contents, ExportFormat, ExportSession, ExportView, FileText};
use baton_session::wire::{self, Head, SessionFile, Version};
use baton_session::{Lifecycle, Receipt, Session, State, playwright};
use baton_store::blocking::blocking;
use jiff::Timestamp;

/// The largest file that leaves a node or enters it, in bytes.
pub const FILE_LIMIT: usize = 128 << 20;

/// The last good snapshot of a session as a file, or what stands in for it where parts of it are damaged.
/// An active session is captured first.
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
        context.hub.load_now(&session).await
    } else {
        context.hub.load_last_good(&session).await
    };
    let Loaded { snapshot, taken_at, mut state, mut receipt, .. } = match loaded {
        Err(LiveError::NoSnapshot(_)) => {
            return Err(RuntimeError::NoSnapshot { name: session.name, expected: "a snapshot" });
        }
        loaded => loaded?,
    };
    if query.deep {
        receipt.extend(deep::add(context, &session, &mut state).await?);
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
