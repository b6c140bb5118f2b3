//! Which pages get a token, and how it is given to them.
//!
//! A page's script can read the headers of what it fetches, so only real navigations get a token:
//! browsers mark them with headers that no script can set.

use super::headers::TOKEN;
use super::upstream::BrowserDebug;
use axum::http::header::{
    ACCEPT, AGE, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderMap, HeaderName, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, PRAGMA, UPGRADE_INSECURE_REQUESTS,
};
use axum::http::{Method, StatusCode};

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
