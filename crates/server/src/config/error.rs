//! How a configuration can be wrong.

use baton_net::exposure::NotLoopback;
use baton_proxy::OpenCocoon;
use baton_store::data::DataError;
use std::path::PathBuf;

/// A setting that makes no sense; the text says where it stands.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("expected a settings file at {}, found: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not TOML, or has a key that is not known.
    #[error("expected valid settings in {} at line {line}, found: {message}", path.display())]
    NotUnderstood {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What does not fit.
        message: String,
    },
    /// Browsers were to see a folder that gives the data folder away.
    #[error("browser.files: {0}")]
    Folder(DataError),
    /// A value is out of its range.
    #[error("{origin}: expected {key} to be {expected}, found {found}")]
    Invalid {
        /// The file, or the flags and the environment.
        origin: String,
        /// Which setting.
        key: &'static str,
        /// What it may be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// An address that others can reach, in clear text.
    #[error(transparent)]
    NotLoopback(#[from] NotLoopback),
    /// A cocoon that wants no key, where others can reach it.
    #[error(transparent)]
    OpenCocoon(#[from] OpenCocoon),
    /// Only one of the two files that TLS takes.
    #[error("expected both server.tls.certificate and server.tls.key, found only {found}")]
    HalfTls {
        /// Which one.
        found: &'static str,
    },
}
