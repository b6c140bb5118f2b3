//! Profiles are compiled of states without a browser, and read back; and Chromium agrees.

mod absence;
mod arbitrary;
mod browsers;
mod damage;
mod faults;
mod merging;
mod mutated;
mod place;
mod resume;
mod round_trip;
mod written;

use crate::fixture::{Kept, eventually, options, spec};
use baton_browser::keeper::BrowserSpec;
use baton_browser::launch::LaunchOptions;
use baton_browser::launch::lock::holder;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::Times;
use baton_browser::profile::keyring::KeyringError;
use baton_browser::profile::read::{ProfileFolder, Read, read};
use baton_session::receipt::ReceiptItem;
use baton_session::{Receipt, State};
use std::path::Path;

/// Now, in a test that has no browser: cookies of the year 2027 have not ended.
pub(crate) const NOW: Instant = Instant(1_790_000_000_000_000);

pub(crate) fn times() -> Times {
    Times::at(NOW)
}

/// The instant of now, for a browser.
pub(crate) fn now() -> Instant {
    Instant(jiff::Timestamp::now().as_microsecond())
}

/// A browser on `profile` with arguments of the test.
pub(crate) async fn browser_with(profile: &Path, arguments: &[&str]) -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let extra_args = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let options = LaunchOptions { extra_args, ..options(profile) };
    let spec = spec(folder.path(), BrowserSpec::Launch(Box::new(options)));
    Kept::start(folder, spec).await.unwrap()
}

/// Waits until the helpers of a browser that ended are gone too.
pub(crate) async fn until_free(profile: &Path) {
    eventually("nobody uses it", async || holder(profile).unwrap().is_none()).await;
}

/// Reads a profile whose cookies are in plain text.
pub(crate) fn read_plain(profile: &Path) -> Read {
    let folder = ProfileFolder::find(profile).unwrap();
    let mut refuse = || Err(KeyringError::Locked);
    read(&folder, &mut refuse, NOW)
}

/// What a receipt says did not come about, as lines.
pub(crate) fn losses(receipt: &Receipt) -> Vec<String> {
    let line = |item: &ReceiptItem| {
        let reason = item.reason.as_deref().unwrap_or_default();
        format!("{} {}: {reason}", item.kind, item.place)
    };
    receipt.losses().map(line).collect()
}

/// The state with what a profile has: cookies, localStorage, permissions.
pub(crate) fn rows_of(state: &State) -> State {
    let mut rows = State { cookies: state.cookies.clone(), ..State::default() };
    for (key, origin) in &state.origins {
        rows.origins.entry(key.clone()).or_default().local_storage = origin.local_storage.clone();
    }
    rows.environment.permissions.clone_from(&state.environment.permissions);
    rows.normalize();
    rows
}
