//! Operations on API keys, one file a verb.

mod create;
mod list;
mod revoke;

pub use create::{create, new_key, note};
pub use list::list;
pub use revoke::revoke;

use baton_api::{KeyView, Scope};
use baton_store::ApiKey;

/// A key as its owner sees it.
fn view(key: ApiKey) -> KeyView {
    KeyView {
        id: key.id,
        name: key.name,
        owner: key.owner,
        scopes: key.scopes.into_iter().map(scope_view).collect(),
        created_at: key.created_at,
        revoked_at: key.revoked_at,
    }
}

/// A stored scope as the contract names it.
pub fn scope_view(scope: baton_store::Scope) -> Scope {
    match scope {
        baton_store::Scope::Read => Scope::Read,
        baton_store::Scope::Drive => Scope::Drive,
        baton_store::Scope::Reveal => Scope::Reveal,
        baton_store::Scope::Sync => Scope::Sync,
        baton_store::Scope::Sandbox => Scope::Sandbox,
        baton_store::Scope::Debug => Scope::Debug,
        baton_store::Scope::Admin => Scope::Admin,
    }
}

/// A scope of the contract as it is stored.
fn stored_scope(scope: Scope) -> baton_store::Scope {
    match scope {
        Scope::Read => baton_store::Scope::Read,
        Scope::Drive => baton_store::Scope::Drive,
        Scope::Reveal => baton_store::Scope::Reveal,
        Scope::Sync => baton_store::Scope::Sync,
        Scope::Sandbox => baton_store::Scope::Sandbox,
        Scope::Debug => baton_store::Scope::Debug,
        Scope::Admin => baton_store::Scope::Admin,
    }
}
