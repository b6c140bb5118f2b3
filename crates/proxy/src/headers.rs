//! Which headers go on: those of the connection do not, nor do ours.

use super::route::Route;
use axum::http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, FORWARDED, HOST, HeaderMap, HeaderName,
    HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SET_COOKIE, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use baton_api::{GUEST_HEADER, PAGE_HEADER};
use baton_runtime::keys::KeySecret;
use std::net::IpAddr;

/// What a page's token comes in.
pub(super) const TOKEN: HeaderName = HeaderName::from_static("x-adi-debug-token");
/// What names of our own cookies begin with.
const OUR_COOKIES: &str = "baton_";
/// The protocol to which connections may change.
pub(super) const WEBSOCKET: &str = "websocket";
/// How large the headers of a request may be together, in bytes.
pub(super) const MOST_BYTES: usize = 64 << 10;

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
/// What tells an upstream service who asked, and how; what a browser says of it is not believed.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_BY_OTHERS: [HeaderName; 7] = [
    FORWARDED_FOR,
    FORWARDED_HOST,
    FORWARDED_PREFIX,
    FORWARDED_PROTO,
    HeaderName::from_static("x-forwarded-port"),
    HeaderName::from_static("x-forwarded-server"),
    HeaderName::from_static("x-real-ip"),
];

/// Whether the headers are larger than any browser's.
pub(super) fn are_too_large(headers: &HeaderMap) -> bool {
    let size = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + 4;
    headers.iter().map(size).sum::<usize>() > MOST_BYTES
}

/// Whether a message asks or agrees to change to another protocol. There is one that it may be: what runs
/// over another one, such as HTTP/2 in clear text, would pass by everything that is looked at here. Fails with
/// what else was found.
pub(super) fn upgrade(headers: &HeaderMap) -> Result<bool, String> {
    let is_other =
        |name: &&HeaderValue| !name.as_bytes().eq_ignore_ascii_case(WEBSOCKET.as_bytes());
    if let Some(other) = headers.get_all(UPGRADE).iter().find(is_other) {
        return Err(String::from_utf8_lossy(other.as_bytes()).chars().take(80).collect());
    }
    let asks = options(headers).any(|option| option.eq_ignore_ascii_case("upgrade"));
    Ok(asks && headers.contains_key(UPGRADE))
}

/// Takes away the length of a message that is sent in chunks: those say where it ends (RFC 9112, 6.3).
pub(super) fn drop_other_length(headers: &mut HeaderMap) {
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    }
}

/// Takes away what concerns one connection only (RFC 9110, 7.6.1).
pub(super) fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = options(headers).filter_map(|name| name.parse().ok()).collect();
    let known = [
        CONNECTION,
        KEEP_ALIVE,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        PROXY_CONNECTION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    // What frames a message, or says for whom it is, cannot be taken away.
    let kept = [HOST, CONTENT_LENGTH];
    for name in known.into_iter().chain(named).filter(|name| !kept.contains(name)) {
        headers.remove(name);
    }
}

fn options(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Takes away what is between the browser and us.
pub(super) fn drop_ours(headers: &mut HeaderMap) {
    headers.remove(TOKEN);
    headers.remove(PAGE_HEADER);
    headers.remove(GUEST_HEADER);
    // However it is written: what reads it there may be less strict than we are.
    let is_our_key = |value: &HeaderValue| KeySecret::stands_in(value.as_bytes());
    if headers.get_all(AUTHORIZATION).iter().any(is_our_key) {
        headers.remove(AUTHORIZATION);
    }
    let cookies: Vec<HeaderValue> =
        headers.get_all(COOKIE).iter().filter_map(without_our_cookies).collect();
    headers.remove(COOKIE);
    for cookie in cookies {
        headers.append(COOKIE, cookie);
    }
}

/// A header of cookies without ours; none when nothing is left.
fn without_our_cookies(value: &HeaderValue) -> Option<HeaderValue> {
    let pairs = value.as_bytes().split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let theirs: Vec<&[u8]> =
        pairs.filter(|pair| !pair.is_empty() && !is_our_cookie(pair)).collect();
    if theirs.is_empty() { None } else { HeaderValue::from_bytes(&theirs.join(&b"; "[..])).ok() }
}

/// Whether `name=value` is a cookie of ours.
pub(super) fn is_our_cookie(pair: &[u8]) -> bool {
    pair.trim_ascii_start()
        .get(..OUR_COOKIES.len())
        .is_some_and(|name| name.eq_ignore_ascii_case(OUR_COOKIES.as_bytes()))
}

/// Takes away what no upstream service may say in our name.
pub(super) fn drop_hostile(headers: &mut HeaderMap) {
    headers.remove(TOKEN);
    let cookies: Vec<HeaderValue> = headers.get_all(SET_COOKIE).iter().cloned().collect();
    headers.remove(SET_COOKIE);
    for cookie in cookies.into_iter().filter(|cookie| !is_our_cookie(cookie.as_bytes())) {
        headers.append(SET_COOKIE, cookie);
    }
}

/// Tells the upstream service who asked, and how.
pub(super) fn add_forwarded(headers: &mut HeaderMap, route: &Route, peer: IpAddr) {
    for name in FORWARDED_BY_OTHERS {
        headers.remove(name);
    }
    let node = match peer {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("\"[{address}]\""),
    };
    let forwarded = format!("for={node};host=\"{}\";proto={}", route.host, route.scheme);
    let ours = [
        (FORWARDED, forwarded.as_str()),
        (FORWARDED_FOR, &peer.to_string()),
        (FORWARDED_HOST, &route.host),
        (FORWARDED_PROTO, route.scheme),
        (FORWARDED_PREFIX, &route.prefix),
    ];
    for (name, value) in ours {
        if let Some(value) = HeaderValue::from_str(value).ok().filter(|value| !value.is_empty()) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        let header = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        let mut headers = HeaderMap::new();
        for (name, value) in list.iter().map(header) {
            headers.append(name, value);
        }
        headers
    }

    #[test]
    fn what_concerns_one_connection_stays_there() {
        let mut found = headers(&[
            ("connection", "keep-alive, X-Private"),
            ("connection", "host, content-length"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("trailer", "x-adi-debug-token"),
            ("transfer-encoding", "chunked"),
            ("x-private", "1"),
            ("host", "shop.localhost"),
            ("content-length", "3"),
            ("accept", "*/*"),
        ]);
        drop_hop_by_hop(&mut found);
        let left =
            headers(&[("host", "shop.localhost"), ("content-length", "3"), ("accept", "*/*")]);
        assert_eq!(found, left);
    }

    #[test]
    fn an_upgrade_is_asked_for_in_two_headers() {
        let both = headers(&[("connection", "keep-alive, Upgrade"), ("upgrade", "WebSocket")]);
        assert_eq!(upgrade(&both), Ok(true));
        assert_eq!(upgrade(&headers(&[("upgrade", "websocket")])), Ok(false));
        assert_eq!(upgrade(&headers(&[("connection", "upgrade")])), Ok(false));
        assert_eq!(upgrade(&headers(&[])), Ok(false));
        for other in ["h2c", "websocket, h2c", "TLS/1.0", ""] {
            let other = headers(&[("connection", "upgrade"), ("upgrade", other)]);
            assert!(upgrade(&other).is_err(), "{other:?}");
        }
        let two = headers(&[("upgrade", "websocket"), ("upgrade", "h2c")]);
        assert_eq!(upgrade(&two), Err("h2c".to_owned()));
    }

    #[test]
    fn what_is_sent_in_chunks_has_no_other_length() {
        let mut both = headers(&[("transfer-encoding", "chunked"), ("content-length", "50")]);
        drop_other_length(&mut both);
        assert_eq!(both, headers(&[("transfer-encoding", "chunked")]));
        let mut one = headers(&[("content-length", "50")]);
        drop_other_length(&mut one);
        assert_eq!(one, headers(&[("content-length", "50")]));
    }

    #[test]
    fn our_cookies_and_keys_are_ours() {
        let key = KeySecret::generate();
        let bearer = format!("bearer {}", key.expose());
        let mut found = headers(&[
            ("cookie", "a=1; baton_cocoon=secret; b=2"),
            ("cookie", "Baton_Other=secret"),
            ("authorization", &bearer),
            ("cookie", "baton_page=half"),
            ("baton-page", "other half"),
            ("baton-guest", "half of a guest"),
            ("x-adi-debug-token", "x"),
        ]);
        drop_ours(&mut found);
        assert_eq!(found, headers(&[("cookie", "a=1; b=2")]));
        let forms = ["Bearer\t{}", "Bearer  {}", "{}", "Digest a=\"{}\"", "Bearer\t\t{}\t", "a{}b"];
        for form in forms {
            let value = form.replace("{}", key.expose());
            let mut found = headers(&[("authorization", &value)]);
            drop_ours(&mut found);
            assert!(found.is_empty(), "{form:?}");
        }
        let theirs = headers(&[("authorization", "Bearer of-the-site"), ("cookie", "my_baton_=1")]);
        let mut found = theirs.clone();
        drop_ours(&mut found);
        assert_eq!(found, theirs);
    }

    #[test]
    fn a_cocoon_does_not_speak_in_our_name() {
        let mut found = headers(&[
            ("set-cookie", "baton_cocoon=x; Path=/"),
            ("set-cookie", "sid=1"),
            ("x-adi-debug-token", "x"),
        ]);
        drop_hostile(&mut found);
        assert_eq!(found, headers(&[("set-cookie", "sid=1")]));
    }
}
