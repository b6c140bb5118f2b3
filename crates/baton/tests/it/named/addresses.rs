//! Addresses of the API, and of upstream services behind the proxy.

use super::{Code, Finding, codes, report};
use baton_api::UpstreamId;
use baton_proxy::{Access, BrowserDebug, Outside, ProxyPlace, UpstreamService};
use baton_session::Owner;
use regex::Regex;
use std::net::Ipv4Addr;

/// Folders at the root of machines, which addresses are told from.
const FOLDERS: [&str; 19] = [
    "bin",
    "dev",
    "etc",
    "gnu",
    "home",
    "lib",
    "lib*",
    "media",
    "nix",
    "opt",
    "proc",
    "run",
    "sbin",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
    "workspace",
];

/// Addresses of others that pages name, and whose they are.
const ELSEWHERE: &[(&str, &str)] = &[
    ("/api/.*", "an expression for addresses of any site"),
    ("/data", "a folder of a container"),
    ("/data/baton.toml", "a file of a container"),
    ("/data/node", "a folder of a pod"),
    ("/data/node/baton.toml", "a file of a pod"),
    ("/chat/completions", "what comes behind the address of a model"),
    ("/style.css", "a file of some service"),
];

/// The addresses of the API: method and path.
struct Api(Vec<(String, String)>);

impl Api {
    fn read() -> Self {
        let document = serde_json::to_value(baton_server::http::document()).unwrap();
        let paths = document["paths"].as_object().unwrap().iter();
        let operations = paths.flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().keys();
            methods.map(|method| (method.to_uppercase(), path.clone()))
        });
        Self(operations.collect())
    }

    /// Whether there is such an address: with this method, if one is given.
    fn has(&self, method: Option<&str>, path: &str) -> bool {
        let path = path.split('?').next().unwrap();
        let mut operations = self.0.iter().filter(|(one, _)| method.is_none_or(|it| it == one));
        operations.any(|(_, known)| fits(known, path, false))
    }

    /// Whether there is something at or below an address.
    fn has_below(&self, path: &str) -> bool {
        self.0.iter().any(|(_, known)| fits(known, path, true))
    }
}

/// Whether a path that a page names is this one, or above it. A page gives a part of it any name.
fn fits(known: &str, named: &str, above: bool) -> bool {
    let [known, named] = [known, named].map(|path| path.split('/').collect::<Vec<_>>());
    let is_long = if above { named.len() <= known.len() } else { named.len() == known.len() };
    let is_same = |(known, named): (&&str, &&str)| known.starts_with('{') || known == named;
    is_long && known.iter().zip(&named).all(is_same)
}

/// Whether a path of the proxy leads to an upstream service, of whichever name.
fn is_upstream(path: &str) -> bool {
    let place = ProxyPlace {
        address: (Ipv4Addr::LOCALHOST, 8081).into(),
        host: None,
        outside: Outside::default(),
    };
    let ids = path.split('/').filter_map(|part| part.parse::<UpstreamId>().ok());
    let mut ways = ids.flat_map(|id| {
        place.ways(&UpstreamService {
            id,
            name: String::new(),
            upstream: "http://127.0.0.1:3000".parse().unwrap(),
            owner: Owner::local(),
            access: Access::default(),
            browser_debug: BrowserDebug::default(),
        })
    });
    path == "/" || ways.any(|way| way.path != "/" && path.starts_with(&way.path))
}

#[test]
fn every_address_that_a_page_names_is_there() {
    let api = Api::read();
    let with_method = Regex::new(r"\b(GET|POST|PUT|PATCH|DELETE) (/[^\s`,;]*)").unwrap();
    let of_node =
        Regex::new(r#"(?:\$\(baton url\)|(?:127\.0\.0\.1|localhost):7420)(/[^\s"'`),;]*)"#);
    let of_node = of_node.unwrap();
    let of_proxy = Regex::new(r#"(?:127\.0\.0\.1|localhost):8081(/[^\s"'`),;]*)"#).unwrap();
    let alone = Regex::new(r#"(?:^|[\s"'(])(/(\w[\w*-]*)[^\s"'`),;]*)"#).unwrap();
    let (mut findings, mut checked) = (Vec::<Finding>::new(), 0);
    for code in codes() {
        let mut check = |is_there: bool, what: &str, why: &str, code: &Code| {
            checked += 1;
            findings.extend((!is_there).then(|| code.finding(what, why)));
        };
        for found in with_method.captures_iter(&code.text) {
            let is_there = api.has(Some(&found[1]), &found[2]);
            check(is_there, &found[0], "the API has no such operation", &code);
        }
        for found in of_node.captures_iter(&code.text) {
            check(api.has(None, &found[1]), &found[1], "the API has no such address", &code);
        }
        for found in of_proxy.captures_iter(&code.text) {
            check(is_upstream(&found[1]), &found[0], "no cocoon can be at this address", &code);
        }
        for found in alone.captures_iter(&with_method.replace_all(&code.text, "")) {
            if !FOLDERS.contains(&&found[2]) {
                let is_there = api.has(None, &found[1]) || api.has_below(&found[1]);
                let is_there = is_there || is_upstream(&found[1]);
                check(is_there, &found[1], "the API has no such address", &code);
            }
        }
    }
    assert!(checked > 100, "expected the addresses of all pages, found {checked}");
    report(findings, ELSEWHERE);
}

#[test]
fn an_address_that_is_not_there_is_told() {
    let api = Api(vec![("GET".to_owned(), "/sessions/{id}/cdp".to_owned())]);
    assert!(api.has(Some("GET"), "/sessions/shop/cdp?reveal=true"));
    assert!(api.has_below("/sessions") && api.has_below("/sessions/{id}"));
    assert!(!api.has(Some("POST"), "/sessions/shop/cdp") && !api.has(None, "/sessions/shop"));
    assert!(!api.has_below("/session") && !api.has_below("/sessions/shop/cdp/more"));
    assert!(
        is_upstream("/proxy/shop/cart")
            && !is_upstream("/proxy/shop")
            && !is_upstream("/cocoon/shop/")
    );
}
