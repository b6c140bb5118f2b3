//! The file that tells commands where the running node is.

use super::DataFolder;
use super::error::DataError;
use super::private::write_private;
use baton_session::NodeId;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
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

impl NodeFile {
    /// What the data folder says; `None` when it says nothing.
    pub fn read(data: &DataFolder) -> Result<Option<Self>, DataError> {
        let path = data.node_file();
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|source| DataError::NotANodeFile { path, source }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(DataError::Io { path, source }),
        }
    }

    /// Writes it.
    pub fn publish(&self, data: &DataFolder) -> Result<(), DataError> {
        let path = data.node_file();
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|source| DataError::NotANodeFile { path: path.clone(), source })?;
        bytes.push(b'\n');
        write_private(&path, &bytes)
    }

    /// Removes it; one that is gone already is no error.
    pub fn remove(data: &DataFolder) -> Result<(), DataError> {
        let path = data.node_file();
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(DataError::Io { path, source })
            }
            _ => Ok(()),
        }
    }
}
