//! A session leaves as a file, and a file becomes a session.

use crate::document::FileText;
use crate::session::{SessionView, Tab};
pub use baton_session::ExportFormat;
use baton_session::{Receipt, SessionId, SessionName, SnapshotId, State};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// In which form a session leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportSession {
    /// `session` says everything, `storage-state` what Playwright knows.
    pub format: ExportFormat,
    /// Adds the browser's own folders of databases that hold keys which a site marked as not
    /// extractable. The format must be `session`, and no browser may run for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deep: bool,
}

/// A session as a file.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExportView {
    /// Which session.
    pub id: SessionId,
    /// Its name.
    pub name: SessionName,
    /// The snapshot that the file holds.
    pub snapshot: SnapshotId,
    /// When the browser was read.
    pub taken_at: Timestamp,
    /// The form of the file.
    pub format: ExportFormat,
    /// How much the snapshot holds.
    pub holds: Contents,
    /// What the file does not say: `not_portable` is what the format has no word for, `rejected`
    /// what it has a word for and could not take.
    pub receipt: Receipt,
    /// The file. Whoever has it is logged in.
    #[schema(value_type = Object)]
    pub file: FileText,
}

/// A file that becomes a session.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportSession {
    /// Unique among the owner's sessions that are not closed; that of the file when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<SessionName>,
    /// Free text for people, at most 1000 characters; that of the file when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON document itself: a session file, a Playwright `storageState`, a list of cookies. A
    /// `cookies.txt` is a string.
    #[schema(value_type = serde_json::Value)]
    pub file: FileText,
}

/// A context that a client made in a session's browser (an incognito window, what Playwright's
/// `browser.newContext()` gives). It is not kept, unless that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextView {
    /// The browser's own name for it.
    pub id: String,
    /// Its tabs.
    pub tabs: Vec<Tab>,
}

/// The contexts that clients made in a session's browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextList {
    /// All of them, by their ids.
    pub items: Vec<ContextView>,
}

/// Makes a session of its own of what a context holds now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeepContext {
    /// The id of the context, or the beginning of one; may be left out when there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Unique among the owner's sessions that are not closed.
    pub name: SessionName,
    /// Free text for people, at most 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A session that was made of a file, or of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportView {
    /// The session; a resume brings it to life.
    #[serde(flatten)]
    pub session: SessionView,
    /// How much was taken.
    pub holds: Contents,
    /// What of it was not taken, and why.
    pub left_out: Receipt,
}

/// How much a state holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Contents {
    /// Cookies.
    pub cookies: usize,
    /// Storage keys with localStorage.
    pub local_storage: usize,
    /// IndexedDB databases.
    pub databases: usize,
    /// Tabs.
    pub tabs: usize,
    /// Pairs of tab and storage key with sessionStorage.
    pub session_storage: usize,
}

impl From<&State> for Contents {
    fn from(state: &State) -> Self {
        let origins = || state.origins.values();
        Self {
            cookies: state.cookies.len(),
            local_storage: origins().filter(|origin| !origin.local_storage.is_empty()).count(),
            databases: origins().map(|origin| origin.databases.len()).sum(),
            tabs: state.tabs.len(),
            session_storage: state.tabs.iter().map(|tab| tab.session_storage.len()).sum(),
        }
    }
}
