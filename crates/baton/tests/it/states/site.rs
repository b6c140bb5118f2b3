//! The sites whose pages write states and read them back, and the addresses of their tabs.
//!
//! Every `….localhost` host is a site of its own; the same host on the other port is the same site and
//! another origin. What a page embeds stands in its address.

use axum::Router;
use axum::extract::RawQuery;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{AppendHeaders, Html, IntoResponse};
use axum::routing::{get, post};
use baton_playground::Site;
use baton_testing::Dice;
use url::Url;

/// What a page is made of.
macro_rules! scripts {
    ($($name:literal),*) => { concat!($(include_str!(concat!("pages/", $name, ".js"))),*) };
}

const SCRIPT: &str =
    scripts!("dice", "values", "describe", "write_databases", "write", "read", "page");

/// The sites, on two ports.
pub(super) struct Sites([Site; 2]);

impl Sites {
    pub(super) async fn start() -> Self {
        Self([Site::start(pages()).await.unwrap(), Site::start(pages()).await.unwrap()])
    }

    /// The addresses of the page of site `number` for a reader and for its tab, with the frames that the dice give it: of another site, of the same
    /// site on another port or host, and of the page's own site inside of another's.
    pub(super) fn page_of(&self, dice: &mut Dice, number: usize) -> (Url, Url) {
        let host = format!("s{number}");
        let other = format!("s{}", number + 1);
        let mut frames = vec![self.page(0, &other, &[])];
        match dice.roll(4) {
            0 => frames.push(self.page(1, &host, &[])),
            1 => frames.push(self.page(0, &format!("sub.{host}"), &[])),
            2 => frames[0] = self.page(0, &other, &[self.page(0, &host, &[])]),
            _ => {}
        }
        let page = self.page(0, &host, &frames);
        let mut tab = page.clone();
        let direction = ["ltr", "ltr", "rtl"][usize::try_from(dice.roll(3)).unwrap()];
        tab.query_pairs_mut().append_pair("tab", &number.to_string()).append_pair("dir", direction);
        (page, tab)
    }

    fn page(&self, port: usize, host: &str, frames: &[Url]) -> Url {
        let mut url = self.0[port].url_on(host, "/state").unwrap();
        for frame in frames {
            url.query_pairs_mut().append_pair("in", frame.as_str());
        }
        url
    }
}

fn pages() -> Router {
    Router::new()
        .route("/state", get(page))
        .route("/states.js", get(async || script(SCRIPT.to_owned())))
        .route("/worker.js", get(worker))
        .route("/part.js", get(part))
        .route("/set", post(set))
        .route("/cookies", get(sent))
        .route("/scoped/cookies", get(sent))
        .route("/scoped/deep/cookies", get(sent))
}

/// A page with room to scroll to all sides that its direction knows.
async fn page(RawQuery(query): RawQuery) -> impl IntoResponse {
    let is_rtl = query.is_some_and(|query| query.contains("dir=rtl"));
    let direction = if is_rtl { "rtl" } else { "ltr" };
    Html(format!(
        "<!doctype html><html dir={direction}><meta charset=utf-8>
         <body style='margin: 0; width: 3000px; height: 5000px'><script src=/states.js></script>"
    ))
}

/// A worker that says who it is: what was asked for, how it runs, and what it imported.
async fn worker(RawQuery(query): RawQuery) -> impl IntoResponse {
    let query = query.unwrap_or_default();
    let is_module = query.contains("type=module");
    let parts = query.chars().last().and_then(|last| last.to_digit(10)).unwrap_or_default();
    let import = |at| {
        if is_module {
            format!("import './part.js?{at}';")
        } else {
            format!("importScripts('/part.js?{at}');")
        }
    };
    let imports: String = (0..parts).map(import).collect();
    let says = format!(
        "oninstall = () => skipWaiting();
         onmessage = ({{ ports: [port] }}) => port.postMessage(
             ['{query}', {is_module}, self.parts, 'żółć', self.registration.scope].join());"
    );
    script(format!("{imports}{says}"))
}

async fn part(RawQuery(query): RawQuery) -> impl IntoResponse {
    script(format!("self.parts = (self.parts ?? '') + 'part {}';", query.unwrap_or_default()))
}

fn script(text: String) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, "no-store")], text)
}

/// Sets the cookies that a page asks for, one line each.
async fn set(lines: String) -> impl IntoResponse {
    let lines: Vec<String> = serde_json::from_str(&lines).unwrap_or_default();
    let cookies = lines.iter().filter_map(|line| HeaderValue::from_bytes(line.as_bytes()).ok());
    AppendHeaders(cookies.map(|line| (SET_COOKIE, line)).collect::<Vec<_>>())
}

/// The cookies that came with a request.
async fn sent(headers: HeaderMap) -> impl IntoResponse {
    let sent = headers.get_all(COOKIE).iter();
    let texts = sent.map(|header| String::from_utf8_lossy(header.as_bytes()).into_owned());
    ([(CACHE_CONTROL, "no-store")], texts.collect::<Vec<_>>().join("; "))
}
