//! The origin private file system: the folders and files of one storage key.
//!
//! The words are those of the WHATWG's File System. Names are scalar strings: none holds a lone
//! surrogate.

use serde::{Deserialize, Serialize};

/// A folder or a file, by its path from the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The names of the folders above it, outermost first, then its own.
    pub path: Vec<String>,
    /// What is there.
    #[serde(flatten)]
    pub content: FileContent,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileContent {
    /// A folder, which may be empty.
    Folder,
    /// A file.
    File {
        /// Its bytes in base64.
        bytes: String,
    },
}

impl FileEntry {
    /// The path as people write it.
    pub fn place(&self) -> String {
        self.path.join("/")
    }
}
