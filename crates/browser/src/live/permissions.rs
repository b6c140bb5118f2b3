//! What sites may do in a running browser, by two witnesses.
//!
//! The one idea: the settings in the profile say everything, some ten seconds late; the page that a
//! tab shows says of its own site at once what it was granted. A refusal is only taken from the
//! settings: what a page sees may be that of a client, which ends with it, or of the site itself. And
//! so is a grant that a person can give for this time only: to a page it looks like one for good. What a person
//! decides who drives the session is noted here as it is said, and is for good.

use super::Live;
use crate::cdp::CdpError;
use crate::profile::at_rest::Instant;
use crate::profile::permissions;
use crate::profile::preferences::FileMark;
use crate::screen::PermissionQuestion;
use baton_egress::blocking;
use baton_session::permission::{self, Setting};
use baton_session::{Environment, Permission};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// What a person can allow *this time* only.
const ONCE: [&str; 3] = ["camera", "geolocation", "microphone"];

/// What is known of permissions.
#[derive(Debug, Default)]
pub(crate) struct Permissions {
    /// How the settings looked when they were read; none when they never were.
    look: Option<FileMark>,
    /// What pages said that they were granted: by tab, with the origin.
    granted: BTreeMap<String, (String, Vec<String>)>,
    /// What a person decided who drives, by name and origin.
    decided: BTreeMap<(String, String), Permission>,
    /// Whether some of that is new.
    is_news: bool,
    /// Whether the browser has no window, and so no person to ask.
    is_headless: bool,
}

impl Permissions {
    /// From now on what a page was granted is nothing that a person allowed for a while.
    pub(super) fn note_headless(&mut self) {
        self.is_headless = true;
    }

    /// Notes what the page in a tab said; one without an origin says that the one before is gone.
    pub(super) fn note(&mut self, tab: &str, origin: Option<String>, names: Vec<String>) {
        match origin {
            Some(origin) => self.granted.insert(tab.to_owned(), (origin, names)),
            None => self.granted.remove(tab),
        };
    }

    /// Notes what a person decided; of too many, the oldest is forgotten.
    fn decide(&mut self, decided: Permission) {
        let (name, origin) = decided.key();
        self.decided.insert((name.to_owned(), origin.to_owned()), decided);
        self.is_news = true;
        if self.decided.len() > permission::MAX_PERMISSIONS {
            let oldest = self.decided.iter().min_by_key(|(_, one)| one.changed);
            if let Some(key) = oldest.map(|(key, _)| key.clone()) {
                self.decided.remove(&key);
            }
        }
    }

    /// Forgets what was said in tabs that are gone.
    pub(super) fn retain(&mut self, mut lives: impl FnMut(&str) -> bool) {
        self.granted.retain(|tab, _| lives(tab));
    }

    /// Adds to an environment with the permissions of the settings what pages said besides.
    pub(super) fn add_to(&self, environment: &mut Environment) {
        // It is granted to all, by us.
        let is_ours = |name: &str| name == "geolocation" && environment.geolocation.is_some();
        let is_for_now = |name: &str| !self.is_headless && ONCE.contains(&name);
        let mut granted = Vec::new();
        for (origin, names) in self.granted.values() {
            for name in names.iter().filter(|name| !is_ours(name) && !is_for_now(name)) {
                let (name, origin) = (name.clone(), origin.clone());
                granted.push(Permission { name, origin, setting: Setting::Allow, changed: None });
            }
        }
        let known = &mut environment.permissions;
        for permission in granted {
            known.retain(|one| one.key() != permission.key() || one.setting == Setting::Allow);
            if !known.iter().any(|one| one.key() == permission.key()) {
                known.push(permission);
            }
        }
        for decided in self.decided.values() {
            known.retain(|one| one.key() != decided.key() || one.changed > decided.changed);
            if !known.iter().any(|one| one.key() == decided.key()) {
                // An instant would say that it stands in the settings.
                known.push(Permission { changed: None, ..decided.clone() });
            }
        }
        permission::bound(known);
    }
}

impl Live {
    /// Gives a site what it asked a person for, or refuses it, for as long as the browser is watched; captures have
    /// it from now on. What a frame asks for within a page of another origin that page lends it, so it is decided
    /// for the page.
    pub async fn decide(
        &self,
        asked: &PermissionQuestion,
        setting: Setting,
        now: Instant,
    ) -> Result<(), CdpError> {
        let origin = asked.within.as_ref().unwrap_or(&asked.origin);
        let word = if setting == Setting::Allow { "granted" } else { "denied" };
        for &name in &asked.names {
            let descriptor = match name {
                "midi-sysex" => json!({ "name": "midi", "sysex": true }),
                name => json!({ "name": name }),
            };
            let params = json!({ "permission": descriptor, "setting": word, "origin": origin });
            self.browser().call("Browser.setPermission", params).await?;
            let (name, origin) = (name.to_owned(), origin.clone());
            let decided = Permission { name, origin, setting, changed: Some(now.0) };
            self.shared().mirror().seen.permissions.decide(decided);
        }
        Ok(())
    }

    /// Reads the settings if they look otherwise than before, and says whether they have another decision.
    /// Those that cannot be read are as they were last known.
    pub(crate) async fn read_permissions(&self) -> bool {
        let (is_news, known) = {
            let permissions = &mut self.shared().mirror().seen.permissions;
            (std::mem::take(&mut permissions.is_news), permissions.look)
        };
        let Some(profile) = self.shared().profile() else { return is_news };
        let read = blocking(move || read_changed(&profile, known)).await;
        let Some((look, found)) = read else { return is_news };
        let mut mirror = self.shared().mirror();
        mirror.seen.permissions.look = Some(look);
        found.is_some_and(|found| mirror.set_permissions(found)) || is_news
    }
}

/// How the settings look now and what they say, if they look otherwise.
fn read_changed(
    profile: &Path,
    known: Option<FileMark>,
) -> Option<(FileMark, Option<Vec<Permission>>)> {
    let look = FileMark::at(profile).filter(|look| Some(*look) != known)?;
    let found = permissions::read(profile).unwrap_or_else(|error| {
        tracing::warn!(%error, "what sites may do is as it was last known");
        None
    });
    Some((look, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::state::Geolocation;

    fn granted(names: &[&str]) -> Permissions {
        let mut permissions = Permissions { is_headless: true, ..Permissions::default() };
        let names = names.iter().map(|name| (*name).to_owned());
        permissions.note("tab", Some("https://app.test".to_owned()), names.collect());
        permissions
    }

    fn known(name: &str, setting: Setting) -> Environment {
        let (name, origin) = (name.to_owned(), "https://app.test".to_owned());
        let permissions = vec![Permission { name, origin, setting, changed: Some(1) }];
        Environment { permissions, ..Environment::default() }
    }

    #[test]
    fn what_a_page_was_granted_is_newer_than_the_settings() {
        let mut environment = known("camera", Setting::Deny);
        granted(&["camera", "midi"]).add_to(&mut environment);
        let found: Vec<_> =
            environment.permissions.iter().map(|one| (&*one.name, one.setting)).collect();
        assert_eq!(found, [("camera", Setting::Allow), ("midi", Setting::Allow)]);
    }

    #[test]
    fn what_the_settings_say_already_keeps_its_instant() {
        let mut environment = known("camera", Setting::Allow);
        granted(&["camera"]).add_to(&mut environment);
        assert_eq!(environment, known("camera", Setting::Allow));
    }

    #[test]
    fn what_a_person_may_have_allowed_for_this_time_is_taken_from_the_settings_only() {
        let mut headed = granted(&["camera", "geolocation", "microphone", "midi"]);
        headed.is_headless = false;
        for setting in [Setting::Allow, Setting::Deny] {
            let mut environment = known("camera", setting);
            headed.add_to(&mut environment);
            let found: Vec<_> =
                environment.permissions.iter().map(|one| (&*one.name, one.setting)).collect();
            assert_eq!(found, [("camera", setting), ("midi", Setting::Allow)]);
        }
    }

    #[test]
    fn a_page_without_an_origin_says_that_the_one_before_is_gone() {
        let mut environment = Environment::default();
        let mut permissions = granted(&["midi"]);
        permissions.note("tab", None, Vec::new());
        permissions.add_to(&mut environment);
        assert_eq!(environment, Environment::default());
    }

    #[test]
    fn what_a_person_decided_counts_until_the_settings_have_something_newer() {
        let decided = |changed| {
            let (name, origin) = ("camera".to_owned(), "https://app.test".to_owned());
            Permission { name, origin, setting: Setting::Deny, changed }
        };
        for (changed, setting) in [(Some(2), Setting::Deny), (Some(0), Setting::Allow)] {
            let mut permissions = Permissions::default();
            permissions.decide(decided(changed));
            let mut environment = known("camera", Setting::Allow);
            permissions.add_to(&mut environment);
            let found: Vec<_> = environment.permissions.iter().map(|one| one.setting).collect();
            assert_eq!(found, [setting]);
        }
    }

    #[test]
    fn where_the_browser_is_by_our_own_word_is_no_decision() {
        let place = Geolocation { latitude: 1.0, longitude: 2.0, accuracy: 3.0 };
        let mut environment = Environment { geolocation: Some(place), ..Environment::default() };
        granted(&["geolocation"]).add_to(&mut environment);
        assert_eq!(environment.permissions, []);
    }
}
