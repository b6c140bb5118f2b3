//! `cookies.txt`: a cookie a line, seven fields with tabs between them, as Netscape wrote them and curl,
//! wget, yt-dlp and extensions of browsers do.
//!
//! It has no `SameSite`; that is unspecified then. A line that begins with `#` is a comment, but for
//! `#HttpOnly_`.

use crate::cookie::{Cookie, Expiry, Priority, SourceScheme};
use crate::playwright::{Ignored, keep_last};
use crate::receipt::ItemKind;
use crate::state::State;

const HTTP_ONLY: &str = "#HttpOnly_";
/// Before every instant: whether a cookie is over is not looked at here.
const ANY_AGE: Expiry = Expiry(i64::MIN);
/// The most lines that are named which are none.
const MOST_NAMED: usize = 200;

/// Whether a text is such a file: by its first line, or by its first cookie.
pub(super) fn is_cookies_txt(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let titled = first.starts_with('#') && first.to_ascii_lowercase().contains("cookie file");
    titled
        || cookies(text).next().is_some_and(|(_, _, line)| {
            let fields: Vec<&str> = line.splitn(7, '\t').collect();
            fields.len() >= 6 && flag(fields[1]).is_some() && flag(fields[3]).is_some()
        })
}

/// Its cookies, and the lines that are none.
pub(super) fn read(text: &str) -> (State, Vec<Ignored>) {
    let (mut read, mut ignored, mut unnamed) = (Vec::new(), Vec::new(), 0_usize);
    for (number, http_only, line) in cookies(text) {
        match cookie(line, http_only) {
            Ok(cookie) => read.push(cookie),
            Err(_) if ignored.len() >= MOST_NAMED => unnamed += 1,
            Err((name, why)) => {
                let place = format!("line {number} {}", name.unwrap_or("?"));
                ignored.push(Ignored::new(ItemKind::Cookie, place, why));
            }
        }
    }
    if unnamed > 0 {
        let reason = format!("{unnamed} other lines are no cookies");
        ignored.push(Ignored::new(ItemKind::Cookie, "cookies.txt", reason));
    }
    let mut state = State { cookies: keep_last(read, &mut ignored), ..State::default() };
    state.normalize();
    (state, ignored)
}

/// The lines that should be cookies, with their numbers, and whether pages may see them.
fn cookies(text: &str) -> impl Iterator<Item = (usize, bool, &str)> {
    (1..).zip(text.lines()).filter_map(|(number, line)| match line.strip_prefix(HTTP_ONLY) {
        Some(line) => Some((number, true, line)),
        None if line.starts_with('#') || line.trim().is_empty() => None,
        None => Some((number, false, line)),
    })
}

/// The cookie of a line, or its name and what was expected.
fn cookie(line: &str, http_only: bool) -> Result<Cookie, (Option<&str>, String)> {
    let fields: Vec<&str> = line.splitn(7, '\t').collect();
    // Some editors take away the tab before an empty value.
    let [domain, below, path, secure, end, name, value] = match fields[..] {
        [domain, below, path, secure, end, name] => [domain, below, path, secure, end, name, ""],
        [domain, below, path, secure, end, name, value] => {
            [domain, below, path, secure, end, name, value]
        }
        _ => return Err((None, "expected seven fields with tabs between them".to_owned())),
    };
    let wrong = |expected: &str| (Some(name), format!("expected {expected}"));
    if line.contains('\u{fffd}') {
        return Err(wrong("text in UTF-8"));
    }
    let below = flag(below).ok_or_else(|| wrong("TRUE or FALSE in the second field"))?;
    let secure = flag(secure).ok_or_else(|| wrong("TRUE or FALSE in the fourth field"))?;
    let expires = match end.trim() {
        "" | "-1" => None,
        end => {
            let seconds = end.parse::<f64>().ok().filter(|end| end.is_finite() && *end >= 0.0);
            Expiry::from_seconds(seconds.ok_or_else(|| wrong("seconds since 1970, or 0"))?)
        }
    };
    let host = domain.strip_prefix('.').unwrap_or(domain);
    let cookie = Cookie {
        name: name.to_owned(),
        value: value.to_owned(),
        domain: if below { format!(".{host}") } else { host.to_owned() },
        path: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
        expires,
        http_only,
        secure,
        same_site: None,
        priority: Priority::default(),
        source_scheme: SourceScheme::default(),
        source_port: None,
        partition_key: None,
    };
    match cookie.validate(ANY_AGE) {
        Ok(()) => Ok(cookie),
        Err(reason) => Err((Some(name), reason.to_string())),
    }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "TRUE" | "true" => Some(true),
        "FALSE" | "false" => Some(false),
        _ => None,
    }
}
