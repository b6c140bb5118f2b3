//! Reads a profile, with the password of its browser when a cookie needs it.

use super::Browser;
use anyhow::Context as _;
use baton_browser::launch::{LockState, lock};
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::keyring;
use baton_browser::profile::read::{self, ProfileFolder, Read};
use baton_store::clock;

/// Why no profile is read here.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected Linux, found {}: reading a profile works on Linux only so far",
    std::env::consts::OS
)]
struct NotRead;

/// What a profile of a browser holds. Blocks on the disk, and on the keyring.
pub(crate) fn read(folder: &ProfileFolder, browser: Browser) -> anyhow::Result<Read> {
    if !cfg!(target_os = "linux") {
        return Err(NotRead.into());
    }
    // A folder that may not be looked into would read as one that holds nothing.
    let path = folder.path();
    std::fs::read_dir(path).with_context(|| format!("could not read {}", path.display()))?;
    let mut ask = || {
        let (address, runtime) = ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR");
        let (address, runtime) = (std::env::var_os(address), std::env::var_os(runtime));
        let bus = keyring::session_bus(address.as_deref(), runtime.as_deref());
        keyring::password(browser.product(), bus.as_deref())
    };
    Ok(read::read(folder, &mut ask, Instant(clock::now().as_microsecond())))
}

/// The process of the browser that has the profile open, if one has.
pub(crate) fn in_use(folder: &ProfileFolder) -> Option<u32> {
    match lock::check(folder.path().parent()?) {
        Ok(LockState::InUse { pid }) => Some(pid),
        _ => None,
    }
}
