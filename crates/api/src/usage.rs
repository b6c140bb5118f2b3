//! What an owner has over all nodes of a database, and how much of it it may have.

use baton_session::Owner;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Whose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ShowUsage {
    /// The caller's own when left out; another one's with the scope `admin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub owner: Option<Owner>,
}

/// What an owner has, and may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UsageView {
    /// Whose it is.
    #[schema(value_type = String)]
    pub owner: Owner,
    /// Its sessions, whatever state they are in.
    pub sessions: Used,
    /// Its sessions that run now, in a browser or in a sandbox.
    pub browsers: Used,
    /// Its sandboxes now.
    pub sandboxes: Used,
    /// Bytes that are stored of its sessions, sealed. Where there are as many as may be, no session is made; what runs
    /// is captured all the same.
    pub stored_bytes: Used,
}

/// How much of something there is, and may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Used {
    /// How much there is.
    pub used: u64,
    /// How much there may be; nothing bounds it where this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
}
