//! What sites may do: written into a profile before a browser starts on it.

use super::Hub;
use super::error::LiveError;
use baton_browser::live::Live;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::permissions;
use baton_browser::restore::{Choice, Ground, Restored, choose};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Environment, Session, SessionId};
use jiff::Timestamp;

/// The permissions that a profile was given.
pub(super) struct Given {
    choices: Vec<Choice>,
    /// Whether every site may know the place of the browser.
    everywhere: bool,
    /// Why the profile was not given them.
    refused: Option<String>,
}

impl Hub {
    /// Gives the profile of a session that was never started what its sites may do.
    pub(super) async fn begin_permissions(
        &self,
        id: SessionId,
        environment: &Environment,
    ) -> Result<(), LiveError> {
        self.create_files(id)?;
        let profile = self.config().data.profile(id);
        let (wanted, everywhere) =
            (environment.permissions.clone(), environment.geolocation.is_some());
        self.blocking(move || permissions::write(&profile, &wanted, everywhere, now())).await
    }

    /// Gives a profile, on which no browser runs, what sites may do by its own settings and by the
    /// snapshot, and makes the environment that of both. What cannot be written is told by the receipt.
    pub(super) async fn give_permissions(
        &self,
        id: SessionId,
        environment: &mut Environment,
        ground: Option<&Ground>,
    ) -> Result<Given, LiveError> {
        let profile = self.config().data.profile(id);
        let wanted = std::mem::take(&mut environment.permissions);
        let everywhere = environment.geolocation.is_some();
        let taken_at = ground.map(|ground| ground.taken_at);
        let work = move || {
            let found = permissions::read(&profile);
            let known = found.as_ref().ok().and_then(|found| found.as_deref());
            let choices = choose(&wanted, known, taken_at);
            let chosen: Vec<_> = choices.iter().map(|choice| choice.permission.clone()).collect();
            let written =
                found.and_then(|_| permissions::write(&profile, &chosen, everywhere, now()));
            let refused = written.err().map(|error| error.to_string());
            Ok::<_, LiveError>(Given { choices, everywhere, refused })
        };
        let given = self.blocking(work).await?;
        let chosen = given.choices.iter().map(|choice| choice.permission.clone());
        environment.permissions.extend(chosen);
        Ok(given)
    }

    /// A browser of ours, whose own profile tells what sites may do.
    pub(super) fn on_its_profile(&self, session: &Session, live: Live) -> Live {
        let live = live.on_profile(self.config().data.profile(session.id));
        if session.headed { live } else { live.headless() }
    }
}

impl Given {
    /// Tells what became of them.
    pub(super) fn tell(&self, restored: &mut Restored) {
        restored.tell_permissions(&self.choices, self.refused.as_deref());
        if let Some(reason) = self.refused.as_ref().filter(|_| self.everywhere) {
            let item = ReceiptItem::rejected(ItemKind::Permission, "geolocation anywhere", reason);
            restored.receipt.push(item);
        }
    }
}

fn now() -> Instant {
    Instant(Timestamp::now().as_microsecond())
}
