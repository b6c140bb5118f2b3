//! The file that tells commands where the running node is.

use super::DataFolder;
use super::error::DataError;
use super::node_file::NodeFile;
use super::private::write_private;
use std::io::ErrorKind;

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
