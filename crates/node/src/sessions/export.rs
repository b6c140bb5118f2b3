//! Gives a session out as a file.

use super::{deep, state};
use crate::blocking::blocking;
use crate::latest::{Latest, last_good};
use crate::sync::provenance;
use crate::{Context, NodeError};
use baton_api::{Contents, ExportFormat, ExportSession, ExportView, FileText};
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::wire::{self, Head, SessionFile, Version};
use baton_session::{Lifecycle, Receipt, Session, SnapshotReason, State, playwright};
use baton_store::Snapshot;

/// The largest file that leaves a node or enters it, in bytes.
pub const FILE_LIMIT: usize = 128 << 20;

/// The last good snapshot of a session as a file. An active session is captured first.
pub async fn export(
    context: &Context,
    mut session: Session,
    query: ExportSession,
) -> Result<ExportView, NodeError> {
    let owner = &session.owner.clone();
    if query.deep
        && (session.lifecycle == Lifecycle::Active || query.format != ExportFormat::Session)
    {
        return Err(NodeError::NotDeep { name: session.name });
    }
    if session.lifecycle == Lifecycle::Active {
        let (now, _hold) = context.hold_again(&session).await?;
        session = now;
        if session.lifecycle == Lifecycle::Active {
            context.hub.capture(session.id, SnapshotReason::Request).await?;
        }
    }
    let Some(found) = last_good(&context.store, session.id).await? else {
        return Err(NodeError::NoSnapshot { name: session.name, expected: "a snapshot" });
    };
    let Latest { snapshot, passed_over, .. } = found;
    let (mut state, unreadable) = state::read(context, owner, &snapshot).await?;
    let mut receipt = Receipt::default();
    if let Some(newer) = passed_over {
        receipt.push(aside(&snapshot, &newer));
    }
    for part in unreadable {
        receipt.push(ReceiptItem::rejected(
            ItemKind::Part,
            format!("snapshot {}", snapshot.id),
            part,
        ));
    }
    let unread = state::unread(context, owner, &snapshot).await?;
    receipt.extend(unread.into_iter().map(ReceiptItem::as_last_known).collect());
    if query.deep {
        receipt.extend(deep::add(context, &session, &mut state).await?);
    }
    let holds = Contents::from(&state);
    let head = head(context, &session, &snapshot).await?;
    let (text, lost) = write(query.format, head, state).await?;
    receipt.extend(lost);
    if text.len() > FILE_LIMIT {
        let (name, size) = (session.name, text.len());
        return Err(NodeError::FileTooLarge { name, size, limit: FILE_LIMIT });
    }
    let file = FileText::new(text)
        .map_err(|source| NodeError::NotShown { name: session.name.clone(), source })?;
    tracing::info!(session = %session.id, snapshot = %snapshot.id, format = %query.format, "exported a session");
    Ok(ExportView {
        id: session.id,
        name: session.name,
        snapshot: snapshot.id,
        taken_at: snapshot.taken_at,
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
) -> Result<(String, Receipt), NodeError> {
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
    context: &Context,
    session: &Session,
    snapshot: &Snapshot,
) -> Result<Head, NodeError> {
    let (owner, made) = (&session.owner, session.created_at);
    let origin = provenance(context, owner, session.node, made, owner.to_string()).await?;
    Ok(Head {
        id: session.id.to_string(),
        name: session.name.to_string(),
        description: session.description.clone(),
        origin,
        sync: Version { version: 1, last_modified: Some(snapshot.taken_at), ..Version::default() },
    })
}

/// The line that says why a newer snapshot was not taken.
fn aside(taken: &Snapshot, newer: &Snapshot) -> ReceiptItem {
    let reason =
        format!("the one of {} is shrunk; baton sessions history shows both", newer.taken_at);
    ReceiptItem {
        reason: Some(reason),
        verified: Verified::None,
        ..ReceiptItem::restored(ItemKind::Snapshot, taken.id.to_string())
    }
}
