//! Which user agents a browser cannot be, and which it can be with all that goes with them.
//!
//! The one idea: the string is the smaller half of what a browser says of itself. Client hints
//! (`Sec-CH-UA*`, <https://wicg.github.io/ua-client-hints/>) and `navigator.platform` stay those of the
//! browser that runs, and a site that compares them takes the difference for a stolen session or a robot. So
//! a string of another Chromium brings an [identity](Identity) along, and one of another family is refused:
//! those send no hints, and nothing keeps this one from it. A string that names no browser at all contradicts
//! nothing.

use baton_session::identity::BrowserName;
use baton_session::{Environment, Identity};
use std::fmt;

/// Beginnings of tokens by which other browsers name themselves, and who they are.
const OTHERS: &[(&str, &str)] = &[
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome for iOS"),
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("Edge/", "Edge"),
    ("OPR/", "Opera"),
    ("Opera/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("YaBrowser/", "Yandex Browser"),
    ("Trident/", "Internet Explorer"),
];

/// What the comment of a user agent says of the system, and which it is. The first that fits counts.
const SYSTEMS: &[(&str, System)] = &[
    ("Android", System::Other("Android")),
    ("iPhone", System::Other("iOS")),
    ("iPad", System::Other("iPadOS")),
    ("CrOS", System::Other("ChromeOS")),
    ("Windows", System::Other("Windows")),
    ("Macintosh", System::Mac),
    ("Mac OS X", System::Mac),
    ("Linux", System::Linux),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Linux,
    Mac,
    /// One on which Baton runs no browsers.
    Other(&'static str),
}

impl System {
    const HERE: Self = if cfg!(target_os = "macos") { Self::Mac } else { Self::Linux };
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linux => "Linux",
            Self::Mac => "macOS",
            Self::Other(name) => name,
        })
    }
}

/// A user agent that the browser which would send it cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its client hints and its platform say {is}, and the user agent says {said}")]
pub struct NotThisBrowser {
    /// What the string says.
    pub said: String,
    /// What all else says.
    pub is: String,
}

/// The environment with all that its user agent says of a browser, where that is another one than the browser
/// that runs and no identity says more. `version` is what the browser says of itself, such as
/// `Chrome/156.0.8078.79`.
///
/// # Errors
///
/// When the user agent names a browser that this one cannot be, whatever it says.
pub fn made_whole(environment: Environment, version: &str) -> Result<Environment, NotThisBrowser> {
    let Some(user_agent) = &environment.user_agent else { return Ok(environment) };
    let asked = environment.identity.clone().unwrap_or_default();
    if asked.metadata.is_some() {
        return Ok(environment);
    }
    let Err(other) = expect_itself(user_agent, version) else { return Ok(environment) };
    let derived = Identity::of_user_agent(user_agent).ok_or(other)?;
    Ok(Environment { identity: Some(asked.or(derived)), ..environment })
}

/// The name of a browser of this machine; none of one that says something else of its version than Chrome,
/// Chromium or Edge do. `version` is that, such as `Chrome/156.0.8078.79`.
pub fn name_of(version: &str) -> Option<BrowserName> {
    BrowserName::of_product(version, &System::HERE.to_string())
}

/// Checks that a browser of this machine can be what `user_agent` says, as far as that names a browser or a
/// system. `version` is what the browser says of itself, such as `Chrome/156.0.8078.79`.
///
/// # Errors
///
/// When the string names another browser, another major version, or another system.
pub fn expect_itself(user_agent: &str, version: &str) -> Result<(), NotThisBrowser> {
    let major = major(version);
    let contradicts = |said: String| {
        let is = match major {
            Some(major) => format!("Chromium {major} on {}", System::HERE),
            None => format!("Chromium on {}", System::HERE),
        };
        Err(NotThisBrowser { said, is })
    };
    let tokens = || user_agent.split_whitespace();
    if let Some((_, name)) =
        OTHERS.iter().find(|(token, _)| tokens().any(|found| found.starts_with(token)))
    {
        return contradicts((*name).to_owned());
    }
    let chrome = tokens().find_map(chrome);
    if chrome.is_none() && tokens().any(|token| token.starts_with("Safari/")) {
        return contradicts("Safari".to_owned());
    }
    if let (Some(said), Some(is)) = (chrome, major)
        && said != is
    {
        return contradicts(format!("Chrome {said}"));
    }
    match comment(user_agent).and_then(system) {
        Some(said) if said != System::HERE => contradicts(said.to_string()),
        _ => Ok(()),
    }
}

/// The major version in a token such as `Chrome/156.0.0.0`.
fn chrome(token: &str) -> Option<u32> {
    let (name, version) = token.split_once('/')?;
    if !matches!(name, "Chrome" | "Chromium" | "HeadlessChrome") {
        return None;
    }
    version.split('.').next()?.parse().ok()
}

fn major(version: &str) -> Option<u32> {
    version.split_whitespace().find_map(chrome)
}

/// What is in the first parentheses: a browser's word for its system (RFC 9110, 5.6.5 and 10.1.5).
fn comment(user_agent: &str) -> Option<&str> {
    let (_, rest) = user_agent.split_once('(')?;
    rest.split(')').next()
}

fn system(comment: &str) -> Option<System> {
    SYSTEMS.iter().find(|(word, _)| comment.contains(word)).map(|(_, system)| *system)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: &str = "Chrome/156.0.8078.79";

    fn own(system: &str) -> String {
        format!(
            "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 \
             Safari/537.36"
        )
    }

    fn here() -> &'static str {
        match System::HERE {
            System::Mac => "Macintosh; Intel Mac OS X 10_15_7",
            _ => "X11; Linux x86_64",
        }
    }

    #[test]
    fn a_browser_may_say_what_it_is_and_more() {
        let headless = own(here()).replace("Chrome/", "HeadlessChrome/");
        let more = format!("{} Shopper/2.1", own(here()));
        for agent in [&own(here()), &headless, &more] {
            assert_eq!(expect_itself(agent, VERSION), Ok(()), "{agent}");
        }
    }

    #[test]
    fn a_name_of_ones_own_contradicts_nothing() {
        for agent in ["Baton test", "Shopper/2.1 (+https://shop.test/agent)", "", "("] {
            assert_eq!(expect_itself(agent, VERSION), Ok(()), "{agent}");
        }
    }

    #[test]
    fn what_it_cannot_be_is_named() {
        let said = |agent: &str| expect_itself(agent, VERSION).unwrap_err().said;
        assert_eq!(said(&own(here()).replace("156", "147")), "Chrome 147");
        assert_eq!(said(&own("Windows NT 10.0; Win64; x64")), "Windows");
        assert_eq!(said(&own("Linux; Android 10; K")), "Android");
        assert_eq!(said(&format!("{} Edg/156.0.0.0", own(here()))), "Edge");
        let gecko = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        assert_eq!(said(gecko), "Firefox");
        let webkit = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 \
                      (KHTML, like Gecko) Version/26.0 Safari/605.1.15";
        assert_eq!(said(webkit), "Safari");
    }

    #[test]
    fn another_chromium_brings_its_identity() {
        let whole = |agent: &str| {
            let user_agent = Some(agent.to_owned());
            made_whole(Environment { user_agent, ..Environment::default() }, VERSION)
                .map(|environment| environment.identity)
        };
        assert_eq!(whole(&own(here())), Ok(None), "it is that itself");
        assert_eq!(whole("Baton test"), Ok(None));
        let windows = whole(&own("Windows NT 10.0; Win64; x64")).unwrap().unwrap();
        assert_eq!(windows.platform.as_deref(), Some("Win32"));
        let edge = whole(&format!("{} Edg/156.0.0.0", own(here()))).unwrap().unwrap();
        assert!(edge.metadata.unwrap().brand_list().contains("Microsoft Edge"));
        let gecko = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        assert_eq!(whole(gecko).unwrap_err().said, "Firefox");
    }

    #[test]
    fn what_is_said_of_an_identity_stays() {
        let asked = Identity { max_touch_points: Some(5), ..Identity::default() };
        let user_agent = Some(own("Windows NT 10.0; Win64; x64"));
        let environment =
            Environment { user_agent, identity: Some(asked), ..Environment::default() };
        let whole = made_whole(environment, VERSION).unwrap();
        assert_eq!(made_whole(whole.clone(), VERSION), Ok(whole.clone()));
        let identity = whole.identity.unwrap();
        assert_eq!((identity.max_touch_points, identity.metadata.is_some()), (Some(5), true));
    }

    #[test]
    fn a_browser_that_does_not_say_its_version_may_be_any() {
        assert_eq!(expect_itself(&own(here()).replace("156", "147"), "unknown"), Ok(()));
    }
}
