//! What became of a session: its snapshots, the way back to one of them, and what differs between two.

use crate::session::SnapshotView;
use baton_session::{Diff, SnapshotId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which snapshots a history shows, newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListHistory {
    /// Only those before this one: the `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<SnapshotId>,
    /// How many at most: 1 to 200, 50 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Reads all parts of the snapshots of the page: each says how many of its parts are damaged, and
    /// `resumes_from` minds that too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub verify: bool,
}

/// A page of a session's snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct History {
    /// Newest first.
    pub items: Vec<SnapshotView>,
    /// Those of the page whose list of parts is damaged, so that they cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<SnapshotId>,
    /// The snapshot that a resume would take; none when there is none. Unless `verify` was asked for, parts
    /// are taken to be whole: where some are damaged, a resume may take an older one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes_from: Option<SnapshotId>,
    /// Give this as `after` to get the next page; none on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SnapshotId>,
}

/// Where a session is to go back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollBack {
    /// A snapshot of the session: an id, or a unique prefix of one.
    pub to: String,
}

/// Which snapshots are compared: ids, or unique prefixes of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareSnapshots {
    /// The one before.
    pub a: String,
    /// The one after.
    pub b: String,
}

/// What differs between two snapshots, without a value of either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffView {
    /// The snapshot before.
    pub a: SnapshotView,
    /// The snapshot after.
    pub b: SnapshotView,
    /// What changed from the one to the other.
    #[serde(flatten)]
    pub diff: Diff,
    /// Parts of either that could not be read, and why: they count as not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}
