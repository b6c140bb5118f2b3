//! What became of a session that a sandbox had.

use baton_api::sandbox::WrittenBack;
use baton_session::Site;
use std::collections::BTreeMap;

/// How many items of which sites were not taken back.
pub(super) type LeftSites = BTreeMap<Site, usize>;

/// What became of a session that a sandbox had.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    pub(super) told: WrittenBack,
    /// Which sites were not taken.
    pub(super) left_sites: LeftSites,
}
