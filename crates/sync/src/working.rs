//! The working copy: what of a shared session is here, in its snapshots and in its browser.
//!
//! The one idea: a browser that runs is never touched. The working copy of a session without one moves
//! to the current revision, after what was captured and not saved has become a revision itself.

use crate::context::{ConflictResolution, Sync};
use crate::error::SyncError;
use crate::partial;
use crate::publish::{Titles, WantedBy, publish_whole};
use crate::shelf::{ATTEMPTS, Along, Shelf, is_race, row};
use baton_runtime::audit::{Action, Note};
use baton_runtime::latest::{Latest, last_good};
use baton_runtime::live::LiveError;
use baton_runtime::table::Hold;
use baton_runtime::{Actor, RuntimeError};
use baton_session::{Lifecycle, Owner, Session, Signed};
use baton_store::{RevisionContent, StoreError};

/// Makes a revision of what was captured since the base and not saved, so that nothing that arrives
/// can take its place. Of which nothing can be read, there is nothing to keep. The caller holds the session.
pub(super) async fn keep_unsaved(context: &Sync, session: &Session) -> Result<(), SyncError> {
    if session.lifecycle == Lifecycle::Active {
        return Ok(());
    }
    let found = match last_good(&context.store, session.id).await {
        Err(StoreError::SnapshotCorrupt { .. }) => return Ok(()),
        found => found?,
    };
    let Some(Latest { snapshot, damaged, .. }) = found else { return Ok(()) };
    let newest = match damaged {
        Some(StoreError::SnapshotCorrupt { id, .. }) => id,
        _ => snapshot.id,
    };
    let shelf = Shelf::load(context, &session.owner, session.id).await?;
    let is_base = |base: &baton_store::Base| base.snapshot == newest;
    if shelf.shared.base.as_ref().is_some_and(is_base) {
        return Ok(());
    }
    match Box::pin(publish_whole(context, session, &Titles::default(), WantedBy::Kept)).await {
        Err(SyncError::Runtime(RuntimeError::Live(LiveError::SnapshotsDamaged { .. }))) => Ok(()),
        kept => kept.map(drop),
    }
}

/// Whether anything is shared of a session.
pub(crate) async fn is_shared(context: &Sync, session: &Session) -> Result<bool, SyncError> {
    Ok(!Shelf::load(context, &session.owner, session.id).await?.is_new())
}

/// Brings the working copy of a session that is shared up to date, before it is resumed.
pub(crate) async fn settle(
    context: &Sync,
    hold: &Hold,
    session: &Session,
) -> Result<(), SyncError> {
    if !is_shared(context, session).await? {
        return Ok(());
    }
    match keep_unsaved(context, session).await {
        // What can be read of it comes back, and is compared with what peers have once it is whole again.
        Err(error @ SyncError::NothingWhole { .. }) => {
            tracing::error!(session = %session.id, %error, "what was not saved is damaged");
            Ok(())
        }
        kept => {
            kept?;
            advance(context, &session.owner, hold).await
        }
    }
}

/// Refuses a session that was here, and went with a deletion that came from elsewhere.
pub(crate) async fn expect_there(context: &Sync, session: &Session) -> Result<(), SyncError> {
    match row(context, &session.owner, session.id).await? {
        Some(_) => Ok(()),
        None => Err(SyncError::DeletedElsewhere { name: session.name.clone() }),
    }
}

/// Moves the working copy to the revision that counts. What was not saved is kept.
pub(super) async fn advance(context: &Sync, owner: &Owner, hold: &Hold) -> Result<(), SyncError> {
    let session = hold.id();
    for _ in 0..ATTEMPTS {
        let Some(row) = row(context, owner, session).await? else { return Ok(()) };
        let mut shelf = Shelf::load(context, owner, session).await?;
        let Some(current) = current(context, &shelf).cloned() else { return Ok(()) };
        let stands = shelf.shared.base.as_ref().map(|base| base.revision.id());
        if row.lifecycle == Lifecycle::Active || stands == Some(current.id()) {
            return Ok(());
        }
        match step(context, hold, &row, &mut shelf, current).await {
            Err(error) if is_race(&error) => {}
            stepped => return stepped,
        }
    }
    Err(SyncError::Contended { session })
}

async fn step(
    context: &Sync,
    hold: &Hold,
    row: &Session,
    shelf: &mut Shelf,
    current: Signed,
) -> Result<(), SyncError> {
    let session = current.session;
    if current.deleted {
        shelf.shared.base = None;
        // The files first: when the node dies in between, or they cannot be removed, the next pass
        // finds the session here and does it again.
        let forget = Some(context.supervisor.delete_files(hold).await?);
        shelf.put_back(context, Along { forget, ..Along::default() }).await?;
        tracing::info!(%session, "a session was deleted elsewhere");
        return Ok(());
    }
    let found = context.store.fetch_content(&shelf.owner, session, current.id()).await?;
    let found = found.ok_or(SyncError::NoContent { rev: current.id() })?;
    let (snapshot, lost) = partial::with_own(context, shelf, row, &current, &found).await?;
    let id = snapshot.id;
    let mut contents = Vec::new();
    if current.is_partial() {
        // What the revision says is held already, without what is this node's own.
        context.store.create_snapshot(snapshot).await?;
    } else {
        contents.push((current.id(), RevisionContent::New(snapshot)));
    }
    shelf.stand_on(current, id);
    shelf.put_back(context, Along { contents, ..Along::default() }).await?;
    if !lost.has_losses() {
        return Ok(());
    }
    // A resume finds a whole snapshot here, and says nothing of it.
    tracing::error!(%session, "what is only here of a session is damaged");
    let note = Note::new(&Actor::node(), &shelf.owner, Action::Receive, session.to_string());
    note.with_losses(&lost).end(&context.store, Ok(())).await
}

/// The revision that counts here. Where a person chooses, it is the one that this node had until they
/// have; one that was deleted never counts beside one that lives.
pub(super) fn current<'a>(context: &Sync, shelf: &'a Shelf) -> Option<&'a Signed> {
    let replica = &shelf.shared.replica;
    let is_chosen = context.own.settings.conflict_resolution == ConflictResolution::Manual;
    let base = shelf.shared.base.as_ref().filter(|_| is_chosen);
    let own = base.and_then(|base| replica.current_after(&base.revision));
    own.filter(|own| !own.deleted).or_else(|| replica.current())
}
