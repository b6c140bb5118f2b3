//! Which browser a session was signed in with, as far as any site tells one from another: product, version
//! and system.
//!
//! The one idea: it is a note and no wish. What a browser is to say of itself stands in the rest of the
//! environment; this says what sites saw where nothing else does.

use super::derive::{Family, ParsedUserAgent};
use super::{MAX_TEXT, check};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A browser by its name: what every site sees of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BrowserName {
    /// Its product: `Chrome` for whatever its user agent calls so, Chromium among them; `Edge`, `Firefox` or
    /// `Safari`.
    pub product: String,
    /// Its major version.
    pub version: u32,
    /// Its system, as client hints call it: `Linux`, `macOS`, `Windows`, `Android`, `Chrome OS` or `iOS`.
    pub platform: String,
}

const CHROME: &str = "Chrome";
const EDGE: &str = "Edge";

/// What a user agent of another engine says, and its system. The first that fits counts.
const OTHERS: [(&str, &str); 5] = [
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", CHROME),
    ("EdgiOS/", EDGE),
    ("Version/", "Safari"),
];
const SYSTEMS: [(&str, &str); 7] = [
    ("iPhone", "iOS"),
    ("iPad", "iOS"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("CrOS", "Chrome OS"),
    ("Linux", "Linux"),
];

impl BrowserName {
    /// The browser that a user agent names; none of one that names none of these, or no system.
    pub fn of_user_agent(user_agent: &str) -> Option<Self> {
        if let Some(said) = ParsedUserAgent::of(user_agent) {
            let product = if said.family == Family::Edge { EDGE } else { CHROME };
            return Some(Self::new(product, said.major, said.system.hint()));
        }
        let has = |word: &str| user_agent.contains(word);
        let tokens = || user_agent.split_whitespace();
        let (version, product) = OTHERS.iter().find_map(|(start, product)| {
            let version = tokens().find_map(|token| token.strip_prefix(start))?;
            Some((major(version)?, *product))
        })?;
        if product == "Safari" && !has("Safari/") {
            return None;
        }
        let comment = user_agent.split_once('(')?.1.split(')').next()?;
        let (_, system) = SYSTEMS.iter().find(|(word, _)| comment.contains(word))?;
        Some(Self::new(product, version, system))
    }

    /// The browser that says of its version what `Browser.getVersion` of the DevTools protocol answers as
    /// `product`, such as `Chrome/156.0.8078.79`; none of one that says something else.
    pub fn of_product(text: &str, platform: &str) -> Option<Self> {
        let (name, version) = text.split_once('/')?;
        let product = match name {
            "Chrome" | "HeadlessChrome" | "Chromium" => CHROME,
            "Edg" | "HeadlessEdg" => EDGE,
            _ => return None,
        };
        Some(Self::new(product, major(version)?, platform))
    }

    fn new(product: &str, version: u32, platform: &str) -> Self {
        Self { product: product.to_owned(), version, platform: platform.to_owned() }
    }

    /// Whether a site that knows this one sees the same in `other`, perhaps a newer version of it.
    pub fn goes_on_as(&self, other: &Self) -> bool {
        self.product == other.product
            && self.platform == other.platform
            && self.version <= other.version
    }

    /// The user agent by which another Chromium becomes this one in all that sites see; none where that
    /// cannot be.
    pub fn user_agent(&self) -> Option<String> {
        let system = match self.platform.as_str() {
            "Linux" => "X11; Linux x86_64",
            "macOS" => "Macintosh; Intel Mac OS X 10_15_7",
            "Windows" => "Windows NT 10.0; Win64; x64",
            "Chrome OS" => "X11; CrOS x86_64 14541.0.0",
            _ => return None,
        };
        let edge = match self.product.as_str() {
            CHROME => String::new(),
            EDGE => format!(" Edg/{}.0.0.0", self.version),
            _ => return None,
        };
        Some(format!(
            "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 \
             Safari/537.36{edge}",
            self.version
        ))
    }

    /// Whether it can be the name of a browser: it may come from any file.
    pub fn is_plain(&self) -> bool {
        check::is_plain(&self.product) && check::is_plain(&self.platform)
    }
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

/// What cannot be one says nothing.
impl fmt::Display for BrowserName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { product, version, platform } = self;
        let short = |text: &str| text.chars().take(MAX_TEXT).collect::<String>();
        write!(f, "{} {version} on {}", short(product), short(platform))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    const WEBKIT: &str = "AppleWebKit/537.36 (KHTML, like Gecko)";

    fn name(user_agent: &str) -> String {
        BrowserName::of_user_agent(user_agent).map_or("-".to_owned(), |name| name.to_string())
    }

    #[test]
    fn a_user_agent_has_a_name() {
        let of = |system: &str, rest: &str| name(&format!("Mozilla/5.0 ({system}) {rest}"));
        let mac = "Macintosh; Intel Mac OS X 10_15_7";
        let chrome = format!("{WEBKIT} Chrome/147.0.0.0 Safari/537.36");
        assert_eq!(of(mac, &chrome), "Chrome 147 on macOS");
        assert_eq!(of("X11; Linux x86_64", &chrome), "Chrome 147 on Linux");
        assert_eq!(of(mac, &format!("{chrome} Edg/147.0.0.0")), "Edge 147 on macOS");
        let gecko = "Gecko/20100101 Firefox/140.0";
        assert_eq!(of("Windows NT 10.0; Win64; x64; rv:140.0", gecko), "Firefox 140 on Windows");
        assert_eq!(
            of(mac, "AppleWebKit/605.1.15 Version/26.0 Safari/605.1.15"),
            "Safari 26 on macOS"
        );
        let phone = "iPhone; CPU iPhone OS 19_1 like Mac OS X";
        assert_eq!(of(phone, "CriOS/147.0.0.0 Mobile Safari/604.1"), "Chrome 147 on iOS");
        for other in ["Baton test", "", "Mozilla/5.0 (X11; Linux x86_64)", "Firefox/x (Linux)"] {
            assert_eq!(name(other), "-", "{other}");
        }
    }

    #[test]
    fn a_running_browser_has_one_too() {
        let of = |text| BrowserName::of_product(text, "Linux").map(|name| name.to_string());
        assert_eq!(of("Chrome/156.0.8078.79").as_deref(), Some("Chrome 156 on Linux"));
        assert_eq!(of("HeadlessChrome/156.0.8078.79").as_deref(), Some("Chrome 156 on Linux"));
        assert_eq!(of("Edg/147.0.1.2").as_deref(), Some("Edge 147 on Linux"));
        assert_eq!((of("Opera/1"), of("Chrome/x"), of("Chrome")), (None, None, None));
    }

    #[test]
    fn only_a_newer_version_of_the_same_one_goes_on() {
        let before = BrowserName::new("Chrome", 147, "macOS");
        for (other, goes_on) in [
            (BrowserName::new("Chrome", 147, "macOS"), true),
            (BrowserName::new("Chrome", 156, "macOS"), true),
            (BrowserName::new("Chrome", 146, "macOS"), false),
            (BrowserName::new("Chrome", 156, "Linux"), false),
            (BrowserName::new("Edge", 147, "macOS"), false),
        ] {
            assert_eq!(before.goes_on_as(&other), goes_on, "{other}");
        }
    }

    #[test]
    fn what_another_chromium_can_be_has_a_user_agent() {
        for product in ["Chrome", "Edge"] {
            for platform in ["Linux", "macOS", "Windows", "Chrome OS"] {
                let one = BrowserName::new(product, 147, platform);
                let user_agent = one.user_agent().unwrap();
                assert_eq!(BrowserName::of_user_agent(&user_agent), Some(one));
                assert!(Identity::of_user_agent(&user_agent).is_some());
            }
        }
        assert_eq!(BrowserName::new("Firefox", 140, "Linux").user_agent(), None);
        assert_eq!(BrowserName::new("Chrome", 147, "iOS").user_agent(), None);
    }

    #[test]
    fn what_comes_from_a_file_is_checked() {
        assert!(BrowserName::new("Chrome", 1, "Linux").is_plain());
        assert!(!BrowserName::new("Chrome\n", 1, "Linux").is_plain());
        assert!(!BrowserName::new("", 1, "").is_plain());
        let long = BrowserName::new(&"x".repeat(1000), 1, "Linux");
        assert!(!long.is_plain() && long.to_string().len() < 200);
    }
}
