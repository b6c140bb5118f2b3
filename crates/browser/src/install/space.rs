//! How much room a disk has.

use super::error::{Bytes, InstallError};
use std::path::Path;

/// That so many bytes are free below a folder for its user.
pub(super) fn expect_free(
    what: &'static str,
    needed: u64,
    folder: &Path,
) -> Result<(), InstallError> {
    let found = rustix::fs::statvfs(folder)
        .map_err(|error| InstallError::file("look at the disk of", folder)(error.into()))?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free >= needed {
        return Ok(());
    }
    let (needed, free, folder) = (Bytes(needed), Bytes(free), folder.to_owned());
    Err(InstallError::NoSpace { what, needed, free, folder })
}
