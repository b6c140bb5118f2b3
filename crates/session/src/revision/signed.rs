//! A revision with the signature of the node that wrote it.
//!
//! The name is kept beside what it names, so a revision is hashed once, when it is made or read.

use super::Revision;
use super::id::RevisionId;
use crate::id::NodeId;
use crate::identity::{BadSignature, NodeKey, NodeSecret, NodeSignature};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// What stands before the bytes that are signed, so that no other signature of a node is one of a
/// revision.
const CONTEXT: &[u8] = b"baton revision v1\0";

/// A revision as its writer signed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub struct Signed {
    id: RevisionId,
    form: Form,
}

/// What travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Form {
    revision: Revision,
    signer: NodeKey,
    signature: NodeSignature,
}

impl Signed {
    /// Signs a revision.
    pub fn new(revision: Revision, secret: &NodeSecret) -> Self {
        let signature = secret.sign(&message(&revision));
        let id = revision.id();
        Self { id, form: Form { revision, signer: secret.key(), signature } }
    }

    /// Its name.
    pub fn id(&self) -> RevisionId {
        self.id
    }

    /// The key of the node that wrote it.
    pub fn signer(&self) -> NodeKey {
        self.form.signer
    }

    /// The node that wrote it.
    pub fn node(&self) -> NodeId {
        self.form.signer.node_id()
    }

    /// What decides between heads: a session that lives before one that was deleted, then the later
    /// one, then an order that is the same everywhere.
    pub(super) fn rank(&self) -> (bool, Timestamp, RevisionId) {
        (!self.deleted, self.modified_at, self.id)
    }

    /// Checks that its signer signed it.
    pub fn verify(&self) -> Result<(), BadSignature> {
        self.form.signer.verify(&message(&self.form.revision), &self.form.signature)
    }
}

fn message(revision: &Revision) -> Vec<u8> {
    [CONTEXT, &revision.canonical()].concat()
}

impl From<Form> for Signed {
    fn from(form: Form) -> Self {
        Self { id: form.revision.id(), form }
    }
}

impl From<Signed> for Form {
    fn from(signed: Signed) -> Self {
        signed.form
    }
}

impl Deref for Signed {
    type Target = Revision;

    fn deref(&self) -> &Revision {
        &self.form.revision
    }
}
