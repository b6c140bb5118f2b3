//! Shows what the latest snapshot of a session holds.

use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::latest::{Latest, latest};
use baton_api::StateView;
use baton_session::{Owner, PartKind, PartRef, Session, State, Unread, parts, redact};
use baton_store::blocking::blocking;
use baton_store::{Snapshot, StoreError};

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
    let notes = snapshot.parts.iter().filter(|part| part.kind == PartKind::Unread);
    let found = context.store.fetch_parts(owner, &notes.cloned().collect::<Vec<_>>()).await?;
    Ok(Unread::of(found.iter().filter_map(|part| part.as_ref().ok())))
}

fn one_line(error: &StoreError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
