//! A file that holds a session, as it lies on the disk: read, and opened if it is sealed.

use super::passphrase;
use anyhow::Context as _;
use baton_api::FileText;
use baton_runtime::sessions::FILE_LIMIT;
use baton_session::import::{self, ImportError};
use baton_sync::bundle;
use baton_sync::bundle::Identity;
use secrecy::{ExposeSecret, SecretString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    /// It is not there.
    #[error("expected a file at {}, found none", .0.display())]
    NotThere(PathBuf),
    /// It is too large.
    #[error("expected {} to have at most {limit} bytes, found more", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// How many it may have.
        limit: usize,
    },
    /// It is sealed.
    #[error(
        "expected an identity that opens {}, which is sealed, found none\nname its file with \
         --identity", .0.display()
    )]
    Sealed(PathBuf),
    /// It is of no known kind.
    #[error("{}: {source}", path.display())]
    OtherKind {
        /// Which file.
        path: PathBuf,
        /// What it is.
        source: ImportError,
    },
}

/// The document in the file at `path`; `identity` is the file with what opens a sealed one, unless a
/// passphrase does.
pub(super) fn read(
    path: &Path,
    identity: Option<&Path>,
    passphrase: Option<SecretString>,
) -> anyhow::Result<FileText> {
    // Sealing adds little, and what is in a bundle has its own bound.
    let mut bytes = read_bounded(path, FILE_LIMIT + FILE_LIMIT / 64)?;
    if bundle::is_sealed(&bytes) {
        if bundle::is_by_passphrase(&bytes) {
            let passphrase = passphrase::to_open_bundle(passphrase)?;
            bytes = bundle::open_by_passphrase(&bytes, passphrase, FILE_LIMIT)?;
            return text_of(&bytes, path);
        }
        let Some(identity) = identity else {
            return Err(Unreadable::Sealed(path.to_owned()).into());
        };
        let text = SecretString::from(String::from_utf8(read_bounded(identity, 1 << 20)?)?);
        let identities = Identity::parse_all(text.expose_secret())?;
        bytes = bundle::open(&bytes, &identities, FILE_LIMIT)?;
    }
    text_of(&bytes, path)
}

/// The document in a file that is not sealed.
pub(super) fn plain(path: &Path) -> anyhow::Result<FileText> {
    text_of(&read_bounded(path, FILE_LIMIT)?, path)
}

/// Whether it is a sync file, which only the node opens for which it was sealed.
pub(super) fn is_for_a_node(file: &FileText) -> bool {
    #[derive(serde::Deserialize)]
    struct Sealed {
        #[serde(rename = "sealed")]
        _sealed: serde::de::IgnoredAny,
        #[serde(rename = "signature")]
        _signature: serde::de::IgnoredAny,
    }
    serde_json::from_str::<Sealed>(file.as_str()).is_ok()
}

fn text_of(bytes: &[u8], path: &Path) -> anyhow::Result<FileText> {
    let text = import::text(bytes);
    let text = text.map_err(|source| Unreadable::OtherKind { path: path.to_owned(), source })?;
    Ok(FileText::of(text.into_owned()))
}

/// The bytes of a file that has at most `limit` of them.
pub(super) fn read_bounded(path: &Path, limit: usize) -> anyhow::Result<Vec<u8>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Unreadable::NotThere(path.to_owned()).into());
        }
        file => file.with_context(|| format!("could not read {}", path.display()))?,
    };
    let mut bytes = Vec::new();
    let read = file.take(limit as u64 + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("could not read {}", path.display()))?;
    if bytes.len() > limit {
        return Err(Unreadable::TooLarge { path: path.to_owned(), limit }.into());
    }
    Ok(bytes)
}
