//! What a user agent of the family of Chromium says, and the identity that goes with it.

use super::{BrandVersion, Identity, UserAgentMetadata};

/// What is no word of a site's or ours between the parts of the brand that is none
/// (<https://wicg.github.io/ua-client-hints/#create-arbitrary-brands-section>), as Chromium has it in
/// `components/embedder_support/user_agent_utils.cc`.
const GREASE: [&str; 11] = [" ", "(", ":", "-", ".", "/", ")", ";", "=", "?", "_"];
const GREASE_VERSIONS: [&str; 3] = ["8", "99", "24"];
/// Where the brand that is none, Chromium and the browser's own brand stand; by the major version.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Tokens of browsers that Chromium is in and whose hints we do not know.
const OTHERS: [&str; 6] = ["OPR/", "Opera/", "SamsungBrowser/", "Vivaldi/", "YaBrowser/", "CriOS/"];

/// A browser with hints that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Chrome,
    HeadlessChrome,
    Chromium,
    Edge,
}

impl Family {
    const ALL: [Self; 4] = [Self::Chrome, Self::HeadlessChrome, Self::Chromium, Self::Edge];

    /// Its own brand; Chromium has none beside the one that all have.
    fn brand(self) -> Option<&'static str> {
        match self {
            Self::Chrome => Some("Google Chrome"),
            Self::HeadlessChrome => Some("HeadlessChrome"),
            Self::Chromium => None,
            Self::Edge => Some("Microsoft Edge"),
        }
    }

    /// The brand without which it is another one. Chromium, too, says that it is Chrome, and so do browsers that are
    /// made of it and have brands of their own: of that user agent none is missed.
    pub(super) fn needed_brand(self) -> Option<&'static str> {
        self.brand().filter(|_| self != Self::Chrome)
    }

    /// Whether a brand is another one's own.
    pub(super) fn is_anothers(self, brand: &str) -> bool {
        Self::ALL.iter().any(|other| *other != self && other.brand() == Some(brand))
    }
}

/// A system, by what a user agent says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Windows,
    Mac,
    Linux,
    Android,
    ChromeOs,
}

impl System {
    /// The first word that is in the comment of a user agent counts.
    const WORDS: [(&str, Self); 5] = [
        ("Android", Self::Android),
        ("CrOS", Self::ChromeOs),
        ("Windows", Self::Windows),
        ("Macintosh", Self::Mac),
        ("Linux", Self::Linux),
    ];

    /// Its name in client hints.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Windows => "Windows",
            Self::Mac => "macOS",
            Self::Linux => "Linux",
            Self::Android => "Android",
            Self::ChromeOs => "Chrome OS",
        }
    }
}

/// What a user agent says of its browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParsedUserAgent {
    pub(super) family: Family,
    /// The whole version, of which the user agents of today say the first number alone.
    version: String,
    pub(super) major: u32,
    pub(super) system: System,
    /// What stands in its first parentheses.
    comment: String,
    pub(super) mobile: bool,
}

impl ParsedUserAgent {
    /// Reads it; none when it is of another browser or system than those that we know.
    pub(super) fn of(user_agent: &str) -> Option<Self> {
        let tokens = || user_agent.split_whitespace();
        if tokens().any(|token| OTHERS.iter().any(|other| token.starts_with(other))) {
            return None;
        }
        let value =
            |name: &str| tokens().find_map(|token| token.strip_prefix(name)?.strip_prefix('/'));
        let names = [
            ("EdgA", Family::Edge),
            ("Edg", Family::Edge),
            ("HeadlessChrome", Family::HeadlessChrome),
            ("Chromium", Family::Chromium),
            ("Chrome", Family::Chrome),
        ];
        let (version, family) =
            names.iter().find_map(|(name, family)| Some((value(name)?, *family)))?;
        let major = version.split('.').next()?.parse().ok()?;
        let comment = user_agent.split_once('(')?.1.split(')').next()?;
        let (_, system) = System::WORDS.iter().find(|(word, _)| comment.contains(word))?;
        Some(Self {
            family,
            version: version.to_owned(),
            major,
            system: *system,
            comment: comment.to_owned(),
            mobile: tokens().any(|token| token == "Mobile"),
        })
    }

    /// The browser and its major version, in words.
    pub(super) fn browser(&self) -> String {
        format!("{} {}", self.family.brand().unwrap_or("Chromium"), self.major)
    }

    /// Its client hints and its platform.
    pub(super) fn identity(&self) -> Identity {
        Identity {
            metadata: Some(self.metadata()),
            platform: Some(self.platform().to_owned()),
            ..Identity::default()
        }
    }

    /// `navigator.platform`, which for most systems never changes any more.
    pub(super) fn platform(&self) -> &'static str {
        match self.system {
            System::Windows => "Win32",
            System::Mac => "MacIntel",
            System::Android => "Linux armv81",
            _ if self.is_arm() => "Linux aarch64",
            _ => "Linux x86_64",
        }
    }

    fn is_arm(&self) -> bool {
        ["aarch64", "arm"].iter().any(|word| self.comment.contains(word))
    }

    fn metadata(&self) -> UserAgentMetadata {
        let major = self.major.to_string();
        let whole = if self.version.contains('.') {
            self.version.clone()
        } else {
            format!("{}.0.0.0", self.major)
        };
        let (platform_version, architecture, bitness) = self.machine();
        UserAgentMetadata {
            brands: self.brands(&major, ""),
            full_version_list: self.brands(&whole, ".0.0.0"),
            platform: self.system.hint().to_owned(),
            platform_version,
            architecture: architecture.to_owned(),
            bitness: bitness.to_owned(),
            model: String::new(),
            mobile: self.mobile,
            wow64: self.comment.contains("WOW64"),
        }
    }

    /// The version of the system, and the processor. Where the string says the same of all, these are those
    /// of Windows 10 and 11 on a PC, and of a Mac of today.
    fn machine(&self) -> (String, &'static str, &'static str) {
        match self.system {
            System::Windows => ("10.0.0".to_owned(), "x86", "64"),
            System::Mac => ("15.5.0".to_owned(), "arm", "64"),
            System::Linux if self.is_arm() => (String::new(), "arm", "64"),
            System::Linux => (String::new(), "x86", "64"),
            System::Android => {
                let version = self.word_after("Android ");
                (version.map(|number| format!("{number}.0.0")).unwrap_or_default(), "", "")
            }
            System::ChromeOs => {
                let version = self.comment.split_whitespace().last().unwrap_or_default().to_owned();
                (version, if self.is_arm() { "arm" } else { "x86" }, "64")
            }
        }
    }

    /// The number that follows a word of the comment.
    fn word_after(&self, word: &str) -> Option<u32> {
        let rest = self.comment.split_once(word)?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    fn brands(&self, version: &str, rest_of_grease: &str) -> Vec<BrandVersion> {
        let seed = self.major as usize;
        let part = |at: usize| GREASE[at % GREASE.len()];
        let of = |brand: &str, version: &str| BrandVersion {
            brand: brand.to_owned(),
            version: version.to_owned(),
        };
        let none = of(
            &format!("Not{}A{}Brand", part(seed), part(seed + 1)),
            &format!("{}{rest_of_grease}", GREASE_VERSIONS[seed % GREASE_VERSIONS.len()]),
        );
        let chromium = of("Chromium", version);
        let Some(own) = self.family.brand() else {
            return if seed.is_multiple_of(2) {
                vec![none, chromium]
            } else {
                vec![chromium, none]
            };
        };
        let order = ORDERS[seed % ORDERS.len()];
        let mut brands: Vec<_> =
            order.into_iter().zip([none, chromium, of(own, version)]).collect();
        brands.sort_by_key(|(place, _)| *place);
        brands.into_iter().map(|(_, brand)| brand).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(comment: &str, rest: &str) -> String {
        format!("Mozilla/5.0 ({comment}) AppleWebKit/537.36 (KHTML, like Gecko) {rest}")
    }

    const MAC: &str = "Macintosh; Intel Mac OS X 10_15_7";
    const CHROME: &str = "Chrome/147.0.0.0 Safari/537.36";

    #[test]
    fn a_string_becomes_a_whole() {
        let cases = [
            (MAC, "macOS | 15.5.0 | arm | 64 | false | MacIntel"),
            ("Windows NT 10.0; Win64; x64", "Windows | 10.0.0 | x86 | 64 | false | Win32"),
            ("X11; Linux x86_64", "Linux |  | x86 | 64 | false | Linux x86_64"),
            ("X11; Linux aarch64", "Linux |  | arm | 64 | false | Linux aarch64"),
            (
                "X11; CrOS x86_64 14541.0.0",
                "Chrome OS | 14541.0.0 | x86 | 64 | false | Linux x86_64",
            ),
        ];
        for (comment, expected) in cases {
            assert_eq!(told(&agent(comment, CHROME)), expected);
        }
        let phone = agent("Linux; Android 10; K", "Chrome/147.0.0.0 Mobile Safari/537.36");
        assert_eq!(told(&phone), "Android | 10.0.0 |  |  | true | Linux armv81");
    }

    fn told(agent: &str) -> String {
        let identity = Identity::of_user_agent(agent).unwrap();
        let hints = identity.metadata.unwrap();
        let mobile = hints.mobile.to_string();
        let of =
            [hints.platform, hints.platform_version, hints.architecture, hints.bitness, mobile];
        format!("{} | {}", of.join(" | "), identity.platform.unwrap())
    }

    #[test]
    fn brands_stand_as_chromium_lists_them() {
        let brands = |rest: &str| {
            let identity = Identity::of_user_agent(&agent(MAC, rest)).unwrap();
            identity.metadata.unwrap().brand_list()
        };
        // What Chromium 156 says of itself.
        let own = r#""Not:A-Brand";v="8", "Chromium";v="156""#;
        assert_eq!(brands("Chromium/156.0.0.0 Chrome/156.0.0.0 Safari/537.36"), own);
        let chrome = r#""Google Chrome";v="147", "Not.A/Brand";v="8", "Chromium";v="147""#;
        assert_eq!(brands(CHROME), chrome);
        let edge = r#""Microsoft Edge";v="147", "Not.A/Brand";v="8", "Chromium";v="147""#;
        assert_eq!(brands("Chrome/147.0.0.0 Safari/537.36 Edg/147.0.0.0"), edge);
        let headless = r#""Not:A-Brand";v="8", "Chromium";v="156", "HeadlessChrome";v="156""#;
        assert!(brands("HeadlessChrome/156.0.0.0 Safari/537.36").starts_with(headless));
        let odd = brands("Chromium/147.0.0.0 Safari/537.36");
        assert_eq!(odd, r#""Chromium";v="147", "Not.A/Brand";v="8""#);
    }

    #[test]
    fn whole_versions_are_those_of_the_string() {
        let text = agent(MAC, "Chrome/147.0.7727.137 Safari/537.36");
        let hints = Identity::of_user_agent(&text).unwrap().metadata.unwrap();
        let full = r#""Google Chrome";v="147.0.7727.137", "Not.A/Brand";v="8.0.0.0", "Chromium";v="147.0.7727.137""#;
        assert_eq!(hints.header("sec-ch-ua-full-version-list").as_deref(), Some(full));
        assert_eq!(hints.brands[0].version, "147");
    }

    #[test]
    fn of_others_nothing_is_made_up() {
        let gecko = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        let webkit = agent(MAC, "Version/26.0 Safari/605.1.15");
        let ios = agent("iPhone; CPU iPhone OS 19_1 like Mac OS X", "CriOS/147.0.0.0 Mobile");
        let opera = agent(MAC, "Chrome/147.0.0.0 Safari/537.36 OPR/130.0.0.0");
        let system = agent("X11; FreeBSD amd64", CHROME);
        let many = agent(MAC, "Chrome/99999999999999999999 Safari/537.36");
        for text in [gecko, &webkit, &ios, &opera, &system, &many, "Baton test", "", "Chrome/", "("]
        {
            assert_eq!(Identity::of_user_agent(text), None, "{text}");
        }
    }
}
