//! Cookies in JSON: read as Playwright writes them and all who have the same members, written for a
//! `storageState` file.
//!
//! The one idea: Puppeteer and the DevTools protocol, Selenium, Steel, and the extensions that edit cookies
//! differ in the names of a few members and in the words for `SameSite`, never in what one of these means, so
//! a reader of a file need not know what wrote it.
//!
//! The format's `sameSite` is never absent and its `partitionKey` is a string, so an unspecified `SameSite`
//! becomes `Lax`, and the other half of the key is in `_crHasCrossSiteAncestor`.

use super::{Ignored, Lost};
use crate::cookie::{Cookie, Expiry, PartitionKey, Priority, SameSite, SourceScheme};
use crate::json_tree::{Json, Unknown};
use crate::receipt::ItemKind;
use url::Url;

/// Before every instant: a file's cookies are checked in everything but their age.
const ANY_AGE: Expiry = Expiry(i64::MIN);

/// What makes two cookies of a file the same cookie. A browser knows the scheme and port, too.
pub(super) fn identity(cookie: &Cookie) -> (String, String, String, Option<PartitionKey>) {
    let (domain, path, name, partition_key, _, _) = cookie.key();
    (domain.to_owned(), path.to_owned(), name.to_owned(), partition_key.cloned())
}

/// Whether it knows which scheme or port set it.
pub(super) fn has_source(cookie: &Cookie) -> bool {
    cookie.source_scheme != SourceScheme::Unset || cookie.source_port.is_some()
}

/// Whether it is valid. One that is not is left out, because it would cost a reader all the others.
pub(super) fn is_valid(cookie: &Cookie, lost: &mut Vec<Lost>) -> bool {
    let result = cookie.validate(ANY_AGE);
    if let Err(reason) = &result {
        lost.push(Lost::new(ItemKind::Cookie, cookie.place(), format!("left out: {reason}")));
    }
    result.is_ok()
}

/// Writes one valid cookie.
pub(super) fn write(cookie: &Cookie, lost: &mut Vec<Lost>) -> Json {
    let changed = |lost: &mut Vec<Lost>, reason| {
        lost.push(Lost::unsayable(ItemKind::Cookie, cookie.place(), reason));
    };
    if cookie.same_site.is_none() {
        changed(lost, "its unspecified SameSite becomes Lax");
    }
    if cookie.priority != Priority::default() {
        changed(lost, "its priority becomes Medium");
    }
    let expires = cookie.expires.map_or(-1.0, |at| at.as_seconds().clamp(1e-6, LAST_SECOND));
    if Expiry::from_seconds(expires) != cookie.expires {
        changed(lost, "the instant it ends has no exact form, the nearest is written");
    }
    let mut members = vec![
        ("name".into(), Json::text(&cookie.name)),
        ("value".into(), Json::text(&cookie.value)),
        ("domain".into(), Json::text(&cookie.domain)),
        ("path".into(), Json::text(&cookie.path)),
        ("expires".into(), Json::Number(expires)),
        ("httpOnly".into(), Json::Bool(cookie.http_only)),
        ("secure".into(), Json::Bool(cookie.secure)),
        ("sameSite".into(), Json::text(same_site_word(cookie.same_site))),
    ];
    if let Some(key) = &cookie.partition_key {
        members.push(("partitionKey".into(), Json::text(&key.top_level_site)));
        let ancestor = Json::Bool(key.has_cross_site_ancestor);
        members.push(("_crHasCrossSiteAncestor".into(), ancestor));
    }
    Json::Object(members)
}

fn same_site_word(same_site: Option<SameSite>) -> &'static str {
    match same_site {
        Some(SameSite::Strict) => "Strict",
        Some(SameSite::Lax) | None => "Lax",
        Some(SameSite::None) => "None",
    }
}

/// The last second that Playwright takes: the end of the year 9999.
const LAST_SECOND: f64 = 253_402_300_799.0;

/// The members that hold an end: of Playwright and Puppeteer, of Selenium, of extensions.
const ENDS: [&str; 3] = ["expires", "expiry", "expirationDate"];

/// Members that are read here.
const READ: [&str; 14] = [
    "name",
    "value",
    "domain",
    "url",
    "path",
    "httpOnly",
    "secure",
    "sameSite",
    "session",
    "hostOnly",
    "priority",
    "sourceScheme",
    "sourcePort",
    "partitionKey",
];

/// Members that say nothing of the cookie itself: how long it is, its number in a list, the window that
/// had it; or that count only with another member, which is read.
const ASIDE: [&str; 7] = [
    "size",
    "id",
    "storeId",
    "sameParty",
    "_crHasCrossSiteAncestor",
    "partitionKeyOpaque",
    "firstPartyDomain",
];

/// Reads one cookie, which is at `place` in the file.
pub(super) fn read(
    json: &Json,
    place: &str,
    unknown: &mut Unknown,
    ignored: &mut Vec<Ignored>,
) -> Option<Cookie> {
    let mut cookie = match parse(json) {
        Ok(cookie) => cookie,
        Err(expected) => {
            let name = json.get_str("name").unwrap_or("?");
            let (place, why) = (format!("{place} {name}"), format!("expected {expected}"));
            ignored.push(Ignored::new(ItemKind::Cookie, place, why));
            return None;
        }
    };
    if let Err(reason) = rescue(&mut cookie, ignored).validate(ANY_AGE) {
        ignored.push(Ignored::new(ItemKind::Cookie, cookie.place(), reason.to_string()));
        return None;
    }
    json.note_unknown(unknown, |name| {
        [&READ[..], &ENDS, &ASIDE].iter().any(|known| known.contains(&name))
    });
    Some(cookie)
}

/// Firefox and `WebKit` send a cookie with `SameSite=None` without `Secure`, and their tools say so of each
/// that has no `SameSite` at all; Chromium sends none such. Without the word it does.
fn rescue<'a>(cookie: &'a mut Cookie, ignored: &mut Vec<Ignored>) -> &'a Cookie {
    if cookie.is_none_without_secure() {
        cookie.same_site = None;
        let reason =
            "its SameSite=None without Secure becomes unspecified, for no server gets it else";
        ignored.push(Ignored::changed(ItemKind::Cookie, cookie.place(), reason));
    }
    cookie
}

fn parse(json: &Json) -> Result<Cookie, &'static str> {
    if json.get_bool("partitionKeyOpaque") == Some(true) {
        return Err("a partition that a later document can be in");
    }
    if json.get_str("firstPartyDomain").is_some_and(|domain| !domain.is_empty()) {
        return Err("a cookie that is not isolated by first parties");
    }
    let text = |name| json.get_str(name).map(str::to_owned);
    let name = text("name").ok_or("a name that is valid Unicode")?;
    let value = text("value").ok_or("a value that is valid Unicode")?;
    let place = CookiePlace::of(json)?;
    Ok(Cookie {
        name,
        value,
        domain: place.domain,
        path: place.path,
        expires: parse_expires(json)?,
        http_only: flag(json, "httpOnly", "httpOnly as a boolean")?,
        secure: flag(json, "secure", "secure as a boolean")? || place.secure,
        same_site: parse_same_site(json)?,
        priority: parse_priority(json)?,
        source_scheme: parse_source_scheme(json)?,
        source_port: parse_source_port(json)?,
        partition_key: parse_partition_key(json)?,
    })
}

/// Where a cookie lives.
struct CookiePlace {
    domain: String,
    path: String,
    secure: bool,
}

impl CookiePlace {
    /// By domain and path, or by the address of a page that sets it. Without a path it is `/`, as browsers
    /// take it where one is set without a page.
    fn of(json: &Json) -> Result<Self, &'static str> {
        let path = match json.get("path") {
            None | Some(Json::Null) => None,
            Some(Json::Text(path)) if path.as_str() == Some("") => None,
            Some(Json::Text(path)) => Some(path.as_str().ok_or("a path that is valid Unicode")?),
            Some(_) => return Err("a path as a string"),
        };
        let path = path.unwrap_or("/").to_owned();
        let Some(domain) = json.get_str("domain").filter(|domain| !domain.is_empty()) else {
            let url = json.get_str("url").and_then(|url| Url::parse(url).ok());
            let host = url.as_ref().and_then(Url::host_str).ok_or("a domain")?;
            let secure = url.as_ref().is_some_and(|url| url.scheme() == "https");
            return Ok(Self { domain: host.to_owned(), path, secure });
        };
        let host = domain.strip_prefix('.').unwrap_or(domain);
        let domain = match json.get("hostOnly") {
            None | Some(Json::Null) => domain.to_owned(),
            Some(Json::Bool(true)) => host.to_owned(),
            Some(Json::Bool(false)) => format!(".{host}"),
            Some(_) => return Err("hostOnly as a boolean"),
        };
        Ok(Self { domain, path, secure: false })
    }
}

fn flag(json: &Json, name: &str, expected: &'static str) -> Result<bool, &'static str> {
    match json.get(name) {
        None | Some(Json::Null) => Ok(false),
        Some(Json::Bool(value)) => Ok(*value),
        Some(_) => Err(expected),
    }
}

fn parse_expires(json: &Json) -> Result<Option<Expiry>, &'static str> {
    if flag(json, "session", "session as a boolean")? {
        return Ok(None);
    }
    let mut ends = ENDS.iter().filter_map(|name| json.get(name));
    match ends.find(|end| !matches!(end, Json::Null)) {
        None | Some(Json::Number(-1.0)) => Ok(None),
        Some(Json::Number(seconds)) if (0.0..=LAST_SECOND).contains(seconds) => {
            Ok(Expiry::from_seconds(*seconds))
        }
        Some(_) => Err("expires as -1 or as seconds since 1970, up to the year 9999"),
    }
}

/// The words of the standard in any case, and those of extensions: an absent one says the same as
/// `unspecified`.
fn parse_same_site(json: &Json) -> Result<Option<SameSite>, &'static str> {
    let expected = "sameSite as Strict, Lax or None";
    let word = match json.get("sameSite") {
        None | Some(Json::Null) => return Ok(None),
        Some(Json::Text(word)) => word.as_str().ok_or(expected)?.to_ascii_lowercase(),
        Some(_) => return Err(expected),
    };
    match word.as_str() {
        "" | "unspecified" => Ok(None),
        "strict" => Ok(Some(SameSite::Strict)),
        "lax" => Ok(Some(SameSite::Lax)),
        "none" | "no_restriction" => Ok(Some(SameSite::None)),
        _ => Err(expected),
    }
}

fn parse_priority(json: &Json) -> Result<Priority, &'static str> {
    match (json.get("priority"), json.get_str("priority")) {
        (None | Some(Json::Null), _) | (_, Some("Medium")) => Ok(Priority::Medium),
        (_, Some("Low")) => Ok(Priority::Low),
        (_, Some("High")) => Ok(Priority::High),
        _ => Err("priority as Low, Medium or High"),
    }
}

fn parse_source_scheme(json: &Json) -> Result<SourceScheme, &'static str> {
    match (json.get("sourceScheme"), json.get_str("sourceScheme")) {
        (None | Some(Json::Null), _) | (_, Some("Unset")) => Ok(SourceScheme::Unset),
        (_, Some("NonSecure")) => Ok(SourceScheme::NonSecure),
        (_, Some("Secure")) => Ok(SourceScheme::Secure),
        _ => Err("sourceScheme as Unset, NonSecure or Secure"),
    }
}

/// A port; −1 is none, as the protocol writes it.
fn parse_source_port(json: &Json) -> Result<Option<u16>, &'static str> {
    match json.get("sourcePort") {
        None | Some(Json::Null | Json::Number(-1.0)) => Ok(None),
        Some(Json::Number(port)) if port.fract() == 0.0 && (0.0..=65535.0).contains(port) =>
        {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            Ok(Some(*port as u16))
        }
        Some(_) => Err("sourcePort as a port or -1"),
    }
}

/// A site as a string, as Playwright writes it, or an object, as the protocol does and extensions do.
fn parse_partition_key(json: &Json) -> Result<Option<PartitionKey>, &'static str> {
    let expected = "partitionKey as a site, or as an object with topLevelSite";
    let (site, ancestor) = match json.get("partitionKey") {
        None | Some(Json::Null) => return Ok(None),
        Some(Json::Text(site)) => {
            let site = site.as_str().ok_or(expected)?;
            (site, json.get_bool("_crHasCrossSiteAncestor"))
        }
        // Extensions write one without members for a cookie in no partition.
        Some(Json::Object(members)) if members.is_empty() => return Ok(None),
        Some(key @ Json::Object(_)) => {
            let site = key.get_str("topLevelSite").ok_or(expected)?;
            (site, key.get_bool("hasCrossSiteAncestor"))
        }
        Some(_) => return Err(expected),
    };
    Ok((!site.is_empty()).then(|| PartitionKey {
        top_level_site: site.to_owned(),
        // Playwright's own default.
        has_cross_site_ancestor: ancestor.unwrap_or(true),
    }))
}
