//! Whom the browser of a session trusts beside its maker's list: written into a profile before a browser
//! starts on it.

use super::Hub;
use super::error::LiveError;
use baton_browser::profile::certificates;
use baton_browser::restore::Restored;
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::{Certificate, Environment, SessionId};

/// The certificates that a profile was given.
pub(super) struct Trusted {
    certificates: Vec<Certificate>,
    /// Why the profile was not given them.
    refused: Option<String>,
}

impl Hub {
    /// Gives the profile of a session that was never started whom it trusts.
    pub(super) async fn begin_certificates(
        &self,
        id: SessionId,
        environment: &Environment,
    ) -> Result<(), LiveError> {
        let profile = self.config().data.profile(id);
        let wanted = environment.certificates.clone();
        self.blocking(move || certificates::write(&profile, &wanted)).await
    }

    /// Gives a profile, on which no browser runs, whom it trusts by the snapshot, and nobody else. What
    /// cannot be written is told by the receipt: then its sites are refused, and nothing else is.
    pub(super) async fn give_certificates(
        &self,
        id: SessionId,
        environment: &Environment,
    ) -> Result<Trusted, LiveError> {
        let profile = self.config().data.profile(id);
        let wanted = environment.certificates.clone();
        let write = move || {
            let refused = certificates::write(&profile, &wanted).err();
            let refused = refused.map(|error| error.to_string());
            Ok::<_, LiveError>(Trusted { certificates: wanted, refused })
        };
        let trusted = self.blocking(write).await?;
        if let Some(error) = &trusted.refused {
            tracing::warn!(session = %id, error, "a profile was not told whom its browser trusts");
        }
        Ok(trusted)
    }
}

impl Trusted {
    /// Tells what became of them.
    pub(super) fn tell(&self, restored: &mut Restored) {
        for certificate in &self.certificates {
            let place = certificate.place();
            restored.receipt.push(match &self.refused {
                None => ReceiptItem {
                    verified: Verified::None,
                    ..ReceiptItem::restored(ItemKind::Environment, place)
                },
                Some(reason) => ReceiptItem::rejected(ItemKind::Environment, place, reason),
            });
        }
    }
}
