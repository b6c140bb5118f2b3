//! Whether keys are good with which connections are held.

use baton_session::Owner;
use futures_util::future::BoxFuture;

/// Knows keys.
pub trait Keys: Send + Sync {
    /// Whether the owner's key of this id opens anything. Where that cannot be looked up it is good: what is
    /// under way does not end for it.
    fn is_good<'a>(&'a self, owner: &'a Owner, id: &'a str) -> BoxFuture<'a, bool>;
}
