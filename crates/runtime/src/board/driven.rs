//! Which agent drives which session.

use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_api::{DrivenSession, DrivenSessions};
use baton_store::StoreError;

/// The caller's sessions that an agent drives, by name.
pub async fn driven(context: &Runtime, caller: &Caller) -> Result<DrivenSessions, RuntimeError> {
    let drivers = context.store.list_drivers(&caller.owner).await?;
    let mut items = Vec::with_capacity(drivers.len());
    for (id, driver) in drivers {
        let Some(agent) = driver.agent else { continue };
        match context.store.fetch_session(&caller.owner, id).await {
            Ok(found) => {
                let (session, since) = (found.name, driver.since);
                items.push(DrivenSession { session, id, agent, since });
            }
            // It was deleted since.
            Err(StoreError::SessionNotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    items.sort();
    Ok(DrivenSessions { items })
}
