//! The sync directory: files only, in the spec's places and formats. It knows nothing of a database.
//!
//! ```text
//! <directory>/
//!   index.json            which sessions lie here; made of the files, and made anew when it is damaged
//!   nodes.json            who the node is that keeps the directory, and its peers
//!   sessions/{id}.json    a session: a sync file
//!   set-aside/            files that stood where a session's file belongs and were none
//!   .lock                 held by the process that writes
//! ```
//!
//! The one idea: anybody may put files here: git, Syncthing, a person with a USB stick. So nothing in
//! it is believed, a name least of all, no link is followed, and whatever is written is written beside
//! its place and renamed. Each operation of the spec's `SyncDirectoryManager` has its name here.

mod place;

pub use place::{DirectoryError, Mark};

use crate::file::{InvalidFile, SyncFile};
use baton_session::wire::NodeType;
use baton_session::{NodeId, PartHash, SessionId, json};
use jiff::Timestamp;
use place::{Lock, list, make_folder, read_whole, write_whole};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
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
        let _lock = Lock::acquire(&self.root)?;
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
        let _lock = Lock::acquire(&self.root)?;
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
        let _lock = Lock::acquire(&self.root)?;
        place::remove(&self.root.join(SESSIONS).join(name))
    }

    /// Moves a file from among the sessions to those that were set aside.
    pub fn set_aside(&self, name: &str) -> Result<(), DirectoryError> {
        let aside = self.root.join(SET_ASIDE);
        make_folder(&aside)?;
        let _lock = Lock::acquire(&self.root)?;
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

    /// Writes the index, unless one is there, of whichever node, that says the same of the sessions.
    pub fn save_index(&self, index: &DirectoryIndex) -> Result<(), DirectoryError> {
        let found = self.read_list::<DirectoryIndex>(INDEX)?;
        if found.is_some_and(|found| found.sessions == index.sessions) {
            return Ok(());
        }
        self.write_list(INDEX, index)
    }

    /// Who keeps the directory; none when that is not said, or not known any more.
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
        let _lock = Lock::acquire(&self.root)?;
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

/// `index.json`: which sessions lie in the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryIndex {
    /// The node that wrote the list.
    pub node_id: NodeId,
    /// When the last of the sessions changed.
    pub last_updated: Option<Timestamp>,
    /// The sessions, by id.
    pub sessions: Vec<IndexLine>,
}

/// One session of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexLine {
    /// Which one.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// The number of its current revision: a hint.
    pub version: u64,
    /// The checksum of its state.
    pub checksum: String,
    /// When the current revision was written.
    pub last_modified: Option<Timestamp>,
    /// The node at which it was opened first.
    pub origin_node_id: String,
    /// Bytes of its file.
    pub size: u64,
}

/// `nodes.json`: who keeps the directory, and whom that node knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeRegistry {
    /// The node that keeps the directory.
    #[serde(rename = "self")]
    pub own: RegistrySelf,
    /// Its peers.
    pub peers: Vec<RegisteredPeer>,
    /// How it syncs.
    pub sync_config: SyncConfig,
}

/// The node that keeps a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrySelf {
    /// Which node.
    pub node_id: NodeId,
    /// How it is deployed.
    pub node_type: NodeType,
    /// Where the world asks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Where its own network asks it; empty when others cannot.
    pub internal_url: String,
}

/// A peer of that node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredPeer {
    /// Which node.
    pub node_id: NodeId,
    /// How it is deployed.
    pub node_type: NodeType,
    /// Where it is asked; empty when only it can ask.
    pub url: String,
    /// What people call it.
    pub name: String,
    /// When it was heard last, as far as was known when the list was written.
    pub last_seen: Option<Timestamp>,
    /// When sessions moved last.
    pub last_sync: Option<Timestamp>,
    /// `unknown`: a file cannot tell.
    pub status: String,
    /// How it is asked: `msal`, `apikey` or `tunnel`.
    pub auth_method: String,
}

/// How a node syncs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncConfig {
    /// Whether what is saved goes to every peer at once.
    pub auto_sync: bool,
    /// Milliseconds between two comparisons; 0 means never.
    pub sync_interval: u64,
    /// `latest-wins`, `manual` or `merge`.
    pub conflict_resolution: String,
}

impl DirectoryIndex {
    /// The index of these sessions.
    pub fn of(keeper: NodeId, mut sessions: Vec<IndexLine>) -> Self {
        sessions.sort_by(|one, other| one.id.cmp(&other.id));
        let last_updated = sessions.iter().filter_map(|session| session.last_modified).max();
        Self { node_id: keeper, last_updated, sessions }
    }
}

impl IndexLine {
    /// The line of a file that has this many bytes.
    pub fn of(file: &SyncFile, bytes: u64) -> Self {
        Self {
            id: file.session.to_string(),
            name: file.head.name.clone(),
            version: file.head.sync.version,
            checksum: file.head.sync.checksum.clone(),
            last_modified: file.head.sync.last_modified,
            origin_node_id: file.head.origin.node_id.clone(),
            size: bytes,
        }
    }
}

impl NodeRegistry {
    /// Whether another node keeps the directory than the one of `other`.
    fn is_of_another(&self, other: &Self) -> bool {
        self.own.node_id != other.own.node_id
    }

    /// Whether both say the same of what does not change by itself.
    fn says_the_same(&self, other: &Self) -> bool {
        self.lasting() == other.lasting()
    }

    fn lasting(&self) -> Self {
        let mut lasting = self.clone();
        for peer in &mut lasting.peers {
            (peer.last_seen, peer.last_sync) = (None, None);
        }
        lasting
    }
}
