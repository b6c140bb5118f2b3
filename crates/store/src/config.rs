//! What to open: where the database is, the key that opens it, and how large things may grow.

use crate::master_key::MasterKey;
use baton_session::write_back::Bounds;
use secrecy::{ExposeSecret, SecretString};
use sqlx::ConnectOptions;
use sqlx::any::AnyConnectOptions;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use url::Url;

/// What [`Store::open`](crate::Store::open) needs.
#[derive(Debug)]
pub struct Config {
    /// Where the database is.
    pub database: DatabaseUrl,
    /// The key that unwraps the database's own key.
    pub key: MasterKey,
    /// How large things may grow.
    pub limits: Limits,
}

/// The most bytes that a list of parts may have: 20,000 parts with names of 3 kB each.
pub(crate) const MANIFEST_MAX: u64 = 64 << 20;

/// How large things may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of one part, before compression.
    pub part_bytes: u64,
    /// The most parts of one snapshot.
    pub snapshot_parts: usize,
    /// The most bytes that parts of one owner may have together, as they are stored, while they wait for
    /// the snapshots that will name them.
    pub staged_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { part_bytes: 64 << 20, snapshot_parts: 20_000, staged_bytes: 2 << 30 }
    }
}

impl Limits {
    /// How much one snapshot holds at most.
    pub fn of_a_snapshot(&self) -> Bounds {
        // A list that says how it differs from another one names what is gone, too.
        let list_bytes = MANIFEST_MAX / 2;
        Bounds { part_bytes: self.part_bytes, parts: self.snapshot_parts, list_bytes }
    }
}

/// Where the database is. Its `Debug` and `Display` show no password.
#[derive(Clone)]
pub enum DatabaseUrl {
    /// A SQLite file; it is made, with mode 0600, when it does not exist.
    Sqlite(PathBuf),
    /// A `postgres://` address, whose password is a secret.
    Postgres(SecretString),
}

/// Which database speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// A text that is not the address of a database. It is not repeated, for it may hold a password.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a path or \"postgres://user@host/database\" as the database, found {found}")]
pub struct InvalidDatabaseUrl {
    /// What was wrong, without the text itself.
    pub found: String,
}

impl DatabaseUrl {
    pub(crate) fn engine(&self) -> Engine {
        match self {
            Self::Sqlite(_) => Engine::Sqlite,
            Self::Postgres(_) => Engine::Postgres,
        }
    }

    /// The options with which sqlx connects. Statements are not logged.
    pub(crate) fn options(&self) -> Result<AnyConnectOptions, InvalidDatabaseUrl> {
        let url = match self {
            Self::Sqlite(path) => sqlite_url(path)?,
            Self::Postgres(url) => parse(url.expose_secret())?,
        };
        AnyConnectOptions::from_url(&url)
            .map(ConnectOptions::disable_statement_logging)
            .map_err(|error| invalid(error.to_string()))
    }
}

/// The file must exist already: SQLite would make it with the permissions of the umask.
fn sqlite_url(path: &Path) -> Result<Url, InvalidDatabaseUrl> {
    let absolute = std::path::absolute(path).map_err(|error| invalid(error.to_string()))?;
    let file = Url::from_file_path(&absolute)
        .map_err(|()| invalid("a path that is not absolute".to_owned()))?;
    parse(&format!("sqlite://{}?mode=rw", file.path()))
}

fn parse(text: &str) -> Result<Url, InvalidDatabaseUrl> {
    Url::parse(text).map_err(|error| invalid(format!("an address with an {error}")))
}

fn invalid(found: String) -> InvalidDatabaseUrl {
    InvalidDatabaseUrl { found }
}

impl FromStr for DatabaseUrl {
    type Err = InvalidDatabaseUrl;

    fn from_str(text: &str) -> Result<Self, InvalidDatabaseUrl> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            parse(text)?;
            return Ok(Self::Postgres(text.to_owned().into()));
        }
        let path = match text.strip_prefix("sqlite:") {
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None => text,
        };
        match path.split_once("://") {
            Some((scheme, _)) => Err(invalid(format!("the scheme {scheme:?}"))),
            None if path.is_empty() => Err(invalid("nothing".to_owned())),
            None => Ok(Self::Sqlite(path.into())),
        }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "{}", path.display()),
            Self::Postgres(url) => match Url::parse(url.expose_secret()) {
                // Neither user information nor the query is shown: both can hold a password.
                Ok(url) => {
                    let host = url.host_str().unwrap_or_default();
                    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                    write!(f, "postgres://{host}{port}{}", url.path())
                }
                Err(_) => f.write_str("postgres://"),
            },
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}
