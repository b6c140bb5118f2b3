//! What of an answer is changed on its way: addresses that name the service's own place, which the browser
//! does not know, and pages that get a token.
//!
//! Behind a host name of its own little is left to do. Behind a path everything absolute needs the prefix;
//! what is in pages and scripts is not touched. A service on this machine does not know by which of the
//! machine's own names it is asked, so each of them is its own.
//!
//! A page's script can read the headers of what it fetches, so only real navigations get a token:
//! browsers mark them with headers that no script can set.

use super::headers::TOKEN;
use super::route::Route;
use super::upstream::{BrowserDebug, Upstream};
use axum::http::header::{
    ACCEPT, AGE, CACHE_CONTROL, CONTENT_LOCATION, CONTENT_TYPE, COOKIE, ETAG, EXPIRES, HeaderMap,
    HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, PRAGMA,
    REFRESH, SET_COOKIE, UPGRADE_INSECURE_REQUESTS,
};
use axum::http::{Method, StatusCode};
use std::net::{Ipv4Addr, Ipv6Addr};
use url::{Host, Position, Url};

/// What a cookie's name begins with that only the root of a host may have (RFC 6265bis, section 4.1.3.2).
const OF_A_HOST: &str = "__Host-";
/// What the browser knows instead behind a path: such a cookie has to stay with that, or every upstream
/// service of the host would get it.
const BELOW_A_PATH: &str = "cocoon-host-";

/// Gives cookies that [`rewrite`] has named otherwise their own names.
pub(super) fn name_as_they_were(headers: &mut HeaderMap) {
    let cookies: Vec<HeaderValue> = headers.get_all(COOKIE).iter().cloned().collect();
    headers.remove(COOKIE);
    for value in cookies {
        let own = |pair: &[u8]| match pair.trim_ascii_start().strip_prefix(BELOW_A_PATH.as_bytes())
        {
            Some(rest) => [OF_A_HOST.as_bytes(), rest].concat(),
            None => pair.trim_ascii_start().to_vec(),
        };
        let pairs: Vec<Vec<u8>> = value.as_bytes().split(|byte| *byte == b';').map(own).collect();
        let named = HeaderValue::from_bytes(&pairs.join(&b"; "[..]));
        headers.append(COOKIE, named.unwrap_or(value));
    }
}

/// Corrects `Location`, `Content-Location`, `Refresh` and `Set-Cookie`.
pub(super) fn rewrite(headers: &mut HeaderMap, route: &Route, upstream: &Upstream) {
    let ways: [(HeaderName, Correct); 3] =
        [(LOCATION, location), (CONTENT_LOCATION, location), (REFRESH, refresh)];
    for (name, correct) in ways {
        let found = headers.get(&name).and_then(|value| value.to_str().ok());
        let right = found.and_then(|found| correct(found, route, upstream));
        if let Some(right) = right.and_then(|right| HeaderValue::from_str(&right).ok()) {
            headers.insert(name, right);
        }
    }
    let cookies: Vec<HeaderValue> = headers.get_all(SET_COOKIE).iter().cloned().collect();
    headers.remove(SET_COOKIE);
    for value in cookies {
        let right = value
            .to_str()
            .ok()
            .and_then(|text| HeaderValue::from_str(&cookie(text, &route.prefix)).ok());
        headers.append(SET_COOKIE, right.unwrap_or(value));
    }
}

/// What a header says where the browser knows another address; none when it stays.
type Correct = fn(&str, &Route, &Upstream) -> Option<String>;

/// The address as the browser knows it; none when it stays.
fn location(address: &str, route: &Route, upstream: &Upstream) -> Option<String> {
    if address.starts_with('/') && !address.starts_with("//") {
        return prefixed(address, &route.prefix);
    }
    let read = |scheme: &str| match address.strip_prefix("//") {
        Some(rest) => Url::parse(&format!("{scheme}://{rest}")).ok(),
        None => Url::parse(address).ok(),
    };
    let url = read("http")?;
    if is_own(&url, route, upstream) {
        let path = &url[Position::BeforePath..];
        let path = prefixed(path, &route.prefix).unwrap_or_else(|| path.to_owned());
        // What begins with two slashes would name a host.
        let is_path = !path.starts_with("//");
        return Some(if is_path {
            path
        } else {
            format!("{}://{}{path}", route.scheme, route.host)
        });
    }
    let url = read(route.scheme)?;
    let ours = Url::parse(&format!("{}://{}", route.scheme, route.host)).ok()?;
    if url.origin() != ours.origin() {
        return None;
    }
    let path = prefixed(&url[Position::BeforePath..], &route.prefix)?;
    Some(format!("{}{path}", &url[..Position::BeforePath]))
}

/// The same of an address after some seconds (HTML, "shared declarative refresh steps").
fn refresh(text: &str, route: &Route, upstream: &Upstream) -> Option<String> {
    let is_of_time = |c: char| c.is_ascii_digit() || c == '.' || c.is_ascii_whitespace();
    let (time, rest) = text.split_at(text.find(|c| !is_of_time(c))?);
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim();
    let named = rest.split_at_checked(3).filter(|(name, _)| name.eq_ignore_ascii_case("url"));
    let named = named.and_then(|(_, rest)| rest.trim_start().strip_prefix('='));
    let address = named.unwrap_or(rest).trim_start();
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let rest = address.strip_prefix(quote)?;
        Some(rest.split(quote).next().unwrap_or(rest))
    });
    let right = location(quoted.unwrap_or(address).trim(), route, upstream)?;
    Some(format!("{}; url={right}", time.trim()))
}

/// Whether an address is where the upstream service answers; also by the name that the browser gave the host:
/// a server may put its own port behind the name that a request has, as nginx does in redirects. And by each
/// name of this machine, if the upstream service is here.
fn is_own(url: &Url, route: &Route, upstream: &Upstream) -> bool {
    let upstream = upstream.url();
    let named = Url::parse(&format!("http://{}", route.host)).ok();
    let is_named = named.is_some_and(|named| named.host() == url.host());
    let is_here = is_this_machine(url) && is_this_machine(upstream);
    let has_its_port = url.port_or_known_default() == upstream.port_or_known_default();
    url.origin() == upstream.origin()
        || (is_named || is_here) && has_its_port && url.scheme() == upstream.scheme()
}

/// Whether an address has one of the names that each machine has for itself. Other addresses of loopback may
/// be other services.
fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address == Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == Ipv6Addr::LOCALHOST,
        None => false,
    }
}

/// The path behind the prefix; none when it is there already.
fn prefixed(path: &str, prefix: &str) -> Option<String> {
    let has_it = path
        .strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
    if prefix.is_empty() || has_it { None } else { Some(format!("{prefix}{path}")) }
}

/// A cookie that stays with the name and the prefix of its upstream service.
fn cookie(text: &str, prefix: &str) -> String {
    let attribute = |attribute: &&str| -> Option<String> {
        let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "domain" => None,
            "path" => {
                let path = value.trim();
                let right = path.starts_with('/').then(|| prefixed(path, prefix)).flatten();
                Some(right.map_or_else(|| (*attribute).to_owned(), |path| format!(" Path={path}")))
            }
            _ => Some((*attribute).to_owned()),
        }
    };
    let mut parts = text.split(';');
    let pair = parts.next().unwrap_or_default();
    let pair = match of_a_host(pair) {
        Some(rest) if !prefix.is_empty() => format!("{BELOW_A_PATH}{rest}"),
        _ => pair.to_owned(),
    };
    let kept: Vec<String> =
        std::iter::once(pair).chain(parts.filter_map(|part| attribute(&part))).collect();
    kept.join(";")
}

/// What follows the beginning of such a name, however that is written: browsers take each way.
fn of_a_host(pair: &str) -> Option<&str> {
    let (start, rest) = pair.trim_start().split_at_checked(OF_A_HOST.len())?;
    start.eq_ignore_ascii_case(OF_A_HOST).then_some(rest)
}

const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Whether a request may be answered with a page that gets a token.
pub(super) fn is_navigation(
    settings: &BrowserDebug,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
) -> bool {
    settings.enabled
        && method == Method::GET
        && !settings.exclude_paths.iter().any(|excluded| is_below(path, excluded))
        && match (one(headers, &MODE), one(headers, &DEST)) {
            (None, None) => settings.without_fetch_metadata && looks_like_one(headers),
            (mode, dest) => mode == Some("navigate") && dest == Some("document"),
        }
}

/// Whether a path is `above`, or below it: whole segments count.
fn is_below(path: &str, above: &str) -> bool {
    let above = above.trim_end_matches('/');
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The header, when it is there.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

/// A guess, which a script can bring about as well.
fn looks_like_one(headers: &HeaderMap) -> bool {
    one(headers, &UPGRADE_INSECURE_REQUESTS) == Some("1")
        && one(headers, &ACCEPT).is_some_and(|accept| accept.contains("text/html"))
}

/// Sees to it that the page comes whole: a copy in the browser's cache has an old token.
pub(super) fn ask_for_all(headers: &mut HeaderMap) {
    headers.remove(IF_NONE_MATCH);
    headers.remove(IF_MODIFIED_SINCE);
}

/// Whether the answer to a navigation is a page.
pub(super) fn is_page(settings: &BrowserDebug, status: StatusCode, headers: &HeaderMap) -> bool {
    let kind = one(headers, &CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let shows = !status.is_informational() && !status.is_redirection();
    shows && settings.content_types.iter().any(|page| page.eq_ignore_ascii_case(kind))
}

/// Gives a page its token; no cache keeps it.
pub(super) fn decorate(headers: &mut HeaderMap, token: HeaderValue) {
    for name in [ETAG, LAST_MODIFIED, EXPIRES, PRAGMA, AGE] {
        headers.remove(name);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(TOKEN, token);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(prefix: &str, host: &str) -> Route {
        Route {
            service: "shop".parse().unwrap(),
            target: "/".to_owned(),
            prefix: prefix.to_owned(),
            host: host.to_owned(),
            is_loopback: true,
            scheme: "http",
        }
    }

    fn shown(address: &str, route: &Route) -> String {
        let upstream = "http://127.0.0.1:3000".parse().unwrap();
        location(address, route, &upstream).unwrap_or_else(|| address.to_owned())
    }

    #[test]
    fn a_redirect_leads_to_where_the_browser_can_go() {
        let by_path = route("/proxy/shop", "localhost:8081");
        let by_name = route("", "shop.localhost:8081");
        for (address, path, name) in [
            ("/login?a=b", "/proxy/shop/login?a=b", "/login?a=b"),
            ("/proxy/shop/login", "/proxy/shop/login", "/proxy/shop/login"),
            ("/proxy/shopping", "/proxy/shop/proxy/shopping", "/proxy/shopping"),
            ("login", "login", "login"),
            ("http://127.0.0.1:3000/login#x", "/proxy/shop/login#x", "/login#x"),
            ("//127.0.0.1:3000/login", "/proxy/shop/login", "/login"),
            (
                "http://127.0.0.1:3001/login",
                "http://127.0.0.1:3001/login",
                "http://127.0.0.1:3001/login",
            ),
            ("http://localhost:3000/docs/", "/proxy/shop/docs/", "/docs/"),
            ("http://[::1]:3000/docs/", "/proxy/shop/docs/", "/docs/"),
            ("//LocalHost:3000/docs/", "/proxy/shop/docs/", "/docs/"),
            ("http://127.0.0.2:3000/", "http://127.0.0.2:3000/", "http://127.0.0.2:3000/"),
            ("http://localhost:3001/", "http://localhost:3001/", "http://localhost:3001/"),
            ("https://localhost:3000/", "https://localhost:3000/", "https://localhost:3000/"),
            ("http://shop.localhost:3000/docs/", "http://shop.localhost:3000/docs/", "/docs/"),
            (
                "http://127.0.0.1:3000//evil.test/",
                "/proxy/shop//evil.test/",
                "http://shop.localhost:8081//evil.test/",
            ),
            ("https://example.org/", "https://example.org/", "https://example.org/"),
            ("//example.org/", "//example.org/", "//example.org/"),
        ] {
            assert_eq!(shown(address, &by_path), path);
            assert_eq!(shown(address, &by_name), name);
        }
        assert_eq!(
            shown("http://localhost:8081/a", &by_path),
            "http://localhost:8081/proxy/shop/a"
        );
        assert_eq!(shown("http://shop.localhost:8081/a", &by_name), "http://shop.localhost:8081/a");
        let secure = Route { scheme: "https", ..route("/proxy/shop", "dev.example.org") };
        for (address, right) in [
            ("https://dev.example.org/a", "https://dev.example.org/proxy/shop/a"),
            ("//dev.example.org/a", "https://dev.example.org/proxy/shop/a"),
            ("http://dev.example.org/a", "http://dev.example.org/a"),
            ("//127.0.0.1:3000/a", "/proxy/shop/a"),
            ("http://dev.example.org:3000/a", "/proxy/shop/a"),
            ("https://dev.example.org:3000/a", "https://dev.example.org:3000/a"),
        ] {
            assert_eq!(shown(address, &secure), right);
        }
    }

    #[test]
    fn each_name_of_this_machine_is_that_of_an_upstream_here() {
        let by_path = route("/proxy/shop", "dev.example.org");
        let by_name = route("", "shop.dev.example.org");
        let names = ["localhost", "127.0.0.1", "[::1]"];
        for (one, other) in names.iter().flat_map(|one| names.map(|other| (one, other))) {
            let upstream = format!("http://{one}:3000").parse().unwrap();
            let address = format!("http://{other}:3000/x");
            let by = |route| location(&address, route, &upstream);
            assert_eq!(by(&by_path).as_deref(), Some("/proxy/shop/x"), "{one} {other}");
            assert_eq!(by(&by_name).as_deref(), Some("/x"), "{one} {other}");
        }
        // To another machine such a name means that machine, which is nowhere from here.
        let far = "http://app:3000".parse().unwrap();
        assert_eq!(location("http://localhost:3000/x", &by_name, &far), None);
    }

    #[test]
    fn a_page_that_loads_another_after_some_seconds_leads_to_where_the_browser_can_go() {
        let (by_path, by_name) =
            (route("/proxy/shop", "localhost:8081"), route("", "shop.localhost:8081"));
        let upstream = "http://127.0.0.1:3000".parse().unwrap();
        for (found, path, name) in [
            ("5", None, None),
            ("0; url=/x", Some("0; url=/proxy/shop/x"), None),
            ("3;URL='/x' y", Some("3; url=/proxy/shop/x"), None),
            (
                "1, http://localhost:3000/x?a=b",
                Some("1; url=/proxy/shop/x?a=b"),
                Some("1; url=/x?a=b"),
            ),
            (
                "0.5; Url = \"http://[::1]:3000/x\"",
                Some("0.5; url=/proxy/shop/x"),
                Some("0.5; url=/x"),
            ),
            ("0; url=https://example.org/", None, None),
            ("soon; url=x", None, None),
            ("", None, None),
        ] {
            assert_eq!(refresh(found, &by_path, &upstream).as_deref(), path, "{found}");
            assert_eq!(refresh(found, &by_name, &upstream).as_deref(), name, "{found}");
        }
    }

    #[test]
    fn a_cookie_stays_with_its_cocoon() {
        for (found, path, name) in [
            ("a=1", "a=1", "a=1"),
            ("a=1; Path=/; HttpOnly", "a=1; Path=/proxy/shop/; HttpOnly", "a=1; Path=/; HttpOnly"),
            ("a=1; path=/x; Domain=localhost", "a=1; Path=/proxy/shop/x", "a=1; path=/x"),
            ("a=Path=/; Secure", "a=Path=/; Secure", "a=Path=/; Secure"),
            (
                "__Host-a=1; Secure; Path=/",
                "cocoon-host-a=1; Secure; Path=/proxy/shop/",
                "__Host-a=1; Secure; Path=/",
            ),
            ("__host-=1; Path=/", "cocoon-host-=1; Path=/proxy/shop/", "__host-=1; Path=/"),
        ] {
            assert_eq!(cookie(found, "/proxy/shop"), path);
            assert_eq!(cookie(found, ""), name);
        }
    }

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        let header = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        list.iter().map(header).collect()
    }

    const NAVIGATION: [(&str, &str); 2] =
        [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    const OLD: [(&str, &str); 2] =
        [("accept", "text/html,*/*"), ("upgrade-insecure-requests", "1")];

    #[test]
    fn only_real_navigations_may_get_a_token() {
        let settings = BrowserDebug {
            exclude_paths: vec!["/health".into(), "/api/".into()],
            ..BrowserDebug::default()
        };
        let is_one = |method: Method, path: &str, list: &[(&'static str, &'static str)]| {
            is_navigation(&settings, &method, path, &headers(list))
        };
        for path in ["/", "/healthy", "/apis", "/a/health"] {
            assert!(is_one(Method::GET, path, &NAVIGATION), "{path}");
        }
        for path in ["/health", "/health/", "/health/live", "/api", "/api/x"] {
            assert!(!is_one(Method::GET, path, &NAVIGATION), "{path}");
        }
        assert!(!is_one(Method::POST, "/", &NAVIGATION));
        assert!(!is_one(Method::HEAD, "/", &NAVIGATION));
        assert!(!is_one(Method::GET, "/", &OLD));
        for (mode, dest) in
            [("cors", "empty"), ("navigate", "iframe"), ("same-origin", "document"), ("", "")]
        {
            let list = [("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
            assert!(!is_one(Method::GET, "/", &list), "{mode} {dest}");
        }
        assert!(!is_one(Method::GET, "/", &NAVIGATION[..1]), "one header alone is not enough");
        let off = BrowserDebug { enabled: false, ..BrowserDebug::default() };
        assert!(!is_navigation(&off, &Method::GET, "/", &headers(&NAVIGATION)));
    }

    #[test]
    fn where_browsers_mark_nothing_a_setting_allows_a_guess() {
        let guess = BrowserDebug { without_fetch_metadata: true, ..BrowserDebug::default() };
        let is_one = |list: &[(&'static str, &'static str)]| {
            is_navigation(&guess, &Method::GET, "/", &headers(list))
        };
        assert!(is_one(&OLD));
        assert!(!is_one(&OLD[..1]));
        let fetched =
            [OLD.as_slice(), &[("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")]].concat();
        assert!(!is_one(&fetched), "what a browser marks is not guessed");
    }

    #[test]
    fn pages_are_known_by_their_type() {
        let settings = BrowserDebug::default();
        let is_one = |status, kind| is_page(&settings, status, &headers(&[("content-type", kind)]));
        assert!(is_one(StatusCode::OK, "text/html"));
        assert!(is_one(StatusCode::NOT_FOUND, "Text/HTML; charset=utf-8"));
        assert!(!is_one(StatusCode::OK, "text/html5"));
        assert!(!is_one(StatusCode::OK, "application/json"));
        assert!(!is_one(StatusCode::FOUND, "text/html"));
        assert!(!is_page(&settings, StatusCode::OK, &HeaderMap::new()));
    }

    #[test]
    fn a_page_with_a_token_is_kept_by_no_cache() {
        let mut found = headers(&[
            ("cache-control", "public, max-age=600"),
            ("etag", "\"1\""),
            ("last-modified", "Mon, 01 Jan 2024 00:00:00 GMT"),
            ("expires", "0"),
            ("vary", "accept"),
        ]);
        decorate(&mut found, HeaderValue::from_static("token"));
        let left =
            [("cache-control", "no-store"), ("vary", "accept"), ("x-adi-debug-token", "token")];
        assert_eq!(found, headers(&left));
    }
}
