//! How a data folder, and the files of a session in it, can be wrong.

use crate::data::NodeFile;
use std::io::ErrorKind;
use std::path::PathBuf;

/// A data folder that cannot be used; the text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The system refused.
    #[error("{}: {source}{}", path.display(), what_to_do(source))]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no folder.
    #[error("expected a folder at {}, found something else\nchoose another with --data", path.display())]
    NotAFolder {
        /// Where.
        path: PathBuf,
    },
    /// The sockets of keepers would have longer paths than the system allows.
    #[error(
        "expected a data folder whose path has at most {limit} bytes, found {found}: {}\n\
         sockets live in it; choose a shorter one with --data",
        path.display()
    )]
    PathTooLong {
        /// Which folder.
        path: PathBuf,
        /// How long it may be.
        limit: usize,
        /// How long it is.
        found: usize,
    },
    /// A folder that browsers are to see would give the data folder away.
    #[error(
        "expected a folder apart from the data folder {}, found {}\n\
         whoever reads the data folder is logged in everywhere",
        data.display(), folder.display()
    )]
    HoldsData {
        /// The folder.
        folder: PathBuf,
        /// The data folder.
        data: PathBuf,
    },
    /// Other users could put files into it.
    #[error(
        "expected that only its owner (user {owner}) can write to {}, found mode {mode:o}\n\
         run: chmod go-w {}", path.display(), path.display()
    )]
    TooOpen {
        /// Which folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// Its owner's user number.
        owner: u32,
    },
    /// Another user could change it, or is meant to have it.
    #[error(
        "expected {} to belong to user {expected}, who runs this, found it belongs to user {owner}\n\
         run this as that user, choose another folder with --data, or, if all that is in it is yours, run: \
         chown -R {expected} {}",
        path.display(), folder.display()
    )]
    OtherOwner {
        /// Which file or folder.
        path: PathBuf,
        /// The data folder.
        folder: PathBuf,
        /// Who runs this, by number.
        expected: u32,
        /// Whose it is.
        owner: u32,
    },
    /// The file `node.id` holds something else.
    #[error("{}: {source}\nrestore the file, or remove it to become a new node", path.display())]
    NotANodeId {
        /// Which file.
        path: PathBuf,
        /// What was expected and found.
        source: baton_session::id::InvalidId,
    },
    /// The file `node.json` holds something else.
    #[error("expected {} to say where the node is, found: {source}", path.display())]
    NotANodeFile {
        /// Which file.
        path: PathBuf,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// Another node works on this folder.
    #[error(
        "expected no other node on {}, found {}\nend it first with baton stop, or choose another folder with --data",
        path.display(),
        describe(running.as_deref())
    )]
    Locked {
        /// Which folder.
        path: PathBuf,
        /// The other node, when it is ready and says so.
        running: Option<Box<NodeFile>>,
    },
}

/// What helps where the system refuses for a reason that its administrator can take away.
fn what_to_do(source: &std::io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::ReadOnlyFilesystem => {
            "\nmount it so that it can be written, or choose another folder with --data"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "\nmake room there, and try again",
        ErrorKind::PermissionDenied => {
            "\nrun this as the user whose folder it is, or choose another with --data"
        }
        _ => "",
    }
}

fn describe(running: Option<&NodeFile>) -> String {
    match running {
        Some(node) => format!("one with process id {} at {}", node.pid, node.url),
        None => "one that is starting or ending".to_owned(),
    }
}

/// Why a file of a session did not come or go.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is none of this name.
    #[error(
        "expected a file called {name:?} among those of the session, found none\n\
         baton sessions files list tells which there are"
    )]
    NotFound {
        /// The name.
        name: String,
    },
    /// It did not come ahead of the session, or is not there any more.
    #[error(
        "expected the file {name:?}, of {bytes} bytes, to have come ahead of the session, found {found}\n\
         send it again"
    )]
    NotAhead {
        /// The name.
        name: String,
        /// How many bytes were announced.
        bytes: u64,
        /// What is there.
        found: String,
    },
    /// It is larger than a file may be.
    #[error("expected a file of at most {most} bytes, found a larger one")]
    TooLarge {
        /// How large it may be.
        most: u64,
    },
    /// There are as many files, or bytes of them, as there may be.
    #[error(
        "expected room for one more file of the session, found {files} files of {bytes} bytes\n\
         baton sessions files remove makes room"
    )]
    Full {
        /// How many there are.
        files: usize,
        /// Their bytes together.
        bytes: u64,
    },
    /// The request ended before the file was whole.
    #[error("expected a whole file, found that the request ended: {0}")]
    Cut(String),
    /// The disk refused.
    #[error("could not use the files of the session in {}: {source}", folder.display())]
    Disk {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
