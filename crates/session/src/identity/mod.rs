//! Who a browser says that it is, beside its user agent: client hints, platform, languages, and what of its
//! machine a page sees.
//!
//! The one idea: these, `userAgent` and `locale` are one set. A site that compares them takes a difference
//! for a stolen session or a robot, so a set that contradicts itself is refused, and what a string alone
//! says is made whole.

mod browser;
mod check;
mod derive;

pub use browser::BrowserName;
pub use check::Contradiction;

use serde::{Deserialize, Serialize};

/// The most languages, which is how many a browser tells of at most, and the most brands.
pub(crate) const MAX_LIST: usize = 10;
/// The longest text in it, in characters.
pub(crate) const MAX_TEXT: usize = 100;

/// Who a browser says that it is, beside its user agent. What is left out is the browser's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Identity {
    /// Its client hints. Left out beside a `userAgent` of another version or system of Chrome, Chromium or
    /// Edge, they are made of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<UserAgentMetadata>,
    /// `navigator.platform`, such as `MacIntel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// `navigator.languages` and `Accept-Language`, as BCP 47 tags, the preferred one first, which is `locale`
    /// where that is given; at most 10.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
    /// Pixels of the screen in one CSS pixel (`devicePixelRatio`), 0.5 to 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_scale_factor: Option<f64>,
    /// How many fingers its screen tells apart (`navigator.maxTouchPoints`), 0 to 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_touch_points: Option<u8>,
    /// What `prefers-color-scheme` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<ColorScheme>,
    /// Whether `prefers-reduced-motion` says `reduce`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduced_motion: Option<bool>,
    /// How many processors it tells of (`navigator.hardwareConcurrency`), 1 to 128.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware_concurrency: Option<u16>,
}

/// Which colours a person prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ColorScheme {
    /// Dark text on a light ground.
    Light,
    /// Light text on a dark ground.
    Dark,
}

impl ColorScheme {
    /// Its word in CSS.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// The client hints of a browser (`Sec-CH-UA*` and `navigator.userAgentData`,
/// <https://wicg.github.io/ua-client-hints/>), as `Emulation.UserAgentMetadata` of the DevTools protocol has
/// them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UserAgentMetadata {
    /// Its brands with their major versions, in their order; one of them is no brand, so that no site counts
    /// on the list.
    pub brands: Vec<BrandVersion>,
    /// The same with whole versions.
    pub full_version_list: Vec<BrandVersion>,
    /// Its system, such as `macOS`, `Windows` or `Linux`.
    pub platform: String,
    /// The version of its system, such as `15.5.0`.
    pub platform_version: String,
    /// The family of its processor: `x86` or `arm`.
    pub architecture: String,
    /// How wide that is: `64` or `32`.
    pub bitness: String,
    /// The model of a mobile device.
    pub model: String,
    /// Whether it asks for pages made for mobile devices.
    pub mobile: bool,
    /// Whether it is a program of 32 bits on a Windows of 64.
    pub wow64: bool,
}

/// A brand with its version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BrandVersion {
    /// The brand, such as `Chromium`.
    pub brand: String,
    /// Its version.
    pub version: String,
}

impl Identity {
    /// The identity of the browser that a user agent names: of Chrome, Chromium or Edge on Windows, macOS,
    /// Linux, Android or Chrome OS. None for any other text.
    ///
    /// A user agent says less than client hints do (<https://www.chromium.org/updates/ua-reduction/>). What
    /// it does not say is as in most such browsers.
    pub fn of_user_agent(user_agent: &str) -> Option<Self> {
        derive::ParsedUserAgent::of(user_agent).map(|said| said.identity())
    }

    /// The identity of a browser that asks for these languages, the preferred one first, and says nothing else. Of
    /// more than 10 the first ones count, as in a browser. None where there are none, or one is no BCP 47 tag.
    pub fn of_languages<'a>(tags: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let tags = tags.into_iter().take(MAX_LIST).map(str::trim);
        let languages: Vec<String> = tags.map(str::to_owned).collect();
        let are_good = !languages.is_empty() && languages.iter().all(|tag| check::is_language(tag));
        are_good.then(|| Self { languages, ..Self::default() })
    }

    /// What it says beside its languages; none where that is nothing.
    pub fn beside_languages(&self) -> Option<Self> {
        let beside = Self { languages: Vec::new(), ..self.clone() };
        Some(beside).filter(|beside| *beside != Self::default())
    }

    /// The same with what `derived` says where this one says nothing.
    #[must_use]
    pub fn or(self, derived: Self) -> Self {
        Self {
            metadata: self.metadata.or(derived.metadata),
            platform: self.platform.or(derived.platform),
            languages: if self.languages.is_empty() { derived.languages } else { self.languages },
            device_scale_factor: self.device_scale_factor.or(derived.device_scale_factor),
            max_touch_points: self.max_touch_points.or(derived.max_touch_points),
            color_scheme: self.color_scheme.or(derived.color_scheme),
            reduced_motion: self.reduced_motion.or(derived.reduced_motion),
            hardware_concurrency: self.hardware_concurrency.or(derived.hardware_concurrency),
        }
    }

    /// Whether it can be that of one browser with the user agent and the locale of its environment.
    ///
    /// # Errors
    ///
    /// When one contradicts another, or is out of bounds.
    pub fn check(
        &self,
        user_agent: Option<&str>,
        locale: Option<&str>,
    ) -> Result<(), Contradiction> {
        check::check(self, user_agent, locale)
    }
}

impl UserAgentMetadata {
    /// Its brands as `Sec-CH-UA` has them.
    pub fn brand_list(&self) -> String {
        listed(&self.brands)
    }

    /// The value of a client hint by the name of its header in lower case; none of one that it says nothing
    /// about.
    pub fn header(&self, name: &str) -> Option<String> {
        let flag = |is: bool| if is { "?1" } else { "?0" }.to_owned();
        Some(match name {
            "sec-ch-ua" => self.brand_list(),
            "sec-ch-ua-full-version-list" => listed(&self.full_version_list),
            "sec-ch-ua-mobile" => flag(self.mobile),
            "sec-ch-ua-wow64" => flag(self.wow64),
            "sec-ch-ua-platform" => quoted(&self.platform),
            "sec-ch-ua-platform-version" => quoted(&self.platform_version),
            "sec-ch-ua-arch" => quoted(&self.architecture),
            "sec-ch-ua-bitness" => quoted(&self.bitness),
            "sec-ch-ua-model" => quoted(&self.model),
            _ => return None,
        })
    }
}

/// A list of strings with a parameter, as a header has it (RFC 9651, 3.1).
fn listed(brands: &[BrandVersion]) -> String {
    let item = |one: &BrandVersion| format!("{};v={}", quoted(&one.brand), quoted(&one.version));
    brands.iter().map(item).collect::<Vec<_>>().join(", ")
}

/// A string, as a header has it (RFC 9651, 3.3.3).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stands_before_what_is_derived() {
        let asked = Identity { max_touch_points: Some(5), ..Identity::default() };
        let other = Identity {
            max_touch_points: Some(0),
            platform: Some("Win32".to_owned()),
            ..Identity::default()
        };
        let both = asked.or(other);
        assert_eq!((both.max_touch_points, both.platform.as_deref()), (Some(5), Some("Win32")));
    }

    #[test]
    fn languages_alone_are_an_identity_if_they_are_languages() {
        let of = |tags: &[&str]| Identity::of_languages(tags.iter().copied());
        let german = of(&[" de-DE", "de", "en "]).unwrap();
        assert_eq!(german.languages, ["de-DE", "de", "en"]);
        german.check(None, None).unwrap();
        let many = of(&["de"; 12]).unwrap();
        assert_eq!(many.languages.len(), MAX_LIST);
        many.check(None, None).unwrap();
        let long = "d".repeat(36);
        let others = [vec![], vec![""], vec!["de", "de DE"], vec!["de;q=0.9"], vec![long.as_str()]];
        for other in others {
            assert_eq!(of(&other), None, "{other:?}");
        }
        assert_eq!(german.beside_languages(), None);
        let touch = Identity { max_touch_points: Some(5), ..german };
        let beside = touch.beside_languages().unwrap();
        assert_eq!((beside.max_touch_points, beside.languages.len()), (Some(5), 0));
    }

    #[test]
    fn a_hint_has_the_form_of_its_header() {
        let brand = BrandVersion { brand: "A\"B".to_owned(), version: "1".to_owned() };
        let metadata = UserAgentMetadata {
            brands: vec![brand.clone(), brand],
            platform: "macOS".to_owned(),
            ..UserAgentMetadata::default()
        };
        let list = r#""A\"B";v="1", "A\"B";v="1""#;
        assert_eq!(metadata.header("sec-ch-ua").as_deref(), Some(list));
        assert_eq!(metadata.header("sec-ch-ua-platform").as_deref(), Some("\"macOS\""));
        assert_eq!(metadata.header("sec-ch-ua-mobile").as_deref(), Some("?0"));
        assert_eq!(metadata.header("sec-ch-dpr"), None);
    }
}
