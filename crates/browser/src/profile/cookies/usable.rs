//! Which cookies a browser would take from its store, and in which form.

use baton_session::cookie::{Expiry, SourceScheme};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Cookie, Receipt};
use std::collections::HashSet;

/// The most bytes of name and value together, and of a path (RFC 6265bis, 5.6).
const PAIR: usize = 4096;
const PATH: usize = 1024;

/// The cookies that a browser takes, in the form that it would give them, and a line for each of the
/// others. Of those that are the same cookie to a browser the last one counts.
pub(in crate::profile) fn usable(cookies: &[Cookie], now: Expiry) -> (Vec<Cookie>, Receipt) {
    let (mut taken, mut left_out, mut seen) = (Vec::new(), Receipt::default(), HashSet::new());
    for cookie in cookies.iter().rev() {
        let same = (&cookie.domain, &cookie.path, &cookie.name, cookie.partition_key.as_ref());
        let refused = check(cookie, now).err().or_else(|| {
            (!seen.insert(same)).then(|| "a later cookie is the same cookie".to_owned())
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

fn check(cookie: &Cookie, now: Expiry) -> Result<(), String> {
    cookie.validate(now).map_err(|error| error.to_string())?;
    let is_padded = |text: &str| text.trim_matches([' ', '\t']).len() != text.len();
    if is_padded(&cookie.name) || is_padded(&cookie.value) {
        return Err("expected no space at the ends of the name and the value, found one".to_owned());
    }
    // A page may set one with a tab in its value, and the store loses it.
    if cookie.value.contains('\t') {
        return Err("expected no tab in the value, found one".to_owned());
    }
    let size = cookie.name.len() + cookie.value.len();
    if size > PAIR {
        return Err(format!("expected name and value in at most {PAIR} bytes, found {size}"));
    }
    if cookie.path.len() > PATH {
        return Err(format!(
            "expected a path of at most {PATH} bytes, found {}",
            cookie.path.len()
        ));
    }
    Ok(())
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
