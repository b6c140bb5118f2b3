//! A person's browsers: they are paired once, and tell of the tabs that show pages of cocoons.
//!
//! The one idea: a browser gets a key that may tell and nothing else. A code that a person types pays for
//! it, and a ticket that opens one connection is bought with it, so that the key never stands in an
//! address or in a header that others log. `link` is what a connected browser tells.

mod link;

pub(crate) use link::BrowserLink;

use crate::context::Context;
use crate::error::NodeError;
use baton_api::Invalid;
use baton_api::Scope;
use baton_api::debug::WatchedCocoon;
use baton_proxy::Cocoon;
use baton_runtime::Caller;
use baton_runtime::keys;
use baton_runtime::keys::KeySecret;
use baton_runtime::keys::new_key;
use baton_session::Owner;
use baton_store::clock;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;

/// A code with which a person pairs a browser of theirs, and how long it counts.
pub(crate) fn pair(context: &Context, caller: &Caller) -> Result<(String, Duration), NodeError> {
    context.browsers.pairing.begin(&caller.owner)
}

/// The key of a browser whose extension was given a good code; older ones of the same browser are
/// revoked.
pub(crate) async fn exchange(
    context: &Context,
    code: &str,
    browser_id: &str,
) -> Result<SecretString, NodeError> {
    check(browser_id)?;
    let owner = context.browsers.pairing.redeem(code).ok_or(NodeError::BadPairingCode)?;
    let name = format!("browser {browser_id}");
    revoke_older(context, &owner, &name).await?;
    let key = new_key(name, owner, [Scope::Browser]);
    let secret = KeySecret::generate();
    let made = context.store.create_key(&key, secret.hash()).await.map_err(NodeError::from);
    let actor = baton_runtime::Actor::key(&key);
    keys::note(&actor, &key).end(&context.store, made).await?;
    Ok(secret.expose().to_owned().into())
}

async fn revoke_older(context: &Context, owner: &Owner, name: &str) -> Result<(), NodeError> {
    for key in context.store.list_keys(owner).await? {
        if key.name == name && key.revoked_at.is_none() {
            context.store.revoke_key(owner, &key.id, clock::now()).await?;
        }
    }
    Ok(())
}

/// A ticket for one connection of the caller's browser.
pub(crate) fn connect(
    context: &Context,
    caller: &Caller,
    browser_id: &str,
) -> Result<SecretString, NodeError> {
    check(browser_id)?;
    context.browsers.pairing.ticket(caller, browser_id)
}

/// Whose pages the caller's browser watches.
pub(crate) fn watched(context: &Context, caller: &Caller) -> Vec<WatchedCocoon> {
    let Some(place) = &context.front.place else { return Vec::new() };
    own(context, caller).iter().flat_map(|cocoon| place.ways(cocoon)).collect()
}

/// The longest body that any of them wants, within what is kept of a tab.
pub(crate) fn largest_body(context: &Context, caller: &Caller) -> usize {
    let most = context.relay.limits().tab.body_bytes;
    let asked = own(context, caller);
    let asked = asked.iter().map(|cocoon| cocoon.browser_debug.response_body_max_size).max();
    asked.map_or(most, |asked| usize::try_from(asked).unwrap_or(most).min(most))
}

fn own(context: &Context, caller: &Caller) -> Vec<Arc<Cocoon>> {
    let mut cocoons = context.front.cocoons.list();
    cocoons.retain(|one| one.owner == caller.owner && one.browser_debug.enabled);
    cocoons
}

fn check(browser_id: &str) -> Result<(), NodeError> {
    let fits = |c: u8| c.is_ascii_alphanumeric() || c == b'-';
    if (1..=36).contains(&browser_id.len()) && browser_id.bytes().all(fits) {
        return Ok(());
    }
    Err(Invalid {
        field: "browser_id",
        expected: "1 to 36 letters, digits and hyphens",
        found: "another text".to_owned(),
    }
    .into())
}
