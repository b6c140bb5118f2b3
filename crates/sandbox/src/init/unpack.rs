//! Unpacks archives into a sandbox: no command is started for it, because its maker waits.

use super::message::{Notice, Unpack};
use crate::command::Ended;
use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

/// A file from which on it is worth a thread of its own, in bytes.
const LARGE: u64 = 1 << 20;

/// Unpacks what came along, and tells how that went.
pub(super) fn obey(order: &Unpack, descriptors: Vec<OwnedFd>) -> Notice {
    let Unpack { id, path } = order;
    let unpacked = match <[OwnedFd; 1]>::try_from(descriptors) {
        Ok([input]) => unpack(&File::from(input), Path::new(path)),
        Err(_) => Err(ErrorKind::InvalidInput.into()),
    };
    match unpacked {
        Ok(()) => Notice::Ended { id: *id, ended: Ended::Code(0) },
        Err(error) => Notice::Failed { id: *id, reason: format!("{path}: {error}") },
    }
}

/// What is unpacked is a file, of which the kernel copies each in one go, large ones at the same time.
fn unpack(input: &File, path: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(path)?;
    let mut archive = tar::Archive::new(BufReader::new(input));
    thread::scope(|scope| {
        let mut copying = Vec::new();
        for entry in archive.entries_with_seek()? {
            let mut entry = entry?;
            let name = entry.path()?.into_owned();
            let is_plain = name.components().all(|part| matches!(part, Component::Normal(_)));
            if !is_plain || !entry.header().entry_type().is_file() {
                entry.unpack_in(path)?;
                continue;
            }
            let since = UNIX_EPOCH + Duration::from_secs(entry.header().mtime()?);
            let (start, size, to) = (entry.raw_file_position(), entry.size(), path.join(name));
            let copy = move || copy_part(input, start, size, &to)?.set_modified(since);
            if size < LARGE {
                copy()?;
            } else {
                copying.push(scope.spawn(copy));
            }
        }
        copying.into_iter().try_for_each(|copy| copy.join().unwrap_or(Err(ErrorKind::Other.into())))
    })
}

/// Makes a file of a part of another one.
fn copy_part(from: &File, mut start: u64, mut left: u64, to: &Path) -> std::io::Result<File> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let file = File::create(to)?;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX);
        match rustix::fs::sendfile(&file, from, Some(&mut start), most)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            copied => left = left.saturating_sub(copied as u64),
        }
    }
    Ok(file)
}
