//! Which address of an open tab can be taken, and what is said of the others.

use crate::targets::{Shows, shows};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::redact::ShownAddress;

/// The address that a tab becomes, none where it becomes no tab; and a line where it is not what it was.
pub(super) fn of(url: String) -> (Option<String>, Option<ReceiptItem>) {
    let line = |reason| ReceiptItem::not_portable(ItemKind::Tab, ShownAddress::of(&url), reason);
    match shows(&url) {
        Shows::Page if is_web(&url) => (Some(url), None),
        Shows::Page => {
            let reason = "it is not on the web: only http and https addresses are taken";
            (None, Some(line(reason)))
        }
        Shows::Source(page) if is_web(page) => (Some(page.to_owned()), Some(line(Shows::SOURCE))),
        Shows::Source(_) | Shows::OfTheBrowser => (None, Some(line(Shows::BROWSER))),
        Shows::Nothing => (None, None),
    }
}

fn is_web(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}
