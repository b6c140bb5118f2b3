//! The tools that move files into a sandbox and out of it, and reach its sockets: they run in it, with its
//! rights.

use super::error::InitError;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{BufWriter, Error, ErrorKind, Read, Write, stdin, stdout};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::UNIX_EPOCH;

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
        "pack" => pack(path),
        "connect" => connect(path),
        _ => return Err(InitError::NoTool),
    }
    .map_err(InitError::file(path))
}

/// Only a plain file is read: others may have no end, or wait until somebody writes to them.
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
    // Nothing that is there already, and may be a pipe that nobody reads.
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

/// Every file says to the nanosecond when it was written (POSIX, `pax`): of two databases the one counts
/// that was written later. Sockets and the like are left out.
fn pack(path: &Path) -> std::io::Result<()> {
    let mut archive = tar::Builder::new(BufWriter::with_capacity(CHUNK, stdout().lock()));
    archive.follow_symlinks(false);
    // A file with holes goes as if it had none: whoever reads it takes no descriptions of holes.
    archive.sparse(false);
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(path.join(&folder))? {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, folder.join(entry.file_name()));
            if kind.is_dir() {
                archive.append_dir(&name, entry.path())?;
                folders.push(name);
            } else if kind.is_file() {
                let since = entry.metadata()?.modified()?.duration_since(UNIX_EPOCH);
                let since = since.unwrap_or_default().as_nanos();
                let time = format!("{}.{:09}", since / 1_000_000_000, since % 1_000_000_000);
                archive.append_pax_extensions([("mtime", time.as_bytes())])?;
                archive.append_path_with_name(entry.path(), name)?;
            } else if kind.is_symlink() {
                archive.append_path_with_name(entry.path(), name)?;
            }
        }
    }
    archive.into_inner()?.flush()
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
