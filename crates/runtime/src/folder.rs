//! A folder of files of a session, by their names.
//!
//! The one idea: a browser writes there by itself, so nothing that lies there is trusted: names are checked, only
//! plain files count, and a file is there whole or not at all.

use crate::error::RuntimeError;
use baton_api::{Invalid, SessionFile};
use baton_store::blocking::blocking;
use baton_store::data::{FileError, named};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use jiff::Timestamp;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::pin::pin;

/// How many files of a session are listed, and how many there may be for another one to be put there.
pub(crate) const MOST: usize = 1000;
/// How many bytes all files of a session may have for another one to be put there.
const MOST_BYTES: u64 = 2 << 30;
/// The largest file that is put there, in bytes.
pub(crate) const LARGEST: u64 = 128 << 20;

/// Puts a file there, whole or not at all, in the place of one of that name, which was checked.
pub(crate) async fn put<E: std::fmt::Display>(
    folder: &Path,
    name: String,
    bytes: impl Stream<Item = Result<Bytes, E>>,
) -> Result<SessionFile, FileError> {
    let hidden = format!(".put-{:016x}", rand::random::<u64>());
    let there = on_disk(folder, |folder| {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        list_plain_files(folder, MOST)
    });
    let mut there = there.await?;
    // What is replaced takes no room.
    there.retain(|file| file.name != name);
    let room = room(&there)?;
    let beside = hidden.clone();
    let file = on_disk(folder, move |folder| named::create_unnamed(folder, &beside)).await?;
    let written = write(folder, file, bytes, room.min(LARGEST)).await;
    let named = on_disk(folder, move |folder| match written {
        Ok(()) => {
            named::name(folder, &hidden, &name)?;
            Ok(Ok(shown(folder, &name)?))
        }
        Err(error) => {
            named::remove(folder, &hidden)?;
            Ok(Err(error))
        }
    });
    named.await?
}

/// A name that a file may have.
pub(crate) fn checked(name: &str) -> Result<String, RuntimeError> {
    if named::is_file_name(name) {
        return Ok(name.to_owned());
    }
    Err(Invalid {
        field: "name",
        expected: "the name of a file: at most 200 bytes without '/', and no '.' at its beginning",
        found: format!("{:?}", name.chars().take(200).collect::<String>()),
    }
    .into())
}

/// How many bytes one more file may have.
fn room(there: &[SessionFile]) -> Result<u64, FileError> {
    let bytes: u64 = there.iter().map(|file| file.bytes).sum();
    if there.len() >= MOST || bytes >= MOST_BYTES {
        return Err(FileError::Full { files: there.len(), bytes });
    }
    Ok(MOST_BYTES - bytes)
}

async fn write<E: std::fmt::Display>(
    folder: &Path,
    mut file: File,
    bytes: impl Stream<Item = Result<Bytes, E>>,
    most: u64,
) -> Result<(), FileError> {
    let mut bytes = pin!(bytes);
    let mut left = most;
    while let Some(chunk) = bytes.next().await {
        let chunk = chunk.map_err(|error| FileError::Cut(error.to_string()))?;
        let size = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
        left = left.checked_sub(size).ok_or(FileError::TooLarge { most })?;
        file = on_disk(folder, move |_| file.write_all(&chunk).map(|()| file)).await?;
    }
    on_disk(folder, move |_| file.sync_all()).await
}

/// Plain files with a name that can be asked for, at most so many.
pub(crate) fn list_plain_files(folder: &Path, most: usize) -> io::Result<Vec<SessionFile>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let names = names.filter(|name| named::is_file_name(name));
    let mut files: Vec<SessionFile> =
        names.filter_map(|name| shown(folder, &name).ok()).take(most).collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

fn shown(folder: &Path, name: &str) -> io::Result<SessionFile> {
    let path = folder.join(name);
    let found = fs::symlink_metadata(&path)?;
    if !found.is_file() {
        return Err(io::Error::other("found something else than a file"));
    }
    Ok(SessionFile {
        name: name.to_owned(),
        bytes: found.len(),
        changed_at: Timestamp::try_from(found.modified()?).unwrap_or(Timestamp::UNIX_EPOCH),
        path: path.to_string_lossy().into_owned(),
    })
}

/// Does what waits for the disk off the async threads.
pub(crate) async fn on_disk<T: Send + 'static>(
    folder: &Path,
    work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T, FileError> {
    let at = folder.to_owned();
    let done = blocking(move || work(&at)).await;
    let done = done.map_err(|stopping| FileError::Cut(stopping.to_string()))?;
    done.map_err(|source| FileError::Disk { folder: folder.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    fn names(folder: &Path) -> Vec<String> {
        list_plain_files(folder, MOST).unwrap().into_iter().map(|file| file.name).collect()
    }

    #[tokio::test]
    async fn what_is_cut_in_the_middle_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let whole = [Ok::<_, &str>(Bytes::from_static(b"whole"))];
        put(at, "note.txt".to_owned(), stream::iter(whole)).await.unwrap();
        for name in ["note.txt", "other.txt"] {
            let cut = [Ok(Bytes::from_static(b"ha")), Err("the connection ended")];
            let error = put(at, name.to_owned(), stream::iter(cut)).await.unwrap_err();
            assert!(matches!(&error, FileError::Cut(_)), "{error}");
        }
        assert_eq!(names(at), ["note.txt"]);
        assert_eq!(fs::read(at.join("note.txt")).unwrap(), b"whole");
        // Nothing lies beside it, either.
        assert_eq!(fs::read_dir(at).unwrap().count(), 1);
    }
}
