//! What users do at their nodes, and what they have seen when they do it.

use super::edits::{Edits, edit, seen};
use super::world::World;
use crate::sync::pair::{capture, save};
use baton_api::sync::ResolveConflict;

impl World {
    /// A browser captures a change on top of what stands at a node.
    pub(super) async fn edit(&mut self, at: usize, site: u8, is_saved: bool) {
        let Some(mut state) = self.members[at].working(self.session).await else { return };
        if self.edits == Edits::BITS {
            return;
        }
        edit(&mut state, site, self.edits);
        capture(&self.members[at].node, self.session, &state).await;
        self.members[at].promised.acknowledged |= 1 << self.edits;
        self.edits += 1;
        if is_saved {
            self.save(at).await;
        }
    }

    pub(super) async fn save(&mut self, at: usize) {
        let Some(state) = self.members[at].working(self.session).await else { return };
        save(&self.members[at].node, &self.session.to_string()).await;
        self.members[at].promised.published |= seen(&state);
    }

    pub(super) async fn save_everywhere(&mut self) {
        for at in 0..self.members.len() {
            self.save(at).await;
        }
    }

    /// Somebody who was shown all that there is deletes the session.
    pub(super) async fn delete(&mut self, at: usize) {
        let member = &mut self.members[at];
        if member.replica(self.session).await.current().is_none_or(|current| current.deleted) {
            return;
        }
        let shown = member.all(self.session).await;
        member.client().delete_synced_session(&self.session.to_string()).await.unwrap();
        member.promised.ended |= shown;
        member.promised.published |= shown;
        self.deleted.push(shown);
    }

    /// Somebody who was shown all that there is keeps one of the revisions.
    pub(super) async fn resolve(&mut self, at: usize, keep: u8) {
        let member = &mut self.members[at];
        let conflicts = member.client().list_conflicts().await.unwrap().items;
        let is_here = member.working(self.session).await.is_some();
        let Some(conflict) = conflicts.first().filter(|_| is_here) else { return };
        let revisions: Vec<_> = std::iter::once(&conflict.current)
            .chain(&conflict.siblings)
            .map(|one| one.rev)
            .collect();
        let kept = revisions[usize::from(keep) % revisions.len()];
        let shown = member.all(self.session).await;
        let left = member.contents(self.session).await[&kept];
        let request = ResolveConflict { keep: kept.to_string() };
        let session = self.session.to_string();
        member.client().resolve_conflict(&session, &request).await.unwrap();
        member.promised.ended = (member.promised.ended | shown) & !left;
        member.promised.published |= shown;
        self.has_chosen = true;
    }
}
