//! Local keys: the keys of the owner `local` that the data folders of nodes hold.

use crate::api_keys::ApiKey;
use crate::audit::AuditEntry;
use crate::error::StoreError;
use crate::store::Store;
use baton_session::{AuditOutcome, NodeId, Owner};
use jiff::Timestamp;

/// The name of the key among those of the owner `local`.
const NAME: &str = "local-admin";

/// The name of a node's local key. A node that shares its database with others, `shared_by`, has a key of
/// its own.
pub fn local_key_name(shared_by: Option<NodeId>) -> String {
    shared_by.map_or(NAME.to_owned(), |node| format!("{NAME}-{node}"))
}

impl Store {
    /// Revokes the local key of this name, and notes that.
    pub async fn revoke_local_key(&self, name: &str, at: Timestamp) -> Result<(), StoreError> {
        self.revoke_local(at, |key| key.name == name).await
    }

    /// Revokes the local keys of all nodes, and notes that: what is restored belongs to a new one, and the
    /// folders of the others may still hold their keys.
    pub async fn revoke_local_keys(&self, at: Timestamp) -> Result<(), StoreError> {
        let is_local = |key: &ApiKey| {
            let node = key.name.strip_prefix(NAME).and_then(|rest| rest.strip_prefix('-'));
            key.name == NAME || node.is_some_and(|node| node.parse::<NodeId>().is_ok())
        };
        self.revoke_local(at, is_local).await
    }

    /// Revokes those that are not revoked yet.
    async fn revoke_local(
        &self,
        at: Timestamp,
        is_meant: impl Fn(&ApiKey) -> bool,
    ) -> Result<(), StoreError> {
        let keys = self.list_keys(&Owner::local()).await?;
        for key in keys.into_iter().filter(|key| key.revoked_at.is_none() && is_meant(key)) {
            self.revoke_key(&key.owner, &key.id, at).await?;
            self.append_audit(&revoked(key, at)).await?;
        }
        Ok(())
    }
}

fn revoked(key: ApiKey, at: Timestamp) -> AuditEntry {
    AuditEntry {
        id: AuditEntry::next_id(at),
        at,
        owner: key.owner,
        actor: AuditEntry::NODE.to_owned(),
        action: AuditEntry::REVOKE_KEY.to_owned(),
        subject: key.id,
        outcome: AuditOutcome::Done,
        detail: serde_json::json!({ "name": key.name }).to_string(),
    }
}
