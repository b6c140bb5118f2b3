//! What tells commands where the running node is.

use baton_session::NodeId;
use serde::{Deserialize, Serialize};
use url::Url;

/// `node.json`: written when the node is ready, removed when it ends as it should. After a crash
/// it is left behind, so a reader asks the address before it believes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFile {
    /// Where the node listens; written as it is typed, without a slash at its end.
    #[serde(serialize_with = "bare")]
    pub url: Url,
    /// Its process.
    pub pid: u32,
    /// Which node it is.
    pub node_id: NodeId,
}

/// An address to which a path can be added.
fn bare<S: serde::Serializer>(url: &Url, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(url.as_str().trim_end_matches('/'))
}
