//! What is known of the files of the sync directory, so that each is read once, and who can read what lies there.
//!
//! The one idea: a file there is one whole, sealed for all its readers alike. Who is given less than everything is
//! none of them.

use crate::directory::{IndexLine, Mark, file_name};
use crate::file::SyncFile;
use crate::identity::SealKey;
use baton_api::sync::{DirectoryView, IndexedSession, RefusedFile};
use baton_session::peer::PeerState;
use baton_session::{NodeId, PartHash, RevisionId, SessionId, Vector};
use baton_store::{Peer, clock};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Of how many refused files the reason is kept.
const REFUSED_MAX: usize = 256;

/// What is known of the directory.
#[derive(Default, Clone)]
pub struct FolderState(Arc<Mutex<KnownDirectory>>);

#[derive(Default)]
struct KnownDirectory {
    begun: bool,
    files: BTreeMap<String, KnownFile>,
    refused: BTreeMap<String, RefusedFile>,
    failed: Option<String>,
}

/// A file that was read, or written.
struct KnownFile {
    mark: Mark,
    /// The hash of its bytes; none of one that could not be read as a sync file.
    digest: Option<PartHash>,
    /// Whether a look since then found it as it was. Clocks of file systems are coarse: who changes a
    /// file right after it was looked at leaves it looking the same.
    settled: bool,
    said: FileContent,
}

/// How a file looks, and the hash of its bytes where they were read.
pub type FileLooks = (Mark, Option<PartHash>);

/// What a file is found to be.
#[derive(Clone)]
pub(crate) enum FileContent {
    /// A session, and who can read it: what was in it is in the database.
    Session(Box<FileStanding>),
    /// A sync file that is for others, or by a node that is not known here.
    Foreign(Box<IndexLine>),
    /// No sync file, or one that was changed.
    Damaged,
}

/// How far a session has come in a file.
#[derive(Debug, Clone)]
pub(crate) struct FileStanding {
    pub(crate) session: SessionId,
    pub(crate) deleted: bool,
    pub(crate) line: IndexLine,
    sender: NodeId,
    rev: Option<RevisionId>,
    conflicts: Vec<RevisionId>,
    vector: Vector,
    recipients: Vec<NodeId>,
    is_plain: bool,
}

impl FileStanding {
    /// What a file says, which has this many bytes.
    pub(crate) fn of(file: &SyncFile, bytes: u64) -> Self {
        let sync = &file.head.sync;
        Self {
            session: file.session,
            deleted: sync.deleted,
            line: IndexLine::of(file, bytes),
            sender: file.sender,
            rev: sync.rev,
            conflicts: sync.conflicts.clone(),
            vector: sync.vector.clone(),
            recipients: file.recipients.clone(),
            is_plain: file.is_plain(),
        }
    }

    /// Whether the file says what the database says, to everybody who is to know. What another node
    /// tells, and to whom, is up to that one.
    pub(crate) fn says(&self, session: &IndexedSession, readers: &Readers) -> bool {
        self.rev == Some(session.rev)
            && self.conflicts == session.conflicts
            && self.vector == session.vector
            && self.deleted == session.deleted
            && readers.nodes().all(|reader| self.recipients.contains(&reader))
            && (self.sender != readers.this || self.is_as_wanted(readers))
    }
}

impl FileStanding {
    /// Whether a file that this node wrote tells no reader what it must not, and shows what is set.
    fn is_as_wanted(&self, readers: &Readers) -> bool {
        !self.recipients.iter().any(|one| readers.bars(*one))
            && (self.deleted || self.is_plain == readers.is_plain)
    }
}

impl FolderState {
    fn lock(&self) -> MutexGuard<'_, KnownDirectory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the directory was not read yet.
    pub(crate) fn begins(&self) -> bool {
        !std::mem::replace(&mut self.lock().begun, true)
    }

    /// Notes what went wrong, and returns what did before.
    pub(crate) fn failed(&self, failed: Option<String>) -> Option<String> {
        let mut known = self.lock();
        known.begun &= failed.is_none();
        std::mem::replace(&mut known.failed, failed)
    }

    /// Files that do not look as they did when they were read; those that are gone are forgotten.
    pub(crate) fn news(&self, there: BTreeMap<String, Mark>) -> Vec<(String, Mark)> {
        let mut known = self.lock();
        known.files.retain(|name, _| there.contains_key(name));
        known.refused.retain(|name, _| there.contains_key(name));
        let is_known =
            |name: &String, mark| known.files.get(name).is_some_and(|seen| seen.mark == mark);
        there.into_iter().filter(|(name, mark)| !is_known(name, *mark)).collect()
    }

    /// Files that look as they did, but have to be looked at once more, and what they held.
    pub(crate) fn doubtful(&self) -> Vec<(String, FileLooks)> {
        let known = self.lock();
        let doubtful = known.files.iter().filter(|(_, seen)| !seen.settled);
        doubtful.map(|(name, seen)| (name.clone(), (seen.mark, seen.digest))).collect()
    }

    pub(crate) fn settles(&self, name: &str) {
        self.lock().files.entry(name.to_owned()).and_modify(|seen| seen.settled = true);
    }

    pub(crate) fn knows(&self, name: &str, (mark, digest): FileLooks, said: FileContent) {
        let mut known = self.lock();
        known.refused.remove(name);
        known.files.insert(name.to_owned(), KnownFile { mark, digest, settled: false, said });
    }

    pub(crate) fn refuses(&self, name: &str, looks: FileLooks, said: FileContent, reason: String) {
        self.knows(name, looks, said);
        let mut known = self.lock();
        if known.refused.len() < REFUSED_MAX {
            let file = RefusedFile { file: name.to_owned(), reason, since: clock::now() };
            known.refused.insert(name.to_owned(), file);
        }
    }

    pub(crate) fn forget(&self, name: &str) {
        self.lock().files.remove(name);
    }

    /// What the file of this name is.
    pub(crate) fn said(&self, name: &str) -> Option<FileContent> {
        self.lock().files.get(name).map(|seen| seen.said.clone())
    }

    /// Files of sessions that were deleted, by name.
    pub(crate) fn deleted(&self) -> Vec<(String, SessionId)> {
        let known = self.lock();
        let deleted = known.files.iter().filter_map(|(name, seen)| match &seen.said {
            FileContent::Session(standing) if standing.deleted => {
                Some((name.clone(), standing.session))
            }
            _ => None,
        });
        deleted.collect()
    }

    /// The lines of an index of the files: one for each session in its own place.
    pub(crate) fn lines(&self) -> Vec<IndexLine> {
        let known = self.lock();
        let own = known.files.iter().filter_map(|(name, seen)| {
            let line = match &seen.said {
                FileContent::Session(standing) if !standing.deleted => &standing.line,
                FileContent::Foreign(line) => line.as_ref(),
                _ => return None,
            };
            (line.id.parse().ok().map(file_name).as_ref() == Some(name)).then(|| line.clone())
        });
        own.collect()
    }

    pub(crate) fn view(&self, path: &Path) -> DirectoryView {
        let known = self.lock();
        let is_session = |seen: &&KnownFile| matches!(seen.said, FileContent::Session(_));
        DirectoryView {
            path: Some(path.display().to_string()),
            sessions: known.files.values().filter(is_session).count(),
            refused: known.refused.values().cloned().collect(),
            failed: known.failed.clone(),
        }
    }
}

/// For whom files are sealed.
pub(crate) struct Readers {
    pub(crate) this: NodeId,
    /// The confirmed peers that are given everything.
    pub(crate) others: Vec<(NodeId, SealKey)>,
    /// Peers that are not.
    limited: Vec<NodeId>,
    /// Whether everybody else may read what counts.
    pub(crate) is_plain: bool,
}

impl Readers {
    /// The readers of what this node writes.
    pub(crate) fn of(this: NodeId, peers: &[Peer], is_plain: bool) -> Self {
        let (whole, limited): (Vec<&Peer>, Vec<&Peer>) =
            peers.iter().partition(|peer| peer.limits.give.is_whole());
        let confirmed = whole.into_iter().filter(|peer| peer.state == PeerState::Confirmed);
        let with_key = |peer: &Peer| Some((peer.node, peer.seal_key.parse().ok()?));
        Self {
            this,
            others: confirmed.filter_map(with_key).collect(),
            limited: limited.into_iter().map(|peer| peer.node).collect(),
            is_plain,
        }
    }

    /// All of them, this node among them.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.others.iter().map(|(node, _)| *node).chain([self.this])
    }

    /// Whether a node must not be one of them.
    pub(crate) fn bars(&self, node: NodeId) -> bool {
        self.limited.contains(&node)
    }
}
