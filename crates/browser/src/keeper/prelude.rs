//! The prelude: what a keeper says to targets before their first script.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call that the keeper makes for every target of some kinds before its first script, or once if it is
/// of the domain `Browser`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreludeCall {
    /// A CDP method, such as `Emulation.setGeolocationOverride`.
    pub method: String,
    /// Its parameters.
    #[serde(default)]
    pub params: Value,
    /// On which kinds of target; on pages alone when none is named, as of those who know no other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetKind>,
}

impl PreludeCall {
    /// Whether it is made on targets of this kind.
    pub fn is_for(&self, kind: TargetKind) -> bool {
        match self.targets[..] {
            [] => kind == TargetKind::Page,
            _ => self.targets.contains(&kind),
        }
    }
}

/// A kind of target that can be prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A page, with those of its frames that are in its process.
    Page,
    /// A frame in a process of its own.
    Frame,
    /// A dedicated, a shared or a service worker.
    Worker,
}

impl TargetKind {
    /// The kind of what the browser calls so; none of what is never prepared.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "page" => Some(Self::Page),
            "iframe" => Some(Self::Frame),
            "worker" | "shared_worker" | "service_worker" => Some(Self::Worker),
            _ => None,
        }
    }
}
