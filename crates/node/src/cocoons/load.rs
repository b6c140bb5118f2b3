//! Reads all cocoons, when the node starts.

use super::texts;
use crate::config::ProxySettings;
use crate::proxy::{Cocoon, Cocoons};
use baton_api::cocoon::PutCocoon;
use baton_session::Owner;
use baton_store::{Store, StoreError, StoredCocoon};

/// The cocoons of the settings, and those that were named over the API. One that makes no sense any
/// more, and one whose id the settings took, is left where it is, with a line in the log.
pub(crate) async fn load(store: &Store, settings: &ProxySettings) -> Result<Cocoons, StoreError> {
    let cocoons: Cocoons = settings.cocoons.iter().cloned().collect();
    for stored in store.list_cocoons().await? {
        match read(&stored, settings) {
            Ok(cocoon) if !settings.names(&cocoon.id) => drop(cocoons.insert(cocoon)),
            Ok(cocoon) => tracing::warn!(cocoon = %cocoon.id, "the settings took its id"),
            Err(why) => tracing::warn!(cocoon = stored.id, why, "a cocoon cannot be read"),
        }
    }
    Ok(cocoons)
}

fn read(stored: &StoredCocoon, settings: &ProxySettings) -> Result<Cocoon, String> {
    let id = stored.id.parse().map_err(|error| format!("{error}"))?;
    let request: PutCocoon =
        serde_json::from_str(&stored.body).map_err(|error| error.to_string())?;
    cocoon(settings, texts(&id, request), &stored.owner)
}

/// What was said of a cocoon, with what the settings say of all.
pub(super) fn cocoon(
    settings: &ProxySettings,
    texts: crate::config::CocoonTexts,
    owner: &Owner,
) -> Result<Cocoon, String> {
    let made = settings.cocoon("the request", texts, owner);
    made.map_err(|error| error.to_string())
}
