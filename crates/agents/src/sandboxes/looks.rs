//! What the browser of an agent is told of the environment of the session that a sandbox has.
//!
//! The one idea: agents start their browsers themselves. What switches of a browser can say is said by variables,
//! which agent-browser reads. What they cannot say is said by a [wrapper](baton_browser::keeper::WrapperSpec), which
//! is started in the browser's place and tells each page, frame and worker before its first script; half of it is
//! never said, since a user agent beside the client hints of another browser gives a session away sooner than the
//! browser of the sandbox does.

use super::tabs::{ADDRESSES, HandedTabs};
use super::{NOTES_NAME, WRAPPER_NAME};
use baton_browser::keeper::{TargetKind, WrapperSpec, prelude};
use baton_browser::launch::switches;
use baton_runtime::sessions::check;
use baton_sandbox::Sandbox;
use baton_session::receipt::{ItemKind, Outcome, ReceiptItem, Verified};
use baton_session::write_back::GivenTab;
use baton_session::{Environment, Identity, Receipt, StorageKey, Tab};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// The variable with switches for the browser, a line each.
pub(super) const SWITCHES: &str = "AGENT_BROWSER_ARGS";
/// The variable that names the browser.
pub(super) const PROGRAM: &str = "AGENT_BROWSER_EXECUTABLE_PATH";
/// What programs know the time zone by.
const TIMEZONE: &str = "TZ";
/// The hidden command of Baton's program that is the wrapper.
const COMMAND: &str = "browser-wrapper";

/// What is told, and what is not.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Looks {
    said: Environment,
    /// Whether it needs more than switches.
    needs_wrapper: bool,
    timezone: Option<String>,
    tabs: HandedTabs,
    /// The origins at which a service worker answers.
    workers: Vec<String>,
    /// What sites see otherwise than in a browser of the node.
    pub(super) warning: Option<String>,
}

impl Looks {
    /// Of the session that is handed in, wherever it comes from: nothing of a field that no session of ours could
    /// have.
    pub(super) fn of(environment: &Environment, tabs: &[Tab]) -> Self {
        let tabs = HandedTabs::of(tabs);
        let Some(environment) = possible(environment) else {
            return Self { needs_wrapper: !tabs.is_empty(), tabs, ..Self::default() };
        };
        let is_unknown = environment.names_a_browser() && !can_be_said(&environment);
        let said = Environment {
            user_agent: environment.user_agent.clone().filter(|_| !is_unknown),
            locale: environment.locale.clone(),
            identity: environment.identity.clone(),
            geolocation: environment.geolocation,
            ..Environment::default()
        };
        let in_pages = prelude(&said).iter().any(|call| call.is_for(TargetKind::Page));
        let needs_wrapper = said.names_a_browser() || in_pages || !tabs.is_empty();
        let warning = is_unknown.then(|| {
            "identity: sites see user agent, client hints and platform of the browser in the sandbox, and not those \
             of the session"
                .to_owned()
        });
        let timezone = environment.timezone.clone();
        Self { said, needs_wrapper, timezone, tabs, workers: Vec::new(), warning }
    }

    /// The same, where service workers answer at these storage keys.
    pub(super) fn with_workers(mut self, keys: impl Iterator<Item = StorageKey>) -> Self {
        let of_pages = keys.filter(StorageKey::is_first_party);
        self.workers = of_pages.map(|key| key.origin().to_owned()).collect();
        self
    }

    /// The wrapper for a sandbox whose own browser is `program`, as an archive for its folder; none where
    /// switches say it all, or where there is no browser.
    pub(super) fn wrapper(
        &self,
        sandbox: &dyn Sandbox,
        program: Option<&String>,
    ) -> Option<io::Result<File>> {
        let program = PathBuf::from(program.filter(|_| self.needs_wrapper)?);
        let folder = folder(sandbox.workspace());
        let notes = (!self.tabs.is_empty()).then(|| format!("{folder}/{NOTES_NAME}").into());
        let tabs = self.tabs.to_tabs();
        let (environment, workers) = (self.said.clone(), self.workers.clone());
        let spec = WrapperSpec { program, environment, tabs, workers, notes };
        let command = [sandbox.program().display().to_string(), COMMAND.to_owned()];
        Some(spec.pack(&command, &folder))
    }

    /// Which tabs of the session it is given.
    pub(super) fn given_tabs(&self) -> Vec<GivenTab> {
        self.tabs.given()
    }

    /// The variables for commands, in a sandbox with a workspace and with variables of its own.
    pub(super) fn variables(
        &self,
        workspace: &str,
        own: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::new();
        let switches = switches(&self.said);
        if self.is_wrapped(own) {
            variables.insert(PROGRAM.to_owned(), WrapperSpec::program_in(&folder(workspace)));
        } else if !switches.is_empty() {
            // Of two switches the last one counts, and that is the one of who made the sandbox.
            let all = switches.iter().chain(own.get(SWITCHES));
            let all: Vec<&str> = all.map(String::as_str).collect();
            variables.insert(SWITCHES.to_owned(), all.join("\n"));
        }
        variables.extend(self.timezone.clone().map(|zone| (TIMEZONE.to_owned(), zone)));
        variables.extend(self.tabs.addresses().map(|all| (ADDRESSES.to_owned(), all)));
        variables
    }

    /// Whether the browser of a sandbox with these variables is in a wrapper.
    fn is_wrapped(&self, own: &BTreeMap<String, String>) -> bool {
        self.needs_wrapper && own.contains_key(PROGRAM)
    }

    /// The receipt of a profile, in a sandbox with these variables: there, more than the profile is handed in.
    pub(super) fn settled(&self, receipt: Receipt, own: &BTreeMap<String, String>) -> Receipt {
        let is_wrapped = self.is_wrapped(own);
        let settle = |item: ReceiptItem| {
            if item.kind == ItemKind::Environment && item.outcome == Outcome::NotPortable {
                return self.setting(item, is_wrapped);
            }
            if is_wrapped { self.tabs.settled(item) } else { item }
        };
        receipt.items.into_iter().map(settle).collect()
    }

    /// The line of a setting.
    fn setting(&self, item: ReceiptItem, is_wrapped: bool) -> ReceiptItem {
        let Environment { user_agent, identity, locale, geolocation, .. } = &self.said;
        let (is_said, has_switches) = match item.place.as_str() {
            "time zone" => (self.timezone.is_some(), false),
            "user agent" => (is_wrapped && user_agent.is_some(), user_agent.is_some()),
            "identity" => (is_wrapped && identity.is_some(), identity.is_some()),
            "locale" => (is_wrapped && locale.is_some(), locale.is_some()),
            "geolocation" => (is_wrapped && geolocation.is_some(), false),
            _ => (false, false),
        };
        if is_said {
            let verified = Verified::None;
            return ReceiptItem { verified, ..ReceiptItem::restored(item.kind, item.place) };
        }
        if has_switches && !self.needs_wrapper {
            let reason = "AGENT_BROWSER_ARGS has switches for it, which agent-browser gives to its browser: give \
                          them to any other that you start";
            return ReceiptItem::not_portable(item.kind, item.place, reason);
        }
        item
    }
}

/// An environment without the fields that no session of ours could have, such as one that an earlier version stored.
/// The way out, which no browser is told, is not looked at here; none where nothing can be said.
fn possible(environment: &Environment) -> Option<Environment> {
    let mut possible = Environment { egress: None, ..environment.clone() };
    let mut left_out = Receipt::default();
    if let Err(error) = check::environment_of_file(&mut possible, &mut left_out) {
        tracing::warn!(%error, "a browser in a sandbox is told nothing of its session's environment");
        return None;
    }
    for ReceiptItem { place, reason, .. } in &left_out.items {
        let reason = reason.as_deref();
        tracing::warn!(field = %place, reason, "a browser in a sandbox is not told a field of its session");
    }
    Some(possible)
}

/// Whether a browser can be what the user agent says, with all that goes with it.
fn can_be_said(environment: &Environment) -> bool {
    let has_hints = |identity: &Identity| identity.metadata.is_some();
    environment.identity.as_ref().is_some_and(has_hints)
        || environment.user_agent.as_deref().and_then(Identity::of_user_agent).is_some()
}

/// Where the wrapper is, as commands know it.
fn folder(workspace: &str) -> String {
    format!("{workspace}/{WRAPPER_NAME}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::egress::Egress;
    use baton_session::identity::ColorScheme;
    use baton_session::state::Geolocation;

    const MAC: &str = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 \
                       (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36";

    /// The variables of a sandbox with these switches.
    fn own(switches: &str) -> BTreeMap<String, String> {
        [(SWITCHES, switches), (PROGRAM, "/usr/bin/chromium")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    #[test]
    fn a_usual_session_says_nothing() {
        let looks = Looks::of(&Environment::default(), &[]);
        assert_eq!(looks, Looks::default());
        assert!(looks.variables("/workspace", &own("--disable-gpu")).is_empty());
    }

    #[test]
    fn what_switches_say_is_said_before_those_of_the_sandbox() {
        let identity = Identity {
            languages: vec!["de-DE".to_owned(), "de".to_owned()],
            color_scheme: Some(ColorScheme::Dark),
            device_scale_factor: Some(2.0),
            ..Identity::default()
        };
        let environment = Environment {
            user_agent: Some("Shopper/2.1".to_owned()),
            timezone: Some("Asia/Tokyo".to_owned()),
            identity: Some(identity),
            ..Environment::default()
        };
        let looks = Looks::of(&environment, &[]);
        assert_eq!(looks.warning, None);
        let variables = looks.variables("/workspace", &own("--disable-gpu,--mute-audio"));
        let lines: Vec<&str> = variables[SWITCHES].lines().collect();
        assert_eq!(
            lines,
            [
                "--lang=de-DE",
                "--accept-lang=de-DE,de",
                "--user-agent=Shopper/2.1",
                "--force-device-scale-factor=2",
                "--force-dark-mode",
                "--disable-gpu,--mute-audio",
            ]
        );
        assert_eq!(variables[TIMEZONE], "Asia/Tokyo");
    }

    #[test]
    fn another_browser_is_said_whole_or_not_at_all() {
        let identity =
            Identity { hardware_concurrency: Some(10), ..Identity::of_user_agent(MAC).unwrap() };
        let of = |user_agent: &str, identity: Option<Identity>| {
            let user_agent = Some(user_agent.to_owned());
            Looks::of(&Environment { user_agent, identity, ..Environment::default() }, &[])
        };
        for looks in [of(MAC, Some(identity)), of(MAC, None)] {
            assert_eq!(looks.warning, None);
            let variables = looks.variables("/place", &own("--disable-gpu"));
            assert_eq!(variables[PROGRAM], "/place/.browser/browser");
            assert!(!variables.contains_key(SWITCHES), "the wrapper says them");
            // Where no browser is known, none can be wrapped.
            assert!(!looks.variables("/place", &BTreeMap::new()).contains_key(PROGRAM));
        }
        let firefox =
            of("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", None);
        assert!(!firefox.needs_wrapper && firefox.said.user_agent.is_none(), "{firefox:?}");
    }

    #[test]
    fn the_receipt_says_who_sets_what() {
        let settings = ["viewport", "user agent", "locale", "time zone"];
        let receipt = || -> Receipt {
            let no = |place| ReceiptItem::not_portable(ItemKind::Environment, place, "no setting");
            settings.into_iter().map(no).collect()
        };
        let environment = |user_agent: &str| Environment {
            user_agent: Some(user_agent.to_owned()),
            timezone: Some("Asia/Tokyo".to_owned()),
            locale: Some("ja-JP".to_owned()),
            ..Environment::default()
        };
        let restored = |looks: &Looks, own: &BTreeMap<String, String>| -> Vec<String> {
            let settled = looks.settled(receipt(), own);
            let is_set = |item: &ReceiptItem| item.outcome == Outcome::Restored;
            settled.items.into_iter().filter(is_set).map(|item| item.place).collect()
        };
        let wrapped = Looks::of(&environment(MAC), &[]);
        assert_eq!(restored(&wrapped, &own("")), ["user agent", "locale", "time zone"]);
        assert_eq!(restored(&wrapped, &BTreeMap::new()), ["time zone"]);
        let switches = Looks::of(&environment("Shopper/2.1"), &[]);
        assert_eq!(restored(&switches, &own("")), ["time zone"]);
        let settled = switches.settled(receipt(), &own(""));
        let by_switches = settled
            .items
            .iter()
            .filter(|item| item.reason.as_ref().is_some_and(|reason| reason.starts_with(SWITCHES)));
        assert_eq!(by_switches.count(), 2);
    }

    #[test]
    fn tabs_need_a_wrapper_and_are_named() {
        let tab = Tab { url: "https://a.test/".to_owned(), ..Tab::default() };
        let looks = Looks::of(&Environment::default(), &[tab]);
        let variables = looks.variables("/place", &own("--disable-gpu"));
        assert_eq!(variables[PROGRAM], "/place/.browser/browser");
        assert_eq!(variables[ADDRESSES], "https://a.test/");
    }

    #[test]
    fn the_number_of_processors_and_a_place_need_more_than_switches() {
        let identity = Identity { hardware_concurrency: Some(10), ..Identity::default() };
        let processors = Environment { identity: Some(identity), ..Environment::default() };
        let place = Geolocation { latitude: 1.0, longitude: 2.0, accuracy: 3.0 };
        let place = Environment { geolocation: Some(place), ..Environment::default() };
        for environment in [processors, place] {
            assert!(Looks::of(&environment, &[]).needs_wrapper, "{environment:?}");
        }
    }

    #[test]
    fn a_field_that_makes_no_sense_takes_no_other_with_it() {
        let edge = format!("{MAC} Edg/147.0.0.0");
        let environment = Environment {
            user_agent: Some(edge.clone()),
            identity: Identity::of_user_agent(MAC),
            timezone: Some("Asia/Tokyo".to_owned()),
            egress: Some(Egress { only: vec!["a.test".to_owned()], ..Egress::default() }),
            ..Environment::default()
        };
        let looks = Looks::of(&environment, &[]);
        assert_eq!((looks.said.user_agent, looks.said.identity), (Some(edge), None));
        assert_eq!(looks.timezone.as_deref(), Some("Asia/Tokyo"));
        assert!(looks.needs_wrapper && looks.warning.is_none());
    }

    #[test]
    fn an_environment_that_makes_no_sense_says_nothing() {
        let user_agent = Some("a\n--load-extension=/tmp".to_owned());
        let environment = Environment { user_agent, ..Environment::default() };
        assert_eq!(Looks::of(&environment, &[]), Looks::default());
    }
}
