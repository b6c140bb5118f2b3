//! Whether a user agent, an identity and a locale are those of one browser.

use super::derive::ParsedUserAgent;
use super::{BrandVersion, Identity, MAX_LIST, MAX_TEXT, UserAgentMetadata};
use std::fmt::Display;

/// Two words of an identity that no browser says, or one that is out of bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {field} to be {expected}, found {found}")]
pub struct Contradiction {
    /// Where it is, such as `environment.identity.platform`.
    pub field: &'static str,
    /// What would do.
    pub expected: &'static str,
    /// What is there, and which would be right.
    pub found: String,
}

fn refuse<T>(
    field: &'static str,
    expected: &'static str,
    found: impl Display,
) -> Result<T, Contradiction> {
    Err(Contradiction { field, expected, found: found.to_string() })
}

const METADATA: &str = "environment.identity.metadata";
const PLATFORM: &str = "environment.identity.platform";
const LANGUAGES: &str = "environment.identity.languages";
const THAT_OF_THE_USER_AGENT: &str = "that of the browser that the user agent names";

pub(super) fn check(
    identity: &Identity,
    user_agent: Option<&str>,
    locale: Option<&str>,
) -> Result<(), Contradiction> {
    bounds(identity)?;
    languages(identity, locale)?;
    let Some(user_agent) = user_agent else {
        return alone(identity);
    };
    match ParsedUserAgent::of(user_agent) {
        Some(said) => agrees(identity, &said),
        // One that names no browser contradicts nothing.
        None if identity.metadata.is_some() && user_agent.starts_with("Mozilla/") => refuse(
            METADATA,
            "left out beside a user agent of a browser without client hints",
            format!("some beside {user_agent:?}"),
        ),
        None => Ok(()),
    }
}

/// The browser's own user agent would contradict what is said beside none.
fn alone(identity: &Identity) -> Result<(), Contradiction> {
    const EXPECTED: &str = "beside the user agent of its browser, environment.userAgent";
    if identity.metadata.is_some() {
        return refuse(METADATA, EXPECTED, "no user agent");
    }
    if identity.platform.is_some() {
        return refuse(PLATFORM, EXPECTED, "no user agent");
    }
    Ok(())
}

fn agrees(identity: &Identity, said: &ParsedUserAgent) -> Result<(), Contradiction> {
    if let Some(platform) = &identity.platform
        && platform != said.platform()
    {
        let found = format!("{platform:?}; right is {:?}", said.platform());
        return refuse(PLATFORM, THAT_OF_THE_USER_AGENT, found);
    }
    let Some(metadata) = &identity.metadata else { return Ok(()) };
    let system = said.system.hint();
    if metadata.platform != system {
        let found = format!("the platform {:?}; right is {system:?}", metadata.platform);
        return refuse(METADATA, THAT_OF_THE_USER_AGENT, found);
    }
    if metadata.mobile != said.mobile {
        let found = format!("mobile {}; right is {}", metadata.mobile, said.mobile);
        return refuse(METADATA, THAT_OF_THE_USER_AGENT, found);
    }
    let Some(wrong) = wrong_brand(metadata, said) else { return Ok(()) };
    let right = said.identity().metadata.unwrap_or_default();
    let found = format!("{wrong} beside {}; right is {}", said.browser(), right.brand_list());
    refuse(METADATA, THAT_OF_THE_USER_AGENT, found)
}

/// The brand that the browser does not say, or the one that it lacks, in words; none when all are right.
fn wrong_brand(metadata: &UserAgentMetadata, said: &ParsedUserAgent) -> Option<String> {
    let lists = [&metadata.brands, &metadata.full_version_list];
    let other = lists.into_iter().flatten().find(|brand| is_other(brand, said));
    if let Some(BrandVersion { brand, version }) = other {
        return Some(format!("the brand {brand:?} {version}"));
    }
    let needed = said.family.needed_brand()?;
    let lacks = |list: &&Vec<BrandVersion>| {
        !list.is_empty() && list.iter().all(|brand| brand.brand != needed)
    };
    lists.iter().any(lacks).then(|| format!("no brand {needed:?}"))
}

/// Whether it is a brand of another browser, or of another major version; the one that is none has any.
fn is_other(brand: &BrandVersion, said: &ParsedUserAgent) -> bool {
    let is_none = brand.brand.starts_with("Not") && brand.brand.contains("Brand");
    let number = brand.version.split('.').next().and_then(|number| number.parse().ok());
    !is_none && (number != Some(said.major) || said.family.is_anothers(&brand.brand))
}

/// Whether it looks like a BCP 47 tag.
pub(super) fn is_language(tag: &str) -> bool {
    (1..=35).contains(&tag.len()) && tag.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn languages(identity: &Identity, locale: Option<&str>) -> Result<(), Contradiction> {
    let are_good = identity.languages.iter().all(|tag| is_language(tag));
    if identity.languages.len() > MAX_LIST || !are_good {
        let found = format!("{:?}", shortened(&identity.languages));
        return refuse(LANGUAGES, "at most 10 tags such as ja-JP", found);
    }
    match (identity.languages.first(), locale) {
        (Some(first), Some(locale)) if first != locale => {
            let found = format!("{first:?} before all others; right is {locale:?}");
            refuse(LANGUAGES, "led by environment.locale", found)
        }
        _ => Ok(()),
    }
}

/// No more than fits in a line.
fn shortened(texts: &[String]) -> String {
    texts.join(",").chars().take(MAX_TEXT).collect()
}

fn bounds(identity: &Identity) -> Result<(), Contradiction> {
    if let Some(scale) = identity.device_scale_factor
        && !(0.5..=5.0).contains(&scale)
    {
        return refuse("environment.identity.deviceScaleFactor", "0.5 to 5", scale);
    }
    if let Some(points) = identity.max_touch_points
        && points > 16
    {
        return refuse("environment.identity.maxTouchPoints", "0 to 16", points);
    }
    if let Some(processors) = identity.hardware_concurrency
        && !(1..=128).contains(&processors)
    {
        return refuse("environment.identity.hardwareConcurrency", "1 to 128", processors);
    }
    if let Some(platform) = &identity.platform
        && !is_plain(platform)
    {
        return refuse(PLATFORM, "1 to 100 visible ASCII characters", "another text");
    }
    identity.metadata.as_ref().map_or(Ok(()), hints)
}

fn hints(metadata: &UserAgentMetadata) -> Result<(), Contradiction> {
    const EXPECTED: &str = "1 to 10 brands with versions and a platform, in visible ASCII characters, 100 a text at most";
    let lists = [&metadata.brands, &metadata.full_version_list];
    let is_list = |list: &&Vec<BrandVersion>| {
        list.len() <= MAX_LIST
            && list.iter().all(|one| is_plain(&one.brand) && is_plain(&one.version))
    };
    let may_be_empty =
        [&metadata.platform_version, &metadata.architecture, &metadata.bitness, &metadata.model];
    let fits = !metadata.brands.is_empty()
        && lists.iter().all(is_list)
        && is_plain(&metadata.platform)
        && may_be_empty.iter().all(|text| text.is_empty() || is_plain(text));
    if fits { Ok(()) } else { refuse(METADATA, EXPECTED, "others") }
}

pub(super) fn is_plain(text: &str) -> bool {
    (1..=MAX_TEXT).contains(&text.len()) && text.chars().all(|c| matches!(c, ' '..='~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: &str = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 \
                       (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36";

    /// The identity of that string, changed.
    fn with(change: impl FnOnce(&mut Identity)) -> Identity {
        let mut identity = Identity::of_user_agent(MAC).unwrap();
        change(&mut identity);
        identity
    }

    fn hints(change: impl FnOnce(&mut UserAgentMetadata)) -> Identity {
        with(|identity| change(identity.metadata.as_mut().unwrap()))
    }

    fn brand(brand: &str, version: &str) -> Identity {
        let brand = BrandVersion { brand: brand.to_owned(), version: version.to_owned() };
        hints(|hints| hints.brands.push(brand))
    }

    #[test]
    fn what_a_string_says_agrees_with_it() {
        assert_eq!(with(|_| ()).check(Some(MAC), None), Ok(()));
        assert_eq!(Identity::default().check(None, Some("de")), Ok(()));
        let own = with(|_| ()).check(Some("Baton test"), None);
        assert_eq!(own, Ok(()), "a name of one's own contradicts nothing");
    }

    #[test]
    fn a_contradiction_is_named_and_the_right_one_shown() {
        const BRANDS: &str = "the brand \"Google Chrome\" 156 beside Google Chrome 147; \
                              right is \"Google Chrome\";v=\"147\"";
        let cases = [
            (hints(|hints| hints.platform = "Linux".to_owned()), "right is \"macOS\""),
            (hints(|hints| hints.mobile = true), "mobile true; right is false"),
            (brand("Google Chrome", "156"), BRANDS),
            (brand("Chromium", "newest"), "right is"),
            (
                with(|identity| identity.platform = Some("Linux x86_64".to_owned())),
                "right is \"MacIntel\"",
            ),
            (with(|identity| identity.languages = vec!["en-US".to_owned()]), "right is \"de-DE\""),
        ];
        for (identity, words) in cases {
            let said = identity.check(Some(MAC), Some("de-DE")).unwrap_err().to_string();
            assert!(said.contains(words), "expected {words} in {said}");
        }
    }

    #[test]
    fn a_brand_of_another_browser_is_none_of_this_one() {
        const EDGE: &str = "the brand \"Google Chrome\" 147 beside Microsoft Edge 147; \
                            right is \"Microsoft Edge\";v=\"147\"";
        let agent = |rest: &str| MAC.replace("Safari/537.36", &format!("Safari/537.36 {rest}"));
        let (chrome, edge) = (agent(""), agent("Edg/147.0.0.0"));
        let headless = MAC.replace("Chrome/", "HeadlessChrome/");
        let with = |brands: &[&str]| {
            let brand =
                |name: &&str| BrandVersion { brand: (*name).to_owned(), version: "147".to_owned() };
            hints(|hints| {
                hints.brands = brands.iter().map(brand).collect();
                hints.full_version_list.clear();
            })
        };
        let right: [(&str, &[&str]); 5] = [
            (&chrome, &["Google Chrome", "Chromium"]),
            // What Chromium says of itself, and a browser that is made of it.
            (&chrome, &["Chromium"]),
            (&chrome, &["Brave", "Chromium"]),
            (&edge, &["Microsoft Edge", "Chromium"]),
            (&headless, &["HeadlessChrome", "Chromium"]),
        ];
        for (agent, brands) in right {
            assert_eq!(with(brands).check(Some(agent), None), Ok(()), "{agent}: {brands:?}");
        }
        let wrong: [(&str, &[&str], &str); 5] = [
            (&edge, &["Google Chrome", "Chromium"], EDGE),
            (
                &edge,
                &["Chromium"],
                "no brand \"Microsoft Edge\" beside Microsoft Edge 147; right is",
            ),
            (
                &chrome,
                &["Microsoft Edge", "Chromium"],
                "the brand \"Microsoft Edge\" 147 beside Google Chrome",
            ),
            (&chrome, &["HeadlessChrome", "Chromium"], "the brand \"HeadlessChrome\" 147"),
            (&headless, &["Google Chrome", "Chromium"], "the brand \"Google Chrome\" 147"),
        ];
        for (agent, brands, words) in wrong {
            let said = with(brands).check(Some(agent), None).unwrap_err().to_string();
            assert!(said.contains(words), "expected {words} in {said}");
        }
        // Nor are its whole versions.
        let edges = Identity::of_user_agent(&edge).unwrap();
        assert_eq!(edges.check(Some(&edge), None), Ok(()));
        let chromes = Identity::of_user_agent(&chrome).unwrap().metadata.unwrap();
        let mixed = hints(|hints| {
            hints.brands = edges.metadata.clone().unwrap().brands;
            hints.full_version_list = chromes.full_version_list;
        });
        mixed.check(Some(&edge), None).unwrap_err();
    }

    #[test]
    fn the_words_of_one_browser_need_its_user_agent() {
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        let said = |identity: Identity, agent| identity.check(agent, None).unwrap_err().to_string();
        let beside = "beside the user agent of its browser";
        assert!(said(with(|_| ()), None).contains(beside));
        assert!(said(with(|identity| identity.metadata = None), None).contains(beside));
        assert!(said(with(|_| ()), Some(firefox)).contains("without client hints"));
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        let wrong: [fn(&mut Identity); 10] = [
            |one| one.device_scale_factor = Some(0.4),
            |one| one.device_scale_factor = Some(f64::NAN),
            |one| one.max_touch_points = Some(17),
            |one| one.hardware_concurrency = Some(0),
            |one| one.hardware_concurrency = Some(129),
            |one| one.platform = Some(String::new()),
            |one| one.languages = vec!["de DE".to_owned()],
            |one| one.languages = vec!["de".to_owned(); 11],
            |one| one.metadata = Some(UserAgentMetadata::default()),
            |one| one.metadata.iter_mut().for_each(|hints| hints.model = "x".repeat(101)),
        ];
        for (at, change) in wrong.into_iter().enumerate() {
            assert!(with(change).check(Some(MAC), None).is_err(), "case {at}");
        }
        let right: [fn(&mut Identity); 3] = [
            |one| one.device_scale_factor = Some(2.0),
            |one| one.max_touch_points = Some(0),
            |one| one.languages = vec!["de-DE".to_owned(), "de".to_owned()],
        ];
        for change in right {
            assert_eq!(with(change).check(Some(MAC), None), Ok(()));
        }
    }
}
