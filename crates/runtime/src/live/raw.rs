//! The browser's own folders of databases: read for a deep export, and given to a profile when a
//! snapshot has some, one that was imported.

use super::error::LiveError;
use super::{Hub, expect_unlent};
use crate::table::Hold;
use baton_browser::profile::raw;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{FileEntry, Receipt, SessionId, State, StorageKey};

impl Hub {
    /// Reads the folders of some keys from the profile of a session that has no browser.
    pub(crate) async fn read_raw(
        &self,
        hold: &Hold,
        keys: Vec<StorageKey>,
    ) -> Result<Vec<(StorageKey, Vec<FileEntry>)>, LiveError> {
        expect_unlent(hold)?;
        let id = hold.id();
        if self.runner(id).is_ok() {
            return Err(LiveError::AlreadyActive(id));
        }
        self.wait_for_profile(id).await?;
        let profile = self.config().data.profile(id);
        let read = move |key: StorageKey| {
            let raw = raw::read(&profile, &key)?;
            Ok::<_, LiveError>((key, raw))
        };
        self.blocking(move || keys.into_iter().map(read).collect::<Result<Vec<_>, _>>()).await
    }

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
