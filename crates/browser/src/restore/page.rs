//! A document of a storage key, through which the key is filled.

use crate::cdp::CdpSession;
use crate::script::World;
use baton_session::receipt::{ItemKind, ReceiptItem, Source};
use std::time::Duration;

/// How long the writing of one key's web storage, of one database or the like, may take.
pub(super) const FILL_LIMIT: Duration = Duration::from_mins(1);

/// A document of the key that is filled.
pub(super) struct Page {
    pub(super) session: CdpSession,
    pub(super) world: World,
    pub(super) origin: String,
}

/// What was equal already came from the profile.
pub(super) fn restored(kind: ItemKind, place: String, changed: u64) -> ReceiptItem {
    let source = if changed == 0 { Source::Disk } else { Source::Snapshot };
    ReceiptItem { source, ..ReceiptItem::restored(kind, place) }
}
