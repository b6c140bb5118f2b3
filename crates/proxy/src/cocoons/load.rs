//! Reads all cocoons, when the node starts.

use super::read;
use crate::cocoon::{Cocoon, Cocoons};
use crate::settings::ProxySettings;
use baton_api::cocoon::PutCocoon;
use baton_store::{Store, StoreError, StoredCocoon};

/// The cocoons of the settings, and those that were named over the API. One that makes no sense any
/// more, and one whose id the settings took, is left where it is, with a line in the log.
pub async fn load(store: &Store, settings: &ProxySettings) -> Result<Cocoons, StoreError> {
    let cocoons: Cocoons = settings.cocoons.iter().cloned().collect();
    for stored in store.list_cocoons().await? {
        match stored_cocoon(&stored, settings) {
            Ok(cocoon) if !settings.names(&cocoon.id) => drop(cocoons.insert(cocoon)),
            Ok(cocoon) => tracing::warn!(cocoon = %cocoon.id, "the settings took its id"),
            Err(why) => tracing::warn!(cocoon = stored.id, why, "a cocoon cannot be read"),
        }
    }
    Ok(cocoons)
}

fn stored_cocoon(stored: &StoredCocoon, settings: &ProxySettings) -> Result<Cocoon, String> {
    let id = stored.id.parse().map_err(|error| format!("{error}"))?;
    let request: PutCocoon =
        serde_json::from_str(&stored.body).map_err(|error| error.to_string())?;
    read(settings, &id, request, &stored.owner)
}
