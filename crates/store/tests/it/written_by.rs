//! A node that writes revisions of a session, for those who store them.

use crate::fixture::next_instant;
use baton_session::revision::replica::{Author, Content, Replica};
use baton_session::revision::{Origin, PartList};
use baton_session::{Actor, Epoch, NodeSecret, PartHash, Session, Signed};
use baton_store::Shared;

/// What one node has written of a session.
pub(crate) struct Writer {
    session: Session,
    replica: Replica,
    last: Option<Signed>,
}

impl Writer {
    /// It has written nothing yet.
    pub(crate) fn new(session: &Session) -> Self {
        Self { session: session.clone(), replica: Replica::new(session.id), last: None }
    }

    /// Writes a revision on top of the last one.
    pub(crate) fn edit(&mut self, what: &str) -> Signed {
        let content = self.content(what);
        let signed = self.replica.edit(self.last.as_ref(), content, &author());
        self.last = Some(signed.clone());
        signed
    }

    /// Deletes the session.
    pub(crate) fn delete(&mut self) {
        let origin = self.content("").origin;
        let content = Content::deleted(self.session.name.clone(), origin);
        self.replica.delete(content, &author());
    }

    /// What is held of it.
    pub(crate) fn shared(&self) -> Shared {
        Shared { replica: self.replica.clone(), base: None, peer_lease: None }
    }

    fn content(&self, what: &str) -> Content {
        Content {
            checksum: PartHash::of(what.as_bytes()),
            parts: PartList::new(&[]).hash(),
            size: 0,
            name: self.session.name.clone(),
            description: self.session.description.clone(),
            origin: Origin {
                node: self.session.node,
                created_at: self.session.created_at,
                created_by: self.session.owner.to_string(),
            },
        }
    }
}

fn author() -> Author {
    let secret = NodeSecret::from_seed(&[3; 32]);
    let actor = Actor::new(secret.key().node_id(), Epoch::new([3; 8]));
    Author { actor, secret, now: next_instant() }
}
