//! The first process of a sandbox without namespaces: what the kernel would end and remove with it, it ends
//! and removes itself.

use super::error::InitError;
use super::processes::end_all;
use super::serve::serve;
use rustix::process::{getpid, set_child_subreaper, setsid};
use std::path::Path;

/// The word with which it is started, before the folder.
pub(crate) const BARE: &str = "bare";

/// Serves until the socket on standard input closes, and then ends all that was started and removes
/// `folder`.
pub(super) fn hold(folder: &Path) -> Result<(), InitError> {
    // Whoever interrupts the node from a terminal does not interrupt this.
    let _ = setsid();
    // Processes whose parent ends are left to this one, so that it can end them.
    set_child_subreaper(Some(getpid())).map_err(|error| InitError::file(folder)(error.into()))?;
    let served = serve();
    end_all();
    std::fs::remove_dir_all(folder).map_err(InitError::file(folder))?;
    served
}
