//! What the scripts return that read databases, caches, files and registrations.

use baton_session::stored::NavigationPreload;
use baton_session::{Cache, Database, FileEntry, Text};
use serde::Deserialize;

/// What `collect.js` returns of databases.
#[derive(Debug, Deserialize)]
pub(crate) struct CollectedDatabases {
    pub(crate) databases: Vec<Database>,
    /// None where the page may have none, or could not list them.
    pub(crate) names: Option<Vec<Text>>,
    /// Why it could not; another try may find them.
    pub(crate) unlisted: Option<String>,
    pub(crate) failures: Vec<DatabaseFailure>,
}

/// A database that could not be read.
#[derive(Debug, Deserialize)]
pub(crate) struct DatabaseFailure {
    pub(crate) database: Text,
    pub(crate) reason: String,
    /// Whether another try would find the same.
    pub(crate) lasting: bool,
}

/// What `collect_stored.js` returns.
#[derive(Debug, Deserialize)]
pub(crate) struct CollectedStored {
    pub(crate) caches: Option<Caches>,
    pub(crate) files: Option<CollectedFiles>,
    pub(crate) workers: Option<Vec<SeenRegistration>>,
    pub(crate) failures: Vec<StoredFailure>,
    /// Whether another document has to be asked for the workers.
    pub(crate) mute: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Caches {
    pub(crate) names: Option<Vec<Text>>,
    pub(crate) caches: Vec<Cache>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CollectedFiles {
    pub(crate) look: Option<String>,
    /// None when they look as they did.
    pub(crate) files: Option<Vec<FileEntry>>,
}

/// A cache or a file that could not be read.
#[derive(Debug, Deserialize)]
pub(crate) struct StoredFailure {
    pub(crate) name: Text,
    pub(crate) reason: String,
    /// Whether another try would find the same.
    pub(crate) lasting: bool,
}

/// What a page tells of a registration.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeenRegistration {
    pub(crate) scope: String,
    pub(crate) script_url: String,
    pub(crate) update_via_cache: String,
    pub(crate) navigation_preload: NavigationPreload,
}
