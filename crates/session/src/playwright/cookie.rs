//! One cookie of a `storageState` file, written; how one is read `any_cookie` knows.
//!
//! The format's `sameSite` is never absent and its `partitionKey` is a string, so an unspecified
//! `SameSite` becomes `Lax`, and the other half of the key stands in `_crHasCrossSiteAncestor`.

use super::Lost;
use super::any_cookie::LAST_SECOND;
use crate::cookie::Cookie;
use crate::cookie::{Expiry, PartitionKey, Priority, SameSite, SourceScheme};
use crate::json_tree::Json;
use crate::receipt::ItemKind;

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
