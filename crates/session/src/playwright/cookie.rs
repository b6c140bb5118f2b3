//! One cookie of a `storageState` file.
//!
//! The format's `sameSite` is never absent and its `partitionKey` is a string, so an unspecified
//! `SameSite` becomes `Lax`, and the other half of the key stands in `_crHasCrossSiteAncestor`.

use super::json::Json;
use super::{Ignored, Lost};
use crate::Cookie;
use crate::cookie::{Expiry, PartitionKey, Priority, SameSite, SourceScheme};
use crate::receipt::ItemKind;

/// The last second that Playwright takes: the end of the year 9999.
const LAST_SECOND: f64 = 253_402_300_799.0;

/// Before every instant: a file's cookies are checked in everything but their age.
const ANY_AGE: Expiry = Expiry(i64::MIN);

/// Reads one cookie, the one at `position` of the file.
pub(super) fn read(json: &Json, position: usize) -> Result<Cookie, Ignored> {
    let cookie = parse(json).map_err(|expected| {
        let name = json.get_str("name").unwrap_or("?");
        Ignored::new(
            ItemKind::Cookie,
            format!("cookies[{position}] {name}"),
            format!("expected {expected}"),
        )
    })?;
    match cookie.validate(ANY_AGE) {
        Ok(()) => Ok(cookie),
        Err(reason) => Err(Ignored::new(ItemKind::Cookie, cookie.place(), reason.to_string())),
    }
}

fn parse(json: &Json) -> Result<Cookie, &'static str> {
    let text = |name| json.get_str(name).map(str::to_owned);
    Ok(Cookie {
        name: text("name").ok_or("a name that is valid Unicode")?,
        value: text("value").ok_or("a value that is valid Unicode")?,
        domain: text("domain").ok_or("a domain")?,
        path: text("path").ok_or("a path")?,
        expires: parse_expires(json)?,
        http_only: flag(json, "httpOnly", "httpOnly as a boolean")?,
        secure: flag(json, "secure", "secure as a boolean")?,
        same_site: parse_same_site(json)?,
        priority: Priority::default(),
        source_scheme: SourceScheme::default(),
        source_port: None,
        partition_key: parse_partition_key(json)?,
    })
}

fn flag(json: &Json, name: &str, expected: &'static str) -> Result<bool, &'static str> {
    if json.get(name).is_none() {
        return Ok(false);
    }
    json.get_bool(name).ok_or(expected)
}

fn parse_expires(json: &Json) -> Result<Option<Expiry>, &'static str> {
    match json.get("expires") {
        None | Some(Json::Number(-1.0)) => Ok(None),
        Some(Json::Number(seconds)) if (0.0..=LAST_SECOND).contains(seconds) => {
            Ok(Expiry::from_seconds(*seconds))
        }
        Some(_) => Err("expires as -1 or as seconds since 1970, up to the year 9999"),
    }
}

fn parse_same_site(json: &Json) -> Result<Option<SameSite>, &'static str> {
    match (json.get("sameSite"), json.get_str("sameSite")) {
        (None, _) => Ok(None),
        (_, Some("Strict")) => Ok(Some(SameSite::Strict)),
        (_, Some("Lax")) => Ok(Some(SameSite::Lax)),
        (_, Some("None")) => Ok(Some(SameSite::None)),
        _ => Err("sameSite as Strict, Lax or None"),
    }
}

fn parse_partition_key(json: &Json) -> Result<Option<PartitionKey>, &'static str> {
    if json.get("partitionKey").is_none() {
        return Ok(None);
    }
    let site = json.get_str("partitionKey").ok_or("partitionKey as a string")?;
    Ok((!site.is_empty()).then(|| PartitionKey {
        top_level_site: site.to_owned(),
        // Playwright's own default.
        has_cross_site_ancestor: json.get_bool("_crHasCrossSiteAncestor").unwrap_or(true),
    }))
}

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
