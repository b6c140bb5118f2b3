//! A node of the simulation: a real one, what was acknowledged there, and how it is asked.

use super::edits::{Edits, seen};
use crate::fixture::Node;
use crate::sync::pair::{again_at, state, store};
use baton_api::{Client, ErrorCode};
use baton_server::config::Choices;
use baton_session::{Owner, Part, PartRef, Replica, RevisionId, SessionId, State, parts};
use baton_store::{Store, StoreError};
use std::collections::HashMap;
use std::path::Path;
use tempfile::TempDir;

/// What users of a node may count on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Promised {
    /// Edits that were captured, saved or received there.
    pub(super) acknowledged: Edits,
    /// Those of them that others receive when they ask.
    pub(super) published: Edits,
    /// Those that somebody, who was shown all that there was, decided against.
    pub(super) ended: Edits,
}

/// A node.
pub(super) struct Member {
    /// Under which name the others know it; a copy of a node is known to nobody.
    pub(super) name: String,
    pub(super) is_copy: bool,
    pub(super) node: Node,
    /// Its database, for whoever looks at it from beside.
    pub(super) store: Store,
    pub(super) choices: Box<dyn Fn() -> Choices>,
    pub(super) promised: Promised,
    /// A copy of its data folder, and what had been promised by then.
    pub(super) backup: Option<(TempDir, Promised)>,
    /// On which side of a parted network it is.
    pub(super) side: bool,
}

impl Member {
    pub(super) fn client(&self) -> Client {
        self.node.admin()
    }

    /// Ends it, lets something happen to its folder, and starts it again at the address that it had.
    pub(super) async fn restart(self, meanwhile: impl FnOnce(&Path)) -> Self {
        let address = self.node.file.url.clone();
        self.store.close().await;
        let folder = self.node.stop().await;
        meanwhile(folder.data.path());
        let node = again_at(folder, &address, (self.choices)()).await;
        Self { store: store(&node).await, node, ..self }
    }

    pub(super) async fn stop(self) {
        self.store.close().await;
        self.node.stop().await;
    }

    /// What it knows of the session's revisions.
    pub(super) async fn replica(&self, session: SessionId) -> Replica {
        let found = self.store.fetch_shared(&local(), session).await.unwrap();
        found.map_or_else(|| Replica::new(session), |(_, shared)| shared.replica)
    }

    /// What a resume would bring back; nothing of a session that is gone.
    pub(super) async fn working(&self, session: SessionId) -> Option<State> {
        match self.client().fetch_session(&session.to_string()).await {
            Ok(_) => Some(state(&self.node, &session.to_string()).await),
            Err(error) if error.code() == Some(ErrorCode::SessionNotFound) => None,
            Err(error) => panic!("expected the session or none: {error}"),
        }
    }

    /// The edits that each revision stands for whose content is here.
    pub(super) async fn contents(&self, session: SessionId) -> HashMap<RevisionId, Edits> {
        let mut contents = HashMap::new();
        for revision in self.replica(session).await.whole() {
            let id = revision.id();
            let edits = if revision.deleted { 0 } else { read(&self.store, session, id).await };
            contents.insert(id, edits);
        }
        contents
    }

    /// All edits that can be had here.
    pub(super) async fn all(&self, session: SessionId) -> Edits {
        let working = self.working(session).await.map_or(0, |state| seen(&state));
        self.contents(session).await.into_values().fold(working, |all, edits| all | edits)
    }
}

/// Reads what a revision holds.
async fn read(store: &Store, session: SessionId, revision: RevisionId) -> Edits {
    let held = store.fetch_content(&local(), session, revision).await.unwrap();
    let held = held.unwrap_or_else(|| panic!("the content of {revision} is gone"));
    let of_state: Vec<PartRef> =
        held.parts.into_iter().filter(|part| !part.kind.is_picture()).collect();
    let found = store.fetch_parts(&local(), &of_state).await.unwrap();
    let found: Vec<Part> = found.into_iter().collect::<Result<_, StoreError>>().unwrap();
    let (state, invalid) = parts::join(&found);
    assert!(invalid.is_empty(), "parts of {revision} are damaged: {invalid:?}");
    seen(&state)
}

/// Whose session it is.
pub(super) fn local() -> Owner {
    "local".parse().unwrap()
}
