//! Operations on API keys, one file a verb.

mod create;
mod list;
mod revoke;
mod secret;
mod shown;
mod stored;

pub use create::{create, new_key, note};
pub use list::list;
pub use revoke::revoke;
pub use secret::KeySecret;
pub use shown::{NoKey, key_of, token};
pub use stored::StoredKeys;

use baton_api::KeyView;
use baton_store::ApiKey;

/// A key as its owner sees it.
fn view(key: ApiKey) -> KeyView {
    KeyView {
        id: key.id,
        name: key.name,
        owner: key.owner,
        scopes: key.scopes,
        created_at: key.created_at,
        revoked_at: key.revoked_at,
        for_node: key.for_node,
    }
}
