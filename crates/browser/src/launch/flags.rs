//! The command line and the environment variables of a launch: our switches, and those that people add.
//!
//! What a page sees of its environment is set here where Chromium allows it, because a switch needs no
//! call per page and so can never be late.

use super::options::LaunchOptions;
use super::way_out;
use baton_session::identity::{ColorScheme, Identity};
use baton_session::{Confinement, Environment};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

/// Marks a browser as one that we started; Chromium itself does not know it.
pub(super) const MARK: &str = "--held-by-baton";

/// Parts of Chromium that no session needs. One asks a server of its maker for the time. The last two draw the address bar's suggestions as web
/// pages, in a renderer of their own that takes more work and memory to start than all tabs together;
/// without them Chromium draws the suggestions itself.
const WITHOUT: (&str, [&str; 6]) = (
    "--disable-features=",
    [
        "MediaRouter",
        "NetworkTimeServiceQuerying",
        "OptimizationHints",
        "Translate",
        "WebUIOmniboxAimPopup",
        "WebUIOmniboxPopup",
    ],
);

/// Where components are asked for that Chromium wants on demand, whatever `--disable-component-update` says:
/// at a port that it never connects to (`net/base/port_util.cc`).
const NO_COMPONENTS: &str = "--component-updater=url-source=http://127.0.0.1:9/";

/// Switches of every launch: quiet, offline unless a page asks, no dialogs, no keyring.
const ALWAYS: &[&str] = &[
    MARK,
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    NO_COMPONENTS,
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-quic",
    "--disable-sync",
    "--hide-crash-restore-bubble",
    "--metrics-recording-only",
    "--no-service-autorun",
    "--password-store=basic",
    "--profile-directory=Default",
    "--use-mock-keychain",
];

/// Environment variables that a browser may need; all others stay with the caller.
const PASSED: &[&str] =
    &["HOME", "PATH", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMPDIR", "TZ"];
const PASSED_PREFIXES: &[&str] = &["XDG_", "FONTCONFIG_"];
const PASSED_BUS: &str = "DBUS_SESSION_BUS_ADDRESS";

/// What a window adds to the height of its page, in CSS pixels: measured on Chromium 156, headless,
/// and headed on a bare X server. A desktop may differ: the restore sets the exact size.
const CHROME_HEIGHT: u32 = 87;

/// The arguments of the program. `sandboxed` is not for root, whom Chromium refuses it.
pub(super) fn arguments(
    options: &LaunchOptions,
    sandboxed: bool,
    rules: Confinement,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    let (without, others) = without(&options.extra_args);
    arguments.push(without.into());
    if !options.headed {
        arguments.extend(["--headless=new", "--disable-gpu"].map(OsString::from));
    }
    if !sandboxed {
        arguments.push("--no-sandbox".into());
    } else if rules.holds() {
        // The rules keep programs from getting rights by being executed, and so this helper of the
        // sandbox from being of use; user namespaces do the same.
        arguments.push("--disable-setuid-sandbox".into());
    }
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(&options.profile);
    arguments.push(profile);
    arguments.extend(switches(&options.environment).into_iter().map(OsString::from));
    arguments.extend(options.way_out.into_iter().flat_map(way_out::switches).map(OsString::from));
    arguments.extend(others.map(OsString::from));
    arguments
}

/// What is left out of Chromium, ours and the caller's: of two such switches only the last one counts. And
/// the caller's other switches.
fn without(extra: &[String]) -> (String, impl Iterator<Item = &String>) {
    let theirs = extra.iter().filter_map(|switch| switch.strip_prefix(WITHOUT.0));
    let without = WITHOUT.1.iter().copied().chain(theirs).collect::<Vec<_>>().join(",");
    let others = extra.iter().filter(|switch| !switch.starts_with(WITHOUT.0));
    (format!("{}{without}", WITHOUT.0), others)
}

/// What switches say of an environment, and hold to in pages, frames and workers alike.
pub fn switches(environment: &Environment) -> Vec<String> {
    let mut switches = Vec::new();
    let identity = environment.identity.as_ref();
    let languages = identity.map(|identity| &identity.languages[..]).unwrap_or_default();
    if let Some(locale) = environment.locale.as_ref().or(languages.first()) {
        switches.push(format!("--lang={locale}"));
        let accepted = if languages.is_empty() { accepted(locale) } else { languages.join(",") };
        switches.push(format!("--accept-lang={accepted}"));
    }
    if let Some(agent) = &environment.user_agent {
        switches.push(format!("--user-agent={agent}"));
    }
    if let Some(viewport) = environment.viewport {
        let height = viewport.height.saturating_add(CHROME_HEIGHT);
        switches.push(format!("--window-size={},{height}", viewport.width));
    }
    switches.extend(identity.into_iter().flat_map(screen));
    switches
}

/// What of an identity has switches that hold in pages and frames alike; of the rest its keeper takes care.
fn screen(identity: &Identity) -> impl Iterator<Item = String> {
    let scale = identity.device_scale_factor;
    let scheme = identity.color_scheme.map(|scheme| match scheme {
        // Blink's own setting gives way when the browser tells a renderer its preferences anew.
        ColorScheme::Dark => "--force-dark-mode",
        ColorScheme::Light => "--blink-settings=preferredColorScheme=1",
    });
    let motion = identity.reduced_motion.map(|reduced| {
        if reduced { "--force-prefers-reduced-motion" } else { "--force-prefers-no-reduced-motion" }
    });
    let has_touch = identity.max_touch_points.is_some_and(|points| points > 0);
    let touch = has_touch.then(|| "--touch-events=enabled".to_owned());
    let scale = scale.map(|scale| format!("--force-device-scale-factor={scale}"));
    touch.into_iter().chain(scale).chain(scheme.map(str::to_owned)).chain(motion.map(str::to_owned))
}

/// `ja-JP` accepts `ja-JP,ja`, as a browser of that language does.
fn accepted(locale: &str) -> String {
    match locale.split_once('-') {
        Some((language, _)) => format!("{locale},{language}"),
        None => locale.to_owned(),
    }
}

/// Whether a program that deals with a browser may see this variable of the caller.
pub fn passes(name: &str) -> bool {
    PASSED.contains(&name)
        || name == PASSED_BUS
        || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The environment variables of the program.
pub(super) fn variables(options: &LaunchOptions) -> BTreeMap<String, String> {
    let mut variables = options.inherited.clone();
    variables.retain(|name, _| passes(name));
    if let Some(timezone) = &options.environment.timezone {
        variables.insert("TZ".to_owned(), timezone.clone());
    }
    variables
}

/// A switch that may stand beside ours, such as `--mute-audio` or `--lang=de`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch(String);

/// Names of switches that are Baton's own affair, whole or by their beginning, and why.
const OURS: &[(&str, &str)] = &[
    ("remote-debugging-", "the browser is spoken to by its keeper alone"),
    ("user-data-dir", "each session has a profile of its own"),
    ("profile-directory", "each session has a profile of its own"),
    ("held-by-baton", "it marks browsers that Baton started"),
    ("proxy-", "the way out of a session is not a matter of its browser"),
    ("no-proxy-server", "the way out of a session is not a matter of its browser"),
    ("host-rules", "the way out of a session is not a matter of its browser"),
    ("host-resolver-rules", "the way out of a session is not a matter of its browser"),
    ("webrtc-", "the way out of a session is not a matter of its browser"),
    ("force-webrtc-", "the way out of a session is not a matter of its browser"),
    ("no-sandbox", "browser.sandbox = \"off\" says that, with a warning"),
    ("disable-setuid-sandbox", "browser.sandbox = \"off\" says that, with a warning"),
    ("disable-namespace-sandbox", "browser.sandbox = \"off\" says that, with a warning"),
    ("disable-seccomp-filter-sandbox", "browser.sandbox = \"off\" says that, with a warning"),
    ("disable-gpu-sandbox", "browser.sandbox = \"off\" says that, with a warning"),
    ("no-zygote", "browser.sandbox = \"off\" says that, with a warning"),
    ("single-process", "browser.sandbox = \"off\" says that, with a warning"),
    ("log-file", "what the browser logs goes to the log of its keeper"),
    ("enable-logging", "what the browser logs goes to the log of its keeper"),
    ("crash-dumps-dir", "the browser writes to its own folders alone"),
    ("disk-cache-dir", "the browser writes to its own folders alone"),
    ("headless", "baton open --headed shows a window"),
    ("restore-last-session", "Baton brings the tabs back"),
    ("password-store", "cookies would be sealed by a key that no other machine has"),
    ("use-mock-keychain", "cookies would be sealed by a key that no other machine has"),
];

/// Why a text is no switch that may stand beside ours.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NotSwitch {
    /// It is none at all.
    #[error("expected a switch such as --mute-audio, found {0:?}")]
    Other(String),
    /// It is one of those that Baton sets.
    #[error("expected switches that are not Baton's own, found {switch}: {why}")]
    Ours {
        /// The switch.
        switch: String,
        /// Why it is Baton's own.
        why: &'static str,
    },
}

impl FromStr for Switch {
    type Err = NotSwitch;

    fn from_str(text: &str) -> Result<Self, NotSwitch> {
        // Chromium takes switches in any case, and with one dash too (`base/command_line.cc`).
        let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-')).unwrap_or_default();
        let name = name.split('=').next().unwrap_or_default().to_ascii_lowercase();
        if name.is_empty() || name.contains(char::is_whitespace) || text.contains('\0') {
            return Err(NotSwitch::Other(text.to_owned()));
        }
        let is_ours = |own: &str| {
            if own.ends_with('-') { name.starts_with(own) } else { name == own }
        };
        match OURS.iter().find(|(own, _)| is_ours(own)) {
            Some((_, why)) => Err(NotSwitch::Ours { switch: text.to_owned(), why }),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::state::Viewport;

    fn options() -> LaunchOptions {
        LaunchOptions {
            environment: Environment {
                viewport: Some(Viewport { width: 1024, height: 700 }),
                user_agent: Some("Tester/1".to_owned()),
                identity: None,
                browser: None,
                timezone: Some("Asia/Tokyo".to_owned()),
                locale: Some("ja-JP".to_owned()),
                geolocation: None,
                permissions: Vec::new(),
                certificates: Vec::new(),
                egress: None,
            },
            extra_args: ["--disable-features=Fonts", "--mute-audio"].map(str::to_owned).into(),
            ..LaunchOptions::new("/usr/bin/chromium".into(), "/data/profile".into())
        }
    }

    #[test]
    fn the_environment_becomes_switches_and_the_caller_has_the_last_word() {
        let arguments = arguments(&options(), false, Confinement::Landlock);
        let after = &arguments[ALWAYS.len()..];
        let expected = [
            "--disable-features=MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,Translate,WebUIOmniboxAimPopup,WebUIOmniboxPopup,Fonts",
            "--headless=new",
            "--disable-gpu",
            "--no-sandbox",
            "--user-data-dir=/data/profile",
            "--lang=ja-JP",
            "--accept-lang=ja-JP,ja",
            "--user-agent=Tester/1",
            "--window-size=1024,787",
            "--mute-audio",
        ];
        assert_eq!(after, expected.map(OsString::from));
    }

    #[test]
    fn an_identity_becomes_switches_where_they_hold_everywhere() {
        let identity = Identity {
            languages: ["de-DE", "de", "en"].map(str::to_owned).into(),
            device_scale_factor: Some(1.5),
            color_scheme: Some(ColorScheme::Dark),
            reduced_motion: Some(true),
            max_touch_points: Some(5),
            ..Identity::default()
        };
        let environment = Environment { identity: Some(identity), ..Environment::default() };
        let options = LaunchOptions { environment, ..options() };
        let expected = [
            "--lang=de-DE",
            "--accept-lang=de-DE,de,en",
            "--touch-events=enabled",
            "--force-device-scale-factor=1.5",
            "--force-dark-mode",
            "--force-prefers-reduced-motion",
        ];
        assert_eq!(switches(&options.environment), expected);
    }

    #[test]
    fn a_headed_browser_of_an_ordinary_user_keeps_its_sandbox() {
        let options = LaunchOptions { headed: true, ..options() };
        let arguments = arguments(&options, true, Confinement::Off);
        assert!(!arguments.contains(&"--disable-setuid-sandbox".into()));
        assert!(!arguments.contains(&"--no-sandbox".into()));
        assert!(!arguments.contains(&"--headless=new".into()));
    }

    #[test]
    fn secrets_of_the_caller_stay_with_the_caller() {
        let mut options = options();
        for name in ["HOME", "BATON_KEY", "AWS_SECRET_ACCESS_KEY", "XDG_RUNTIME_DIR", "TZ"] {
            options.inherited.insert(name.to_owned(), "caller".to_owned());
        }
        let variables = variables(&options);
        let names: Vec<_> = variables.keys().collect();
        assert_eq!(names, ["HOME", "TZ", "XDG_RUNTIME_DIR"]);
        assert_eq!(variables["TZ"], "Asia/Tokyo");
    }

    #[test]
    fn what_would_undo_ours_is_refused_however_it_is_written() {
        for text in [
            "--remote-debugging-port=9222",
            "--Remote-Debugging-Address=0.0.0.0",
            "-user-data-dir=/tmp/x",
            "--proxy-server=evil.test:1",
            "--proxy-pac-url=http://evil.test",
            "--no-proxy-server",
            "--host-resolver-rules=MAP * evil.test",
            "--host-rules=MAP * evil.test",
            "--webrtc-ip-handling-policy=default",
            "--no-sandbox",
            "--NO-SANDBOX",
            "--log-file=/tmp/x",
        ] {
            let refused = text.parse::<Switch>().unwrap_err();
            assert!(matches!(refused, NotSwitch::Ours { .. }), "{text}: {refused}");
        }
    }

    #[test]
    fn what_is_no_switch_is_refused() {
        for text in ["", "--", "-", "https://evil.test/", "--=x", "--a b", "--x=\0"] {
            assert!(matches!(text.parse::<Switch>(), Err(NotSwitch::Other(_))), "{text:?}");
        }
        for text in ["--mute-audio", "--lang=de", "--user-agent=A B", "--proxying"] {
            assert_eq!(text.parse::<Switch>().unwrap().to_string(), text);
        }
    }
}
