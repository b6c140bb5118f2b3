//! The audit log: who did what, and how it ended.

pub use baton_session::audit::AuditOutcome;

use baton_session::{AuditId, Owner};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

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
