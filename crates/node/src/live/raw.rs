//! Gives a profile the browser's own folders of databases, when a snapshot has some: one that was
//! imported from a deep export.

use super::{Hub, LiveError};
use baton_browser::profile::raw;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Receipt, SessionId, State};

impl Hub {
    /// Takes the folders out of the state and writes those that the profile does not have. No browser
    /// runs on it. What cannot be written is told; its databases come from their records then.
    pub(super) async fn write_raw(
        &self,
        id: SessionId,
        state: &mut State,
    ) -> Result<Receipt, LiveError> {
        let origins = state.origins.iter_mut().filter(|(_, origin)| !origin.raw.is_empty());
        let folders: Vec<_> =
            origins.map(|(key, origin)| (key.clone(), std::mem::take(&mut origin.raw))).collect();
        if folders.is_empty() {
            return Ok(Receipt::default());
        }
        let profile = self.config().data.profile(id);
        self.blocking(move || {
            let mut receipt = Receipt::default();
            for (key, files) in folders {
                if let Err(error) = raw::write(&profile, &key, &files) {
                    receipt.push(ReceiptItem::rejected(ItemKind::IndexedDb, key.as_str(), error));
                }
            }
            Ok::<_, LiveError>(receipt)
        })
        .await
    }
}
