//! Whose a request is: by the name of the host, or by the beginning of the path; where a page by a path
//! means the root of its own service, by the page that it says it comes from.
//!
//! A page can point a name of its own at this machine (DNS rebinding). So only names count that are
//! ours: `localhost`, loopback addresses, the configured host, and names of upstream services below them.

use axum::http::header::{HOST, REFERER};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};
use baton_api::UpstreamId;
use std::net::IpAddr;
use url::{Position, Url};

/// What precedes the id of an upstream service in a path.
const PREFIX: &str = "/proxy/";

/// Whose a request is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    /// Which upstream service.
    pub(super) service: UpstreamId,
    /// The path and the query that the upstream service gets.
    pub(super) target: String,
    /// What was taken off the path: nothing, or `/proxy/` and the id.
    pub(super) prefix: String,
    /// The host as the browser named it, with its port.
    pub(super) host: String,
    /// Whether that name never leads off this machine.
    pub(super) is_loopback: bool,
    /// How the browser speaks: `http`, or `https` where [`Outside`](super::Outside) says so.
    pub(super) scheme: &'static str,
}

/// Why a request is for no upstream service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoRoute {
    #[error("expected one Host, found none, several or one that is no name")]
    Host,
    #[error(
        "expected a name of this proxy such as ID.localhost, found another one\n\
         proxy.host names one more"
    )]
    Foreign,
    #[error("expected an address of a cocoon: ID.{0} or /proxy/ID/, found neither")]
    Nothing(String),
    #[error("expected a path that ends with a slash")]
    Slash(String),
    /// A page of an upstream service asked for something at its own root, which is here.
    #[error("expected the place of a cocoon before the path")]
    Root(String),
}

/// Finds out whose a request is; `ours` is the configured name.
pub(super) fn route(uri: &Uri, headers: &HeaderMap, ours: Option<&str>) -> Result<Route, NoRoute> {
    let host = host(uri, headers)?;
    let authority: Authority = host.parse().map_err(|_| NoRoute::Host)?;
    let port = host.strip_prefix(authority.host()).ok_or(NoRoute::Host)?;
    let is_port =
        |port: &str| port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    if !port.is_empty() && !is_port(port) {
        return Err(NoRoute::Host);
    }
    let name = authority.host().to_ascii_lowercase();
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let scheme = "http";
    let is_loopback = is_loopback(&name) || name.ends_with(".localhost");
    let bases = ["localhost"].into_iter().chain(ours);
    let by_name = bases.clone().find_map(|base| name.strip_suffix(base)?.strip_suffix('.'));
    if let Some(label) = by_name {
        let service = label.parse().map_err(|_| NoRoute::Nothing("localhost".to_owned()))?;
        let target = target.to_owned();
        return Ok(Route { service, target, prefix: String::new(), host, is_loopback, scheme });
    }
    if !is_loopback && !bases.clone().any(|base| base == name) {
        return Err(NoRoute::Foreign);
    }
    let nothing = || NoRoute::Nothing(host.clone());
    let Some((id, target)) = below(target) else {
        let place = referring(headers, &host).map(|service| format!("{PREFIX}{service}{target}"));
        let place = place.filter(|_| target.starts_with('/'));
        return Err(place.map_or_else(nothing, NoRoute::Root));
    };
    let service: UpstreamId = id.parse().map_err(|_| nothing())?;
    if !target.starts_with('/') {
        // Relative addresses of the page would lead elsewhere.
        return Err(NoRoute::Slash(format!("{PREFIX}{service}/{target}")));
    }
    let prefix = format!("{PREFIX}{service}");
    Ok(Route { service, target: target.to_owned(), prefix, host, is_loopback, scheme })
}

/// The id behind [`PREFIX`], and the target behind that.
fn below(target: &str) -> Option<(&str, &str)> {
    let rest = target.strip_prefix(PREFIX)?;
    Some(rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())))
}

/// The upstream service of the page that a request says it comes from, when that is by a path of this host.
fn referring(headers: &HeaderMap, host: &str) -> Option<UpstreamId> {
    let page = Url::parse(headers.get(REFERER)?.to_str().ok()?).ok()?;
    let is_here = page[Position::BeforeHost..Position::AfterPort].eq_ignore_ascii_case(host);
    let (id, _) = below(page.path()).filter(|_| is_here)?;
    id.parse().ok()
}

/// The one host that a request names.
fn host(uri: &Uri, headers: &HeaderMap) -> Result<String, NoRoute> {
    let mut named = headers.get_all(HOST).iter();
    let (first, second) = (named.next(), named.next());
    let first = first.and_then(|host| host.to_str().ok()).ok_or(NoRoute::Host)?;
    let same = uri.authority().is_none_or(|other| other.as_str().eq_ignore_ascii_case(first));
    if second.is_some() || !same || first.is_empty() {
        Err(NoRoute::Host)
    } else {
        Ok(first.to_owned())
    }
}

fn is_loopback(name: &str) -> bool {
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn find(host: &str, target: &str) -> Result<Route, NoRoute> {
        let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_str(host).unwrap())]);
        route(&target.parse().unwrap(), &headers, Some("dev.example.org"))
    }

    #[test]
    fn a_cocoon_is_found_by_name_and_by_path() {
        let found = |host, target| {
            let route = find(host, target).unwrap();
            (route.service.to_string(), route.target, route.prefix, route.is_loopback)
        };
        let row = |id: &str, target: &str, prefix: &str, loopback| {
            (id.to_owned(), target.to_owned(), prefix.to_owned(), loopback)
        };
        assert_eq!(found("shop.localhost:8081", "/a?b=c"), row("shop", "/a?b=c", "", true));
        assert_eq!(found("SHOP.LocalHost", "/proxy/x/"), row("shop", "/proxy/x/", "", true));
        assert_eq!(found("shop.dev.example.org", "/"), row("shop", "/", "", false));
        assert_eq!(
            found("localhost:8081", "/proxy/shop/a"),
            row("shop", "/a", "/proxy/shop", true)
        );
        assert_eq!(found("127.0.0.1:1", "/proxy/shop/?q"), row("shop", "/?q", "/proxy/shop", true));
        assert_eq!(found("[::1]:1", "/proxy/shop//x"), row("shop", "//x", "/proxy/shop", true));
        assert_eq!(
            found("dev.example.org", "/proxy/shop/"),
            row("shop", "/", "/proxy/shop", false)
        );
    }

    #[test]
    fn other_names_and_addresses_are_nobodys() {
        for host in [
            "evil.test",
            "localhost.evil.test",
            "shop.localhost.evil.test",
            "0.0.0.0",
            "10.0.0.1",
            "xdev.example.org",
        ] {
            assert_eq!(find(host, "/proxy/shop/"), Err(NoRoute::Foreign), "{host}");
        }
        for host in ["", "a b", "shop@localhost", "localhost:x"] {
            assert_eq!(find(host, "/proxy/shop/"), Err(NoRoute::Host), "{host}");
        }
        for host in ["a.b.localhost", "-a.localhost", ".localhost"] {
            assert!(matches!(find(host, "/"), Err(NoRoute::Nothing(_) | NoRoute::Host)), "{host}");
        }
        for target in ["/", "/proxy", "/proxy/", "/proxy/A/", "/proxy/../x"] {
            assert!(matches!(find("localhost", target), Err(NoRoute::Nothing(_))), "{target}");
        }
        assert_eq!(
            find("localhost", "/proxy/shop?q=1"),
            Err(NoRoute::Slash("/proxy/shop/?q=1".to_owned()))
        );
    }

    #[test]
    fn a_page_by_a_path_that_means_its_own_root_is_led_there() {
        let from = |host: &str, page: &str, target: &str| {
            let value = |text: &str| HeaderValue::from_str(text).unwrap();
            let headers = HeaderMap::from_iter([(HOST, value(host)), (REFERER, value(page))]);
            route(&target.parse().unwrap(), &headers, Some("dev.example.org")).unwrap_err()
        };
        let root = |place: &str| NoRoute::Root(place.to_owned());
        for (host, page) in [
            ("localhost:8081", "http://localhost:8081/proxy/shop/cart?a=b"),
            ("127.0.0.1:8081", "http://127.0.0.1:8081/proxy/shop/"),
            ("[::1]:8081", "http://[::1]:8081/proxy/shop/"),
            ("dev.example.org", "https://dev.example.org/proxy/shop/cart"),
        ] {
            assert_eq!(from(host, page, "/app.js?v=1"), root("/proxy/shop/app.js?v=1"), "{page}");
            assert_eq!(from(host, page, "/"), root("/proxy/shop/"), "{page}");
        }
        for page in [
            "http://evil.test/proxy/shop/",
            "http://localhost:9/proxy/shop/",
            "http://localhost:8081/cart",
            "http://localhost:8081/proxy/A/",
            "/proxy/shop/",
        ] {
            let found = from("localhost:8081", page, "/app.js");
            assert!(matches!(found, NoRoute::Nothing(_)), "{page}: {found}");
        }
        let foreign = from("evil.test", "http://evil.test/proxy/shop/", "/app.js");
        assert_eq!(foreign, NoRoute::Foreign);
    }

    #[test]
    fn whoever_names_two_hosts_is_not_believed() {
        let mut headers = HeaderMap::new();
        assert_eq!(route(&"/".parse().unwrap(), &headers, None), Err(NoRoute::Host));
        headers.append(HOST, HeaderValue::from_static("shop.localhost"));
        let absolute = "http://other.localhost/".parse().unwrap();
        assert_eq!(route(&absolute, &headers, None), Err(NoRoute::Host));
        headers.append(HOST, HeaderValue::from_static("shop.localhost"));
        assert_eq!(route(&"/".parse().unwrap(), &headers, None), Err(NoRoute::Host));
    }
}
