//! The files of a session on their way from one node of a cluster to another.
//!
//! The one idea: they come ahead of the session, into a folder beside those of all sessions, and are among its files
//! once it is taken here; so nobody ever sees part of them, and what never comes is removed with that folder. Who
//! gives them keeps them until the session runs where they are.

use crate::error::RuntimeError;
use crate::folder::{self, MOST, checked, list_plain_files, on_disk};
use crate::here::Runtime;
use baton_api::{FileAhead, SessionFile};
use baton_session::SessionId;
use baton_store::data::{FileError, named};
use bytes::Bytes;
use futures_util::Stream;
use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file of a session that goes to another node, by which it is known whether it is another one by now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// Its name.
    pub name: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// When it was written.
    pub modified: SystemTime,
}

/// The files of a session of this node. One more than a session may have is listed, so that it is not left behind
/// without a word: who takes them refuses it.
pub async fn pack(context: &Runtime, id: SessionId) -> Result<Vec<Packed>, RuntimeError> {
    let folder = context.supervisor.data().files_of(id);
    let list = |folder: &Path| {
        let names = list_plain_files(folder, MOST + 1)?.into_iter().map(|file| file.name);
        Ok(names.filter_map(|name| look(folder, name).ok()).collect())
    };
    Ok(on_disk(&folder, list).await?)
}

/// Opens one of them, if it is as it was when it was listed.
pub async fn open(context: &Runtime, id: SessionId, file: &Packed) -> Result<File, RuntimeError> {
    let folder = context.supervisor.data().files_of(id);
    let packed = file.clone();
    let opened = on_disk(&folder, move |folder| {
        let file = named::open_plain(folder, &packed.name)?;
        let found = file.metadata()?;
        if (found.len(), found.modified()?) != (packed.bytes, packed.modified) {
            return Err(io::Error::other("expected the file as it was listed, found it changed"));
        }
        Ok(file)
    });
    Ok(opened.await?)
}

/// Removes files of a session that runs at another node by now, where they are. What is another file since, and
/// what does not move, stays.
pub async fn leave(
    context: &Runtime,
    id: SessionId,
    files: Vec<Packed>,
) -> Result<(), RuntimeError> {
    let folder = context.supervisor.data().files_of(id);
    let remove = move |folder: &Path| {
        for file in files {
            if look(folder, file.name.clone()).is_ok_and(|now| now == file) {
                named::remove(folder, &file.name)?;
            }
        }
        match std::fs::remove_dir(folder) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => or_nothing(removed),
        }
    };
    Ok(on_disk(&folder, remove).await?)
}

/// Takes a file that comes ahead of a session, whole or not at all, in the place of one of that name. The name was
/// safe where it comes from, and is looked at again.
pub async fn receive<E: std::fmt::Display>(
    context: &Runtime,
    id: SessionId,
    name: &str,
    modified: SystemTime,
    bytes: impl Stream<Item = Result<Bytes, E>>,
) -> Result<(), RuntimeError> {
    let name = checked(name)?;
    context.supervisor.arrives(id)?;
    let folder = place(context, id);
    folder::put(&folder, name.clone(), bytes).await?;
    Ok(on_disk(&folder, move |folder| named::open_plain(folder, &name)?.set_modified(modified))
        .await?)
}

/// Removes a file that came ahead, and is no more where the session is.
pub async fn remove(context: &Runtime, id: SessionId, name: &str) -> Result<(), RuntimeError> {
    let name = checked(name)?;
    let remove = move |folder: &Path| or_nothing(named::remove(folder, &name));
    Ok(on_disk(&place(context, id), remove).await?)
}

/// Puts what came ahead of a session among its files, each in the place of one of that name, which was left here
/// when it was here before. Returns their names. Where it is known what has to be there, fails if anything is missing:
/// it may have been removed since it came.
pub(crate) async fn unpack(
    context: &Runtime,
    id: SessionId,
    announced: Option<Vec<FileAhead>>,
) -> Result<Vec<String>, FileError> {
    let (from, to) = (place(context, id), context.supervisor.data().files_of(id));
    let unpacked = on_disk(&to, move |to| {
        let there = list_plain_files(&from, MOST)?;
        let names = match announced {
            None => there.into_iter().map(|file| file.name).collect(),
            Some(announced) => match expect_all(&there, announced) {
                Ok(names) => names,
                Err(missing) => return Ok(Err(missing)),
            },
        };
        if names.is_empty() {
            return Ok(Ok(names));
        }
        DirBuilder::new().recursive(true).mode(0o700).create(to)?;
        for name in &names {
            std::fs::rename(from.join(name), to.join(name))?;
        }
        File::open(to)?.sync_all()?;
        Ok(Ok(names))
    });
    unpacked.await?
}

/// The names of the files that were announced, all of which have to be there.
fn expect_all(there: &[SessionFile], announced: Vec<FileAhead>) -> Result<Vec<String>, FileError> {
    let sizes: HashMap<&str, u64> =
        there.iter().map(|file| (file.name.as_str(), file.bytes)).collect();
    let name = |FileAhead { name, bytes }: FileAhead| {
        let found = match sizes.get(name.as_str()) {
            Some(found) if *found == bytes => return Ok(name),
            Some(found) => format!("one of {found} bytes"),
            None => "none".to_owned(),
        };
        Err(FileError::NotAhead { name, bytes, found })
    };
    announced.into_iter().map(name).collect()
}

/// Removes again what was put among the files of a session that did not come after all: whoever gave them has them.
pub(crate) async fn take_back(context: &Runtime, id: SessionId, names: Vec<String>) {
    let folder = context.supervisor.data().files_of(id);
    let remove = move |folder: &Path| {
        names.iter().try_for_each(|name| or_nothing(named::remove(folder, name)))
    };
    if let Err(error) = on_disk(&folder, remove).await {
        tracing::warn!(session = %id, %error, "files of a session that did not come lie here");
    }
}

fn place(context: &Runtime, id: SessionId) -> PathBuf {
    context.supervisor.data().arriving_of(id).join("files")
}

fn look(folder: &Path, name: String) -> io::Result<Packed> {
    let found = std::fs::symlink_metadata(folder.join(&name))?;
    if !found.is_file() {
        return Err(io::Error::other("found something else than a file"));
    }
    Ok(Packed { name, bytes: found.len(), modified: found.modified()? })
}

/// What is gone need not be removed.
fn or_nothing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_another_file_is_not_taken_for_what_was_announced() {
        let there = |name: &str, bytes| SessionFile {
            name: name.to_owned(),
            bytes,
            changed_at: jiff::Timestamp::UNIX_EPOCH,
            path: String::new(),
        };
        let ahead = |name: &str, bytes| FileAhead { name: name.to_owned(), bytes };
        let files = [there("note.txt", 5), there("left-over.txt", 1)];
        let told = |announced: Vec<FileAhead>| {
            expect_all(&files, announced).map_err(|missing| missing.to_string())
        };
        // What nobody announced stays where it is.
        assert_eq!(told(vec![ahead("note.txt", 5)]), Ok(vec!["note.txt".to_owned()]));
        assert_eq!(told(Vec::new()), Ok(Vec::new()));
        let cut = told(vec![ahead("note.txt", 6)]).unwrap_err();
        assert!(cut.contains("of 6 bytes") && cut.contains("one of 5 bytes"), "{cut}");
        let gone = told(vec![ahead("note.txt", 5), ahead("other.txt", 0)]).unwrap_err();
        assert!(gone.contains("\"other.txt\"") && gone.contains("found none"), "{gone}");
    }
}
