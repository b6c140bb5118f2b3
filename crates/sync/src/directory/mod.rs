//! The sync directory: files only, in the spec's places and formats. It knows nothing of a database.
//!
//! ```text
//! <directory>/
//!   index.json            which sessions lie here; made of the files, and made anew when it is damaged
//!   nodes.json            who the node is that keeps the directory, and its peers
//!   sessions/{id}.json    a session: a sync file
//!   set-aside/            files that stood where a session's file belongs and were none
//!   .lock                 held by whoever writes
//! ```
//!
//! The one idea: anybody may put files here: git, Syncthing, a person with a USB stick. So nothing in
//! it is believed, a name least of all, no link is followed, and whatever is written is written beside
//! its place and renamed. Each operation of the spec's `SyncDirectoryManager` has its name here.

mod lists;
mod place;

pub use lists::{
    DirectoryIndex, IndexLine, NodeRegistry, RegisteredPeer, RegistrySelf, SyncConfig,
};
pub use place::{DirectoryError, Mark};

use super::file::{InvalidFile, SyncFile};
use baton_session::{NodeId, PartHash, SessionId, json};
use place::{Lock, list, make_folder, read_whole, write_whole};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SESSIONS: &str = "sessions";
const SET_ASIDE: &str = "set-aside";
const INDEX: &str = "index.json";
const NODES: &str = "nodes.json";
/// How many files are set aside; then the oldest go.
const SET_ASIDE_MAX: usize = 64;
/// The longest list that is read.
const LIST_LIMIT: u64 = 16 << 20;

/// A sync directory.
#[derive(Debug, Clone)]
pub struct SyncDirectory {
    root: PathBuf,
}

impl SyncDirectory {
    /// The directory at `root`; touches nothing.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Makes what is missing, and removes what a writer that was killed left behind.
    pub fn initialize(&self) -> Result<(), DirectoryError> {
        self.ensure_directories()?;
        let _lock = Lock::take(&self.root)?;
        place::remove_leftovers(&self.root)?;
        place::remove_leftovers(&self.root.join(SESSIONS))
    }

    /// Makes the folders that are missing. A link in the place of one is refused.
    pub fn ensure_directories(&self) -> Result<(), DirectoryError> {
        make_folder(&self.root)?;
        make_folder(&self.root.join(SESSIONS))
    }

    /// Writes the file of a session: the old one or the new one is there, never half of one.
    pub fn save_session(&self, file: &SyncFile) -> Result<(Mark, PartHash), DirectoryError> {
        self.save(&file_name(file.session), file)
    }

    /// The same under another name among the sessions. How it looks, and the hash of all its bytes.
    pub fn save(&self, name: &str, file: &SyncFile) -> Result<(Mark, PartHash), DirectoryError> {
        self.ensure_directories()?;
        let _lock = Lock::take(&self.root)?;
        let bytes = file.write();
        let mark = write_whole(&self.root.join(SESSIONS).join(name), &bytes)?;
        Ok((mark, PartHash::of(&bytes)))
    }

    /// The file of a session; none when there is none. One that is no sync file is an error.
    pub fn load_session(&self, session: SessionId) -> Result<Option<SyncFile>, DirectoryError> {
        Ok(self.load(&file_name(session))?.map(|(file, _)| file))
    }

    /// The sync file of this name among the sessions, and the hash of all its bytes.
    pub fn load(&self, name: &str) -> Result<Option<(SyncFile, PartHash)>, DirectoryError> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let invalid = |reason: InvalidFile| DirectoryError::Invalid {
            path: self.root.join(SESSIONS).join(name),
            reason: reason.to_string(),
        };
        Ok(Some((SyncFile::read(&bytes).map_err(invalid)?, PartHash::of(&bytes))))
    }

    /// The hash of all bytes of a file among the sessions.
    pub fn digest(&self, name: &str) -> Result<Option<PartHash>, DirectoryError> {
        Ok(self.read(name)?.map(|bytes| PartHash::of(&bytes)))
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, DirectoryError> {
        read_whole(&self.root.join(SESSIONS).join(name), super::file::FILE_LIMIT)
    }

    /// Removes the file of a session. That it is missing is no error, and means nothing to anybody.
    pub fn delete_session(&self, session: SessionId) -> Result<(), DirectoryError> {
        self.remove(&file_name(session))
    }

    /// Removes a file among the sessions.
    pub fn remove(&self, name: &str) -> Result<(), DirectoryError> {
        let _lock = Lock::take(&self.root)?;
        place::remove(&self.root.join(SESSIONS).join(name))
    }

    /// Moves a file from among the sessions to those that were set aside.
    pub fn set_aside(&self, name: &str) -> Result<(), DirectoryError> {
        let aside = self.root.join(SET_ASIDE);
        make_folder(&aside)?;
        let _lock = Lock::take(&self.root)?;
        place::set_aside(&self.root.join(SESSIONS).join(name), &aside, SET_ASIDE_MAX)
    }

    /// Every file among the sessions, and how it looks.
    pub fn files(&self) -> Result<BTreeMap<String, Mark>, DirectoryError> {
        list(&self.root.join(SESSIONS))
    }

    /// The sessions that lie here, from their files. One that is damaged is left out.
    pub fn list_sessions(&self, keeper: NodeId) -> Result<DirectoryIndex, DirectoryError> {
        let mut lines = Vec::new();
        for (name, mark) in self.files()? {
            if let Ok(Some((file, _))) = self.load(&name)
                && file_name(file.session) == name
                && !file.head.sync.deleted
            {
                lines.push(IndexLine::of(&file, mark.bytes));
            }
        }
        Ok(DirectoryIndex::of(keeper, lines))
    }

    /// The index; one that is missing or damaged is made anew of the files.
    pub fn get_index(&self, keeper: NodeId) -> Result<DirectoryIndex, DirectoryError> {
        match self.read_list(INDEX)? {
            Some(index) => Ok(index),
            None => self.rebuild_index(keeper),
        }
    }

    /// Makes the index of the files, and writes it.
    pub fn rebuild_index(&self, keeper: NodeId) -> Result<DirectoryIndex, DirectoryError> {
        let index = self.list_sessions(keeper)?;
        self.save_index(&index)?;
        Ok(index)
    }

    /// Writes the index, unless one is there that says the same of the sessions, whoever wrote it.
    pub fn save_index(&self, index: &DirectoryIndex) -> Result<(), DirectoryError> {
        let found = self.read_list::<DirectoryIndex>(INDEX)?;
        if found.is_some_and(|found| found.sessions == index.sessions) {
            return Ok(());
        }
        self.write_list(INDEX, index)
    }

    /// Who keeps the directory; none when nobody says, or nobody can tell any more.
    pub fn load_node_registry(&self) -> Result<Option<NodeRegistry>, DirectoryError> {
        self.read_list(NODES)
    }

    /// Writes who keeps the directory, unless another node does, or it says so already. Who was heard
    /// when is no reason to write.
    pub fn save_node_registry(&self, registry: &NodeRegistry) -> Result<(), DirectoryError> {
        match self.load_node_registry()? {
            Some(found) if found.is_of_another(registry) || found.says_the_same(registry) => Ok(()),
            _ => self.write_list(NODES, registry),
        }
    }

    /// One that is damaged is as good as none.
    fn read_list<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, DirectoryError> {
        let bytes = read_whole(&self.root.join(name), LIST_LIMIT)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    fn write_list(&self, name: &str, list: &impl serde::Serialize) -> Result<(), DirectoryError> {
        let _lock = Lock::take(&self.root)?;
        write_whole(&self.root.join(name), json::lines(list).as_bytes()).map(drop)
    }
}

/// What the file of a session is called.
pub fn file_name(session: SessionId) -> String {
    format!("{session}.json")
}

/// The name of a session's own place, or of the place beside it that belongs to one node.
pub fn place_of(session: SessionId, node: Option<NodeId>) -> String {
    node.map_or_else(|| file_name(session), |node| format!("{session}.{node}.json"))
}
