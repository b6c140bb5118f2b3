//! What nodes hold of a session: in its snapshots, and in the revisions that count; and how it stands at each
//! node, as is seen before a verb and after.

use crate::stage::Stage;
use anyhow::{Result, ensure};
use baton_session::{AgentName, Lifecycle, NodeId, Owner, Part, PartRef, SessionId, State, parts};
use baton_store::{Snapshot, Store, StoreError};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Names of cookies.
pub(crate) type Marks = BTreeSet<String>;

/// Whose sessions are walked.
pub(crate) fn owner() -> Result<Owner> {
    Ok("local".parse()?)
}

/// What a resume at a node would bring back, and all that its revisions hold that nothing covers.
pub(crate) async fn at(stage: &impl Stage, at: usize, session: SessionId) -> Result<Marks> {
    let (store, owner) = (stage.store(at), owner()?);
    let mut held = Marks::new();
    if let Some(snapshot) = store.last_good_snapshot(session).await? {
        held.extend(of(store, snapshot).await?);
    }
    if let Some((_, shared)) = store.fetch_shared(&owner, session).await? {
        for revision in shared.replica.whole().filter(|revision| !revision.deleted) {
            let content = store.fetch_content(&owner, session, revision.id()).await?;
            if let Some(content) = content {
                held.extend(read(store, content.parts).await?);
            }
        }
    }
    Ok(held)
}

/// All snapshots of a session at a node, for whoever reads of a loss.
pub(crate) async fn tell(stage: &impl Stage, at: usize, session: SessionId) -> Result<String> {
    let mut told = String::new();
    for snapshot in history(stage, at, session).await? {
        let Snapshot { id, reason, sibling, shrunk, taken_at, .. } = &snapshot;
        let _ = write!(
            told,
            "\n  node {at}: {id} {taken_at} {reason:?} sibling {sibling} shrunk {shrunk}"
        );
        let marks = of(stage.store(at), snapshot).await?;
        let _ = write!(told, " {marks:?}");
    }
    Ok(told)
}

/// The snapshots of a session at a node, the newest first.
pub(crate) async fn history(
    stage: &impl Stage,
    at: usize,
    session: SessionId,
) -> Result<Vec<Snapshot>> {
    let found = stage.store(at).list_history(session, None, 50).await?;
    Ok(found.into_iter().collect::<Result<_, StoreError>>()?)
}

/// What a snapshot holds.
pub(crate) async fn of(store: &Store, snapshot: Snapshot) -> Result<Marks> {
    read(store, snapshot.parts).await
}

async fn read(store: &Store, parts: Vec<PartRef>) -> Result<Marks> {
    let wanted: Vec<PartRef> = parts.into_iter().filter(|part| !part.kind.is_picture()).collect();
    let found = store.fetch_parts(&owner()?, &wanted).await?;
    let found: Vec<Part> = found.into_iter().collect::<Result<_, StoreError>>()?;
    let (state, invalid) = parts::join(&found);
    ensure!(invalid.is_empty(), "parts are damaged: {invalid:?}");
    Ok(marks(&state))
}

/// The names of a state's cookies.
pub(crate) fn marks(state: &State) -> Marks {
    state.cookies.iter().map(|cookie| cookie.name.clone()).collect()
}

/// How things stand before a verb.
pub(crate) struct Before {
    pub(crate) marks: [Option<Marks>; 2],
    pub(crate) looks: [Option<Look>; 2],
    /// Whether both nodes run, and nothing stands still.
    pub(crate) is_calm: bool,
    /// Whether nothing changes by itself.
    pub(crate) is_settled: bool,
}

/// How a session stands at a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) browser: Option<u64>,
    pub(crate) state: Option<Lifecycle>,
    pub(crate) agent: Option<AgentName>,
    /// Whether this node holds it, as far as peers go.
    pub(crate) is_held: bool,
    pub(crate) has_conflicts: bool,
    pub(crate) home: Option<NodeId>,
}
