//! Values of settings: what they may be, and how a configuration can be wrong.

use baton_api::Invalid;
use baton_net::tls::NotLoopback;
use baton_proxy::OpenUpstream;
use baton_store::data::DataError;
use std::fmt::Display;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// A setting that makes no sense; the text says where it is.
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
    /// An upstream service that wants no key, where others can reach it.
    #[error(transparent)]
    OpenUpstream(#[from] OpenUpstream),
    /// Only one of the two files that TLS takes.
    #[error("expected both server.tls.certificate and server.tls.key, found only {found}")]
    HalfTls {
        /// Which one.
        found: &'static str,
    },
}

/// An address with its port.
pub(super) fn address(
    origin: &str,
    key: &'static str,
    text: &str,
) -> Result<SocketAddr, ConfigError> {
    text.parse()
        .map_err(|_| invalid(origin, key, "an address with a port such as 127.0.0.1:7420", text))
}

/// A number within a range.
pub(super) fn number<T: TryFrom<i64>>(
    origin: &str,
    key: &'static str,
    value: Option<i64>,
    range: RangeInclusive<i64>,
) -> Result<Option<T>, ConfigError> {
    let Some(value) = value else { return Ok(None) };
    let expected = || format!("a number from {} to {}", range.start(), range.end());
    let fits = range.contains(&value).then(|| T::try_from(value).ok()).flatten();
    fits.map(Some).ok_or_else(|| invalid(origin, key, expected(), value))
}

/// A value that makes no sense to what gets it.
pub(super) fn refused(origin: &str, why: Invalid) -> ConfigError {
    invalid(origin, why.field, why.expected, why.found)
}

/// A value that a setting cannot have.
pub(super) fn invalid(
    origin: &str,
    key: &'static str,
    expected: impl Display,
    found: impl Display,
) -> ConfigError {
    ConfigError::Invalid {
        origin: origin.to_owned(),
        key,
        expected: expected.to_string(),
        found: found.to_string(),
    }
}
