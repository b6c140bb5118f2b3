//! One file out of an archive, written here.

use crate::profile::{Fault, ProfileError, is_ours};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::SystemTime;
use std::{fs, io};

/// How much of a file is copied at once, in bytes.
const CHUNK: usize = 64 << 10;

/// Writes a file, with the instant at which it was written where it comes from, and the folders above it. Its
/// error says whether the archive or this machine is at fault. Blocks on the disk.
pub(super) fn write(
    from: &mut impl Read,
    path: &Path,
    at: Option<SystemTime>,
) -> Result<(), Fault> {
    // A name that cannot be had here is the fault of the archive's writer.
    let failed =
        |error: io::Error| Fault::of(is_ours(&error), ProfileError::new("write", path)(error));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    // One that is there already came from the same archive, and stays.
    match File::create_new(path) {
        Ok(mut file) => {
            copy(from, &mut file, failed)?;
            at.map_or(Ok(()), |at| file.set_modified(at)).map_err(failed)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// Copies a file; its error says whether the archive broke off or the disk takes no more.
pub(super) fn copy(
    from: &mut impl Read,
    to: &mut impl Write,
    not_written: impl Fn(io::Error) -> Fault,
) -> Result<(), Fault> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Fault::Bytes(error.to_string())),
        };
        to.write_all(&chunk[..read]).map_err(&not_written)?;
    }
}
