//! One row of the cookie store, to a cookie and back, and which cookies a browser would take.

use crate::profile::formats::Instant;
use baton_session::cookie::{Expiry, PartitionKey, Priority, SameSite, SourceScheme};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Cookie, Receipt};
use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement, params};
use std::collections::HashSet;

/// The columns that are read, in the order of [`StoredCookie::of`].
pub(super) const COLUMNS: &str = "host_key, top_frame_site_key, has_cross_site_ancestor, name, value, \
    encrypted_value, path, expires_utc, is_secure, is_httponly, priority, samesite, source_scheme, \
    source_port";

pub(super) const INSERT: &str = "insert into cookies values(?1,?2,?3,?4,?5,x'',?6,?7,?8,?9,?10,?11,1,?12,?13,?14,?15,?16,?17,?18)";

/// A row whose value may still be encrypted.
pub(super) struct StoredCookie {
    /// The cookie; without its value, if that is encrypted.
    pub(super) cookie: Cookie,
    /// The encrypted value; empty when it is not.
    pub(super) encrypted: Vec<u8>,
}

impl StoredCookie {
    /// A row; an error says what of it is not as expected, and whose it is.
    pub(super) fn of(row: &Row<'_>) -> rusqlite::Result<Result<Self, Strange>> {
        let (host, name, path) = (text(row, 0)?, text(row, 3)?, text(row, 6)?);
        let place = format!("{}{} {}", shown(&host), shown(&path), shown(&name));
        let strange = |what| Ok(Err(Strange { place: place.clone(), what }));
        let (Ok(domain), Ok(site), Ok(name), Ok(value), Ok(path)) =
            (host, text(row, 1)?, name, text(row, 4)?, path)
        else {
            return strange("text in UTF-8");
        };
        let encrypted = match row.get_ref(5)? {
            ValueRef::Blob(bytes) | ValueRef::Text(bytes) => bytes.to_vec(),
            _ => return strange("an encrypted value, or an empty one"),
        };
        if !value.is_empty() && !encrypted.is_empty() {
            return strange("a value or an encrypted one, not both");
        }
        let mut numbers = [0; 8];
        for (number, column) in numbers.iter_mut().zip([2, 7, 8, 9, 10, 11, 12, 13]) {
            match row.get_ref(column)? {
                ValueRef::Integer(found) => *number = found,
                _ => return strange("numbers where the schema has some"),
            }
        }
        let [ancestor, expires, secure, http_only, priority, same_site, scheme, port] = numbers;
        let Some((priority, same_site, source_scheme)) = words(priority, same_site, scheme) else {
            return strange("a known priority, SameSite and scheme");
        };
        let partition_key = (!site.is_empty()).then_some(PartitionKey {
            top_level_site: site,
            has_cross_site_ancestor: ancestor != 0,
        });
        let cookie = Cookie {
            name,
            value,
            domain,
            path,
            // Whatever `is_persistent` says: one that ends with the browser may be kept for the next.
            expires: Instant::from_chromium(expires).map(|at| Expiry(at.0)),
            http_only: http_only != 0,
            secure: secure != 0,
            same_site,
            priority,
            source_scheme,
            source_port: u16::try_from(port).ok(),
            partition_key,
        };
        Ok(Ok(Self { cookie, encrypted }))
    }
}

/// A row that is none of Chromium's.
pub(super) struct Strange {
    pub(super) place: String,
    /// What was expected.
    pub(super) what: &'static str,
}

/// Text, or what is in its place.
type TextValue = Result<String, String>;

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<TextValue> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8(bytes.to_vec())
            .map_err(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        other => Err(other.data_type().to_string()),
    })
}

fn shown(text: &TextValue) -> &str {
    text.as_ref().unwrap_or_else(|lossy| lossy)
}

fn words(
    priority: i64,
    same_site: i64,
    scheme: i64,
) -> Option<(Priority, Option<SameSite>, SourceScheme)> {
    let priority = PRIORITIES.iter().find(|(_, number)| *number == priority)?.0;
    let same_site = SAME_SITES.iter().find(|(_, number)| *number == same_site)?.0;
    let scheme = SCHEMES.iter().find(|(_, number)| *number == scheme)?.0;
    Some((priority, same_site, scheme))
}

const PRIORITIES: [(Priority, i64); 3] =
    [(Priority::Low, 0), (Priority::Medium, 1), (Priority::High, 2)];
const SAME_SITES: [(Option<SameSite>, i64); 4] =
    [(None, -1), (Some(SameSite::None), 0), (Some(SameSite::Lax), 1), (Some(SameSite::Strict), 2)];
const SCHEMES: [(SourceScheme, i64); 3] =
    [(SourceScheme::Unset, 0), (SourceScheme::NonSecure, 1), (SourceScheme::Secure, 2)];

fn number<T: PartialEq>(table: &[(T, i64)], word: &T) -> i64 {
    table.iter().find(|(known, _)| known == word).map_or(0, |(_, number)| *number)
}

/// Writes a cookie, in plain text, as if it had been set and used at `at`.
pub(super) fn insert(
    statement: &mut Statement<'_>,
    cookie: &Cookie,
    at: Instant,
) -> rusqlite::Result<()> {
    let at = at.to_chromium();
    let expires = cookie.expires.map(|expires| Instant(expires.0).to_chromium());
    let (site, ancestor) = partition(cookie);
    statement.execute(params![
        at,
        cookie.domain,
        site,
        cookie.name,
        cookie.value,
        cookie.path,
        expires.unwrap_or(0),
        cookie.secure,
        cookie.http_only,
        at,
        // Marked as persistent without an end, it is loaded as what it is, one that ends with the browser.
        expires.is_some(),
        number(&PRIORITIES, &cookie.priority),
        number(&SAME_SITES, &cookie.same_site),
        number(&SCHEMES, &cookie.source_scheme),
        cookie.source_port.map_or(-1, i32::from),
        at,
        SOURCE_TYPE_UNKNOWN,
        ancestor,
    ])?;
    Ok(())
}

const SOURCE_TYPE_UNKNOWN: i64 = 0;

/// The partition of a cookie, as the store has it: those without one have an ancestor, for no known reason.
pub(super) fn partition(cookie: &Cookie) -> (&str, bool) {
    match &cookie.partition_key {
        Some(key) => (&key.top_level_site, key.has_cross_site_ancestor),
        None => ("", true),
    }
}

/// The cookies that a browser takes, in the form that it would give them, and a line for each of the
/// others. Of those that are the same cookie to a browser the last one counts.
pub(in crate::profile) fn usable(cookies: &[Cookie], now: Expiry) -> (Vec<Cookie>, Receipt) {
    let (mut taken, mut left_out, mut seen) = (Vec::new(), Receipt::default(), HashSet::new());
    for cookie in cookies.iter().rev() {
        let refused = cookie.validate_in_store(now).err().map(|error| error.to_string());
        let refused = refused.or_else(|| {
            (!seen.insert(cookie.identity()))
                .then(|| "a later cookie is the same cookie".to_owned())
        });
        match refused {
            Some(reason) => {
                left_out.push(ReceiptItem::rejected(ItemKind::Cookie, cookie.place(), reason));
            }
            None => taken.push(as_stored(cookie.clone())),
        }
    }
    taken.reverse();
    left_out.items.reverse();
    (taken, left_out)
}

/// With the scheme and port that the browser would note where none are known, and not ones that
/// contradict the cookie.
fn as_stored(mut cookie: Cookie) -> Cookie {
    if cookie.source_scheme == SourceScheme::Unset {
        cookie.source_scheme =
            if cookie.secure { SourceScheme::Secure } else { SourceScheme::NonSecure };
    }
    let port = if cookie.source_scheme == SourceScheme::Secure { 443 } else { 80 };
    cookie.source_port.get_or_insert(port);
    cookie
}
