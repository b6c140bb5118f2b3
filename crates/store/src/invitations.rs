//! Invitations as rows, and where a node listens for peers: `create redeem list delete`.
//!
//! The one idea: what counts once is used up on disk before anybody hears what it is worth. An invitation
//! is of one node, by whose clock it ends; what it keeps of its secret checks proofs, and opens nothing.

use crate::error::StoreError;
use crate::row::{instant, maybe_instant, refuse_nul, word};
use crate::store::Store;
use baton_session::invitation::InvitationKey;
use baton_session::{NodeId, Owner};
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;

/// An invitation to be the peer of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredInvitation {
    /// Whose peer the node that joins will be.
    pub owner: Owner,
    /// The node that invites.
    pub node: NodeId,
    /// What checks who has the secret; the id of the invitation follows from it.
    pub key: InvitationKey,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it counts.
    pub expires_at: Timestamp,
    /// When a node has joined by it.
    pub redeemed_at: Option<Timestamp>,
}

impl StoredInvitation {
    /// What it is called.
    pub fn id(&self) -> String {
        self.key.id()
    }

    /// Whether it counts.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.redeemed_at.is_none() && now < self.expires_at
    }
}

fn decode(row: &AnyRow) -> Result<StoredInvitation, StoreError> {
    Ok(StoredInvitation {
        owner: word(row, "owner")?,
        node: word(row, "node")?,
        key: word(row, "invitation_key")?,
        created_at: instant(row, "created_at")?,
        expires_at: instant(row, "expires_at")?,
        redeemed_at: maybe_instant(row, "redeemed_at")?,
    })
}

fn not_found(id: &str) -> StoreError {
    StoreError::InvitationNotFound { id: id.chars().take(40).collect() }
}

impl Store {
    /// Stores an invitation, and forgets those of its owner that count no more. Fails with
    /// `TooManyInvitations` when `most` of them are open at the node.
    pub async fn create_invitation(
        &self,
        invitation: &StoredInvitation,
        most: usize,
    ) -> Result<(), StoreError> {
        let (owner, node) = (invitation.owner.as_str(), invitation.node.to_string());
        let mut write = self.write().await?;
        sqlx::query(
            "delete from invitations where owner = $1 and node = $2
             and (expires_at <= $3 or redeemed_at is not null)",
        )
        .bind(owner)
        .bind(&node)
        .bind(invitation.created_at.as_millisecond())
        .execute(write.connection())
        .await?;
        let open = sqlx::query("select id from invitations where owner = $1 and node = $2");
        let open = open.bind(owner).bind(&node).fetch_all(write.connection()).await?;
        if open.len() >= most {
            return Err(StoreError::TooManyInvitations { most });
        }
        sqlx::query(
            "insert into invitations
                 (id, owner, node, invitation_key, created_at, expires_at, redeemed_at)
             values ($1, $2, $3, $4, $5, $6, null)",
        )
        .bind(invitation.id())
        .bind(owner)
        .bind(&node)
        .bind(invitation.key.to_string())
        .bind(invitation.created_at.as_millisecond())
        .bind(invitation.expires_at.as_millisecond())
        .execute(write.connection())
        .await?;
        write.commit().await
    }

    /// The invitation of a node with this id that is open `now`. Fails with `InvitationNotFound`.
    pub async fn find_invitation(
        &self,
        node: NodeId,
        id: &str,
        now: Timestamp,
    ) -> Result<StoredInvitation, StoreError> {
        if id.contains('\0') {
            return Err(not_found(id));
        }
        let row = sqlx::query(
            "select owner, node, invitation_key, created_at, expires_at, redeemed_at
             from invitations where id = $1 and node = $2",
        )
        .bind(id)
        .bind(node.to_string())
        .fetch_optional(self.pool())
        .await?;
        let found = row.map(|row| decode(&row)).transpose()?;
        found.filter(|found| found.is_open(now)).ok_or_else(|| not_found(id))
    }

    /// Uses an invitation up, the one time that this succeeds; that is on disk when this returns. Fails with
    /// `InvitationNotFound` when it was used or has ended meanwhile.
    pub async fn redeem_invitation(
        &self,
        invitation: &StoredInvitation,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let id = invitation.id();
        let mut write = self.write().await?;
        let redeemed = sqlx::query(
            "update invitations set redeemed_at = $3
             where id = $1 and node = $2 and redeemed_at is null and expires_at > $3",
        )
        .bind(&id)
        .bind(invitation.node.to_string())
        .bind(now.as_millisecond())
        .execute(write.connection())
        .await?;
        if redeemed.rows_affected() == 0 {
            return Err(not_found(&id));
        }
        write.commit().await
    }

    /// The invitations of an owner at a node that are open `now`, the oldest first.
    pub async fn list_invitations(
        &self,
        owner: &Owner,
        node: NodeId,
        now: Timestamp,
    ) -> Result<Vec<StoredInvitation>, StoreError> {
        let rows = sqlx::query(
            "select owner, node, invitation_key, created_at, expires_at, redeemed_at
             from invitations where owner = $1 and node = $2 order by created_at, id",
        )
        .bind(owner.as_str())
        .bind(node.to_string())
        .fetch_all(self.pool())
        .await?;
        let all = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(all.into_iter().filter(|one| one.is_open(now)).collect())
    }

    /// Takes an open invitation of the owner back. Fails with `InvitationNotFound`.
    pub async fn delete_invitation(
        &self,
        owner: &Owner,
        node: NodeId,
        id: &str,
    ) -> Result<(), StoreError> {
        if id.contains('\0') {
            return Err(not_found(id));
        }
        let mut write = self.write().await?;
        let gone = sqlx::query(
            "delete from invitations
             where id = $1 and owner = $2 and node = $3 and redeemed_at is null",
        )
        .bind(id)
        .bind(owner.as_str())
        .bind(node.to_string())
        .execute(write.connection())
        .await?;
        if gone.rows_affected() == 0 {
            return Err(not_found(id));
        }
        write.commit().await
    }
}

impl Store {
    /// Where a node listens for peers, besides its settings.
    pub async fn fetch_peer_listener(&self, node: NodeId) -> Result<Option<String>, StoreError> {
        let row = sqlx::query("select listens from identities where node = $1")
            .bind(node.to_string())
            .fetch_optional(self.pool())
            .await?;
        Ok(row.map(|row| row.try_get("listens")).transpose()?.flatten())
    }

    /// Notes where a node listens for peers from now on, or that it does not.
    pub async fn set_peer_listener(
        &self,
        node: NodeId,
        listens: Option<&str>,
    ) -> Result<(), StoreError> {
        refuse_nul("an address", listens.unwrap_or_default())?;
        let mut write = self.write().await?;
        sqlx::query("update identities set listens = $2 where node = $1")
            .bind(node.to_string())
            .bind(listens)
            .execute(write.connection())
            .await?;
        write.commit().await
    }
}
