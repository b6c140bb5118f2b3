//! What of the open tabs a snapshot does not hold: pages of the browser's own, and what a tab is beside its
//! address.

use crate::targets::{Shows, TargetId, TargetInfo, shows};
use baton_session::Unread;
use baton_session::receipt::ItemKind;

/// What is said of a tab whose page another one opened.
const OPENER: &str =
    "its tie to the tab that opened it is not kept: window.opener is null after a resume";

/// The tabs that do not come back, or not as they are.
pub(super) fn changed(tabs: &[TargetInfo], internal: &[TargetInfo]) -> Vec<Unread> {
    let lost = |tab: &TargetInfo, reason| Unread::lost(ItemKind::Tab, &tab.url, reason);
    let own = internal.iter().filter(|tab| shows(&tab.url) == Shows::OfTheBrowser);
    let own = own.map(|tab| lost(tab, Shows::BROWSER));
    let sources = tabs.iter().filter(|tab| matches!(shows(&tab.url), Shows::Source(_)));
    let sources = sources.map(|tab| lost(tab, Shows::SOURCE));
    let is_open = |id: &TargetId| tabs.iter().any(|tab| tab.target_id == *id);
    let opened = tabs.iter().filter(|tab| tab.opener().is_some_and(is_open));
    own.chain(sources).chain(opened.map(|tab| lost(tab, OPENER))).collect()
}
