//! The exchange folder: the only place where tools write files and read them.
//!
//! `<data>/exchange/<owner>`, so that no owner's tools reach a file of another. A file is named, never
//! a path, and is not followed elsewhere.

use super::answer::Failure;
use crate::error::NodeError;
use baton_api::Invalid;
use baton_runtime::sessions::FILE_LIMIT;
use baton_session::Owner;
use baton_store::blocking::blocking;
use baton_store::data::named::{is_file_name, open_plain};
use baton_store::data::{DataError, DataFolder, write_private};
use std::fs::DirBuilder;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder of an owner.
pub(super) struct Exchange(PathBuf);

impl Exchange {
    pub(super) fn of(data: &DataFolder, owner: &Owner) -> Self {
        Self(data.exchange().join(folder_name(owner)))
    }

    /// Whether a file may have this name.
    pub(super) fn takes(name: &str) -> bool {
        is_file_name(name)
    }

    /// Where a file of this name is.
    pub(super) fn path(&self, name: &str) -> Result<PathBuf, Failure> {
        if !Self::takes(name) {
            return Err(refused(&self.0, "another name"));
        }
        Ok(self.0.join(name))
    }

    /// Whether there is something of this name.
    pub(super) async fn holds(&self, name: &str) -> Result<bool, Failure> {
        Ok(tokio::fs::symlink_metadata(self.path(name)?).await.is_ok())
    }

    /// Writes a file, 0600, whole or not at all.
    pub(super) async fn write(&self, name: &str, text: String) -> Result<PathBuf, Failure> {
        let (folder, path) = (self.0.clone(), self.path(name)?);
        let written = blocking(move || {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
            made.map_err(|source| DataError::Io { path: folder, source })?;
            write_private(&path, text.as_bytes())?;
            Ok(path)
        });
        written.await.map_err(NodeError::from)?.map_err(failed)
    }

    /// Reads a file, a bounded one.
    pub(super) async fn read_bytes(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let (folder, path, name) = (self.0.clone(), self.path(name)?, name.to_owned());
        let place = folder.clone();
        let read = move || read(&place, &name).map_err(|source| DataError::Io { path, source });
        match blocking(read).await.map_err(NodeError::from)? {
            Ok(bytes) if bytes.len() <= FILE_LIMIT => Ok(bytes),
            Ok(_) => Err(refused(&folder, "a larger file than 128 MiB")),
            Err(DataError::Io { source, .. }) => Err(refused(&folder, &source.to_string())),
            Err(error) => Err(failed(error)),
        }
    }
}

fn read(folder: &Path, name: &str) -> std::io::Result<Vec<u8>> {
    let file = open_plain(folder, name)?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(FILE_LIMIT).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn refused(folder: &Path, found: &str) -> Failure {
    let expected = "the name of a readable file in the exchange folder";
    let found = format!("{found}; the folder is {}", folder.display());
    Invalid { field: "file", expected, found }.into()
}

fn failed(error: DataError) -> Failure {
    NodeError::Exchange(error).into()
}

/// An owner's name as that of a folder: what might be more than a name is written in hex.
fn folder_name(owner: &Owner) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let written = |byte| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02x}"),
    };
    owner.as_str().bytes().map(written).collect()
}
