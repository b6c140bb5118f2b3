//! What moves files into a sandbox and out of it, and reaches its sockets.
//!
//! The tools run in it as commands of their own, with its rights. Archives are unpacked by the first process
//! itself: no command is started for them, because the maker of the sandbox waits.

use super::{InitError, Notice, Unpack};
use crate::provider::Ended;
use rustix::fs::{Mode, OFlags};
use std::fs::{File, Permissions};
use std::io::{BufReader, Error, ErrorKind, Read, Write, stdin, stdout};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

/// How much is read at once, in bytes.
const CHUNK: usize = 256 << 10;

/// Runs a tool, with what follows its path.
pub(super) fn run(verb: &str, path: &Path, more: Option<&str>) -> Result<(), InitError> {
    match verb {
        "read" => match more.map_or(Ok(u64::MAX), str::parse) {
            Ok(most) => read(path, most),
            Err(_) => return Err(InitError::NoTool),
        },
        "write" => write(path),
        "pack" => super::pack::pack(path),
        "connect" => connect(path),
        _ => return Err(InitError::NoTool),
    }
    .map_err(InitError::file(path))
}

/// Only a plain file is read: others may have no end, or wait for a writer.
fn read(path: &Path, most: u64) -> std::io::Result<()> {
    // Neither does opening it wait, nor does a terminal become ours.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "expected a plain file, found another kind",
        ));
    }
    let too_large = || {
        Error::new(ErrorKind::FileTooLarge, format!("expected at most {most} bytes, found more"))
    };
    // It may grow while it is read, and what the kernel makes up says that it has no bytes.
    if found.len() > most
        || std::io::copy(&mut file.take(most.saturating_add(1)), &mut stdout().lock())? > most
    {
        return Err(too_large());
    }
    Ok(())
}

/// Writes a file whole or not at all; its folders are made.
fn write(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = beside(path);
    // Nothing that is there already, and may be a pipe without a reader.
    let written = File::create_new(&beside)
        .and_then(|mut file| std::io::copy(&mut stdin().lock(), &mut file))
        .and_then(|_| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    PathBuf::from(name)
}

/// Passes everything on in both directions, until the socket's other end closes.
fn connect(path: &Path) -> std::io::Result<()> {
    let mut near = UnixStream::connect(path)?;
    let mut far = near.try_clone()?;
    thread::spawn(move || {
        // Whichever side breaks, the other one hears of it.
        let _ = pass_on(&mut stdin(), &mut far);
        let _ = far.shutdown(Shutdown::Write);
    });
    // Not the buffered one: every byte is waited for.
    let mut output = File::from(stdout().as_fd().try_clone_to_owned()?);
    pass_on(&mut near, &mut output)
}

/// Not `std::io::copy`, which splices into a pipe: who waits for that with epoll is then not woken (seen on
/// Linux 6).
fn pass_on(from: &mut dyn Read, to: &mut dyn Write) -> std::io::Result<()> {
    let mut bytes = vec![0; CHUNK];
    loop {
        match from.read(&mut bytes)? {
            0 => return Ok(()),
            read => to.write_all(&bytes[..read])?,
        }
    }
}

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
            let mode = entry.header().mode()? & 0o777;
            let copy = move || {
                let file = copy_part(input, start, size, &to)?;
                if mode & 0o100 != 0 {
                    file.set_permissions(Permissions::from_mode(mode))?;
                }
                file.set_modified(since)
            };
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
