//! API keys: who may ask a node for what; and the audit log: who did what, and how it ended.

pub use baton_session::scope::{AuditOutcome, Scope, UnknownScope};
use baton_session::{AuditId, Fingerprint, Owner};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use utoipa::{IntoParams, ToSchema};

/// Makes a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// What people call it: 1 to 64 characters, unique among the owner's keys that are not revoked.
    pub name: String,
    /// Whose sessions it sees; the caller's own when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// What it allows; at least one.
    pub scopes: BTreeSet<Scope>,
    /// The fingerprint of the node for which alone it is made, as a person has seen it there: that node is
    /// a confirmed peer as soon as it asks with the key, and no other one is let in by it. Needs the scope
    /// `sync` among `scopes`; left out, whichever node shows the key first waits until somebody confirms it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_node: Option<Fingerprint>,
}

/// A key, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeyView {
    /// Which one; not a secret.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Whose sessions it sees.
    pub owner: Owner,
    /// What it allows.
    pub scopes: BTreeSet<Scope>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked; none while it is good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// The fingerprint of the node for which alone it was made; left out when it is for whoever shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_node: Option<Fingerprint>,
}

/// A key just made, with its secret: the only time that it is shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedKey {
    /// The key.
    #[serde(flatten)]
    pub key: KeyView,
    /// What goes behind `Authorization: Bearer`. The node keeps only a hash of it.
    pub secret: String,
}

impl fmt::Debug for CreatedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedKey").field("key", &self.key).finish_non_exhaustive()
    }
}

/// All keys of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeyList {
    /// Also the revoked ones.
    pub items: Vec<KeyView>,
}

/// One entry of the audit log. It never holds a secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditView {
    /// Which entry.
    pub id: AuditId,
    /// When it was made.
    pub at: Timestamp,
    /// To whom belongs what it was done to.
    pub owner: Owner,
    /// Who did it: an API key as `name (id)`, or `node` when the node did it by itself.
    pub actor: String,
    /// What was done, such as `session.resume`.
    pub action: String,
    /// What it was done to: a session's or a key's id. What was asked for, when there is no such
    /// thing.
    pub subject: String,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// More about it; of what failed, `code` is the error's code.
    #[schema(value_type = Object)]
    pub detail: serde_json::Value,
}

/// Which entries a list shows, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListAudit {
    /// Only those about what this owner has. Without the scope `admin` there are no others than the
    /// caller's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub owner: Option<Owner>,
    /// Only those before this one: the `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<AuditId>,
    /// How many at most: 1 to 200, 50 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A page of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditList {
    /// Newest first.
    pub items: Vec<AuditView>,
    /// Give this as `after` to get the next page; none on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<AuditId>,
}
