//! `[browser]`: which browser is started, by which rules, and how it goes to the network.

use super::{ConfigError, invalid, number};
use baton_browser::keeper::{HostRule, KnownCredentials, ProxyLogin};
use baton_browser::launch::{BrowserChoice, ChromiumSandbox, Confine, Folder, NotSwitch, Switch};
use serde::Deserialize;
use std::path::PathBuf;

/// `[browser]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct BrowserSettings {
    /// The browser to start: a name, or the path of a program.
    pub program: Option<PathBuf>,
    /// How the machine's files are taken away from browsers: `auto`, `landlock`, `bubblewrap` or `off`.
    pub confinement: Option<String>,
    /// Folders of the machine that browsers of the owner `local` see: `DIR`, or `DIR:rw` to write too.
    pub files: Option<Vec<String>>,
    /// Which browsers go to the network through their keepers alone: `asked`, where a session or its owner
    /// wants it, or `always`.
    pub egress: Option<String>,
    /// Hosts of this machine and its network that sessions of owners other than `local` may reach.
    pub private_hosts: Option<Vec<String>>,
    /// `[[browser.proxies]]`
    pub proxies: Option<Vec<ProxyLoginTexts>>,
    /// Whether Chromium keeps its pages in a sandbox of its own: `auto` or `off`.
    pub sandbox: Option<String>,
    /// Further switches of Chromium.
    pub args: Option<Vec<String>>,
    /// The most browsers of sessions that run at once.
    pub most: Option<i64>,
    /// How much memory stays free when one is started, in bytes; 0 means that nobody looks.
    pub memory_reserve: Option<i64>,
}

/// What one source chose of browsers.
#[derive(Default)]
pub struct BrowserChoices {
    /// See [`Config::browser`](super::Config::browser).
    pub program: Option<BrowserChoice>,
    /// See [`Config::confine`](super::Config::confine).
    pub confine: Option<Confine>,
    /// See [`Config::folders`](super::Config::folders).
    pub folders: Option<Vec<Folder>>,
    /// See [`EgressRules::always`](baton_runtime::live::EgressRules::always).
    pub egress_always: Option<bool>,
    /// See [`EgressRules::lent`](baton_runtime::live::EgressRules::lent).
    pub private_hosts: Option<Vec<HostRule>>,
    /// See [`KnownProxies::logins`](baton_browser::keeper::KnownProxies::logins).
    pub proxies: Option<Vec<ProxyLogin>>,
    /// See [`Config::sandbox`](super::Config::sandbox).
    pub sandbox: Option<ChromiumSandbox>,
    /// See [`Config::switches`](super::Config::switches).
    pub switches: Option<Vec<Switch>>,
    /// See [`RoomLimits::most`](baton_runtime::live::RoomLimits::most).
    pub most: Option<usize>,
    /// See [`RoomLimits::reserve`](baton_runtime::live::RoomLimits::reserve); 0 means that nobody looks.
    pub memory_reserve: Option<u64>,
}

impl BrowserChoices {
    /// That this browser is started.
    pub fn started(program: PathBuf) -> Self {
        Self { program: Some(BrowserChoice::Program(program)), ..Self::default() }
    }

    pub(super) fn check(origin: &str, texts: BrowserSettings) -> Result<Self, ConfigError> {
        Ok(Self {
            program: texts.program.map(BrowserChoice::from),
            confine: texts.confinement.map(|text| confine(origin, &text)).transpose()?,
            folders: texts.files.map(|texts| folders(origin, &texts)).transpose()?,
            egress_always: texts.egress.map(|text| always(origin, &text)).transpose()?,
            private_hosts: texts.private_hosts.map(|texts| hosts(origin, &texts)).transpose()?,
            proxies: texts.proxies.map(|texts| proxies(origin, texts)).transpose()?,
            sandbox: texts.sandbox.map(|text| sandbox(origin, &text)).transpose()?,
            switches: texts.args.map(|texts| switches(origin, &texts)).transpose()?,
            most: number(origin, "browser.most", texts.most, 1..=100_000)?,
            memory_reserve: number(
                origin,
                "browser.memory_reserve",
                texts.memory_reserve,
                0..=1 << 44,
            )?,
        })
    }

    /// These, and where they say nothing, others.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            program: self.program.or(other.program),
            confine: self.confine.or(other.confine),
            folders: self.folders.or(other.folders),
            egress_always: self.egress_always.or(other.egress_always),
            private_hosts: self.private_hosts.or(other.private_hosts),
            proxies: self.proxies.or(other.proxies),
            sandbox: self.sandbox.or(other.sandbox),
            switches: self.switches.or(other.switches),
            most: self.most.or(other.most),
            memory_reserve: self.memory_reserve.or(other.memory_reserve),
        }
    }
}

/// How the machine's files are taken away from browsers.
fn confine(origin: &str, text: &str) -> Result<Confine, ConfigError> {
    let expected = "auto, landlock, bubblewrap or off";
    text.parse().map_err(|_| invalid(origin, "browser.confinement", expected, format!("{text:?}")))
}

/// Folders that browsers see.
fn folders(origin: &str, texts: &[String]) -> Result<Vec<Folder>, ConfigError> {
    let expected = "folders by their whole path, such as /home/ada/forms or /home/ada/scans:rw";
    let read = |text: &String| {
        let found = || format!("{text:?}");
        text.parse().map_err(|_| invalid(origin, "browser.files", expected, found()))
    };
    texts.iter().map(read).collect()
}

/// Whether all browsers go to the network through their keepers.
fn always(origin: &str, text: &str) -> Result<bool, ConfigError> {
    match text {
        "asked" => Ok(false),
        "always" => Ok(true),
        _ => Err(invalid(origin, "browser.egress", "asked or always", format!("{text:?}"))),
    }
}

/// Hosts of this machine and its network that others may reach.
fn hosts(origin: &str, texts: &[String]) -> Result<Vec<HostRule>, ConfigError> {
    let expected = "localhost, addresses or networks such as 10.1.0.0/16, perhaps with a port";
    let read = |text: &String| {
        let found = || invalid(origin, "browser.private_hosts", expected, format!("{text:?}"));
        let rule: HostRule = text.parse().map_err(|_| found())?;
        if rule.lists_addresses() { Ok(rule) } else { Err(found()) }
    };
    texts.iter().map(read).collect()
}

/// `[[browser.proxies]]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct ProxyLoginTexts {
    /// Where the proxy is.
    pub url: String,
    /// Who comes, `USER:PASSWORD`.
    pub credentials: Option<String>,
    /// The file that holds it.
    pub credentials_file: Option<PathBuf>,
}

/// How many there may be.
const MOST_PROXIES: usize = 100;

/// Who comes to which proxies. What may hold a secret is not repeated.
fn proxies(origin: &str, texts: Vec<ProxyLoginTexts>) -> Result<Vec<ProxyLogin>, ConfigError> {
    if texts.len() > MOST_PROXIES {
        let expected = format!("at most {MOST_PROXIES}");
        return Err(invalid(origin, "browser.proxies", expected, texts.len()));
    }
    texts.into_iter().map(|text| login(origin, text)).collect()
}

fn login(origin: &str, texts: ProxyLoginTexts) -> Result<ProxyLogin, ConfigError> {
    let expected = "http://HOST:PORT, https:// or socks5:// without a user";
    let proxy = texts.url.parse();
    let proxy =
        proxy.map_err(|_| invalid(origin, "browser.proxies.url", expected, "another text"))?;
    let credentials = match (texts.credentials, texts.credentials_file) {
        (Some(text), None) => text.parse().map(KnownCredentials::Given).map_err(|_| {
            let expected = "USER:PASSWORD, each 1 to 255 bytes";
            invalid(origin, "browser.proxies.credentials", expected, "another text")
        })?,
        (None, Some(path)) => KnownCredentials::File(path),
        (given, _) => {
            let found = if given.is_some() { "both" } else { "none of them" };
            let expected = "set, or browser.proxies.credentials_file";
            return Err(invalid(origin, "browser.proxies.credentials", expected, found));
        }
    };
    Ok(ProxyLogin { proxy, credentials })
}

/// Whether Chromium keeps its pages in a sandbox of its own.
fn sandbox(origin: &str, text: &str) -> Result<ChromiumSandbox, ConfigError> {
    let expected = "auto or off";
    text.parse().map_err(|_| invalid(origin, "browser.sandbox", expected, format!("{text:?}")))
}

/// Further switches of Chromium.
fn switches(origin: &str, texts: &[String]) -> Result<Vec<Switch>, ConfigError> {
    let read = |text: &String| {
        text.parse().map_err(|error| match error {
            NotSwitch::Other(_) => {
                let expected = "switches of Chromium such as --mute-audio";
                invalid(origin, "browser.args", expected, "another text".to_owned())
            }
            NotSwitch::Ours { switch, why } => {
                let expected = "switches that are not Baton's own";
                invalid(origin, "browser.args", expected, format!("{switch}: {why}"))
            }
        })
    };
    texts.iter().map(read).collect()
}
