//! Whether keys are good, by the database.

use baton_net::connections::Keys;
use baton_session::Owner;
use baton_store::Store;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// The keys of a database.
pub struct StoredKeys(pub Store);

impl Keys for StoredKeys {
    fn is_good<'a>(&'a self, owner: &'a Owner, id: &'a str) -> BoxFuture<'a, bool> {
        self.0.is_key_good(owner, id).map(|is_good| is_good.unwrap_or(true)).boxed()
    }
}
