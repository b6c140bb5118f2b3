//! A site with every kind of state that a browser keeps, and which says of each whether it is there.
//!
//! The one idea: the site judges, not the tool. Its pages write each kind with `fill()` and read it
//! back with `check()`, so that every tool that brings the state back is measured by the same pages.

use crate::page::{Page, Site};
use anyhow::{Result, ensure};
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, COOKIE, SET_COOKIE};
use axum::response::{AppendHeaders, Html, IntoResponse};
use axum::routing::get;
use std::collections::BTreeMap;
use std::path::Path;
use url::Url;

/// What [`Kinds`] says of its tabs.
pub const TABS: &str = "tabs, in order";
/// The one kind that no tool can carry to another machine.
pub const NOT_PORTABLE: &str = "IndexedDB: CryptoKey, not extractable";

/// Each kind of state, and whether it is there.
pub type Kept = BTreeMap<String, bool>;

/// The site, which runs until this is dropped.
pub struct Kinds {
    site: Site,
}

impl Kinds {
    /// Starts the site.
    pub async fn start() -> Result<Self> {
        Ok(Self { site: Site::start(pages()).await? })
    }

    /// The site itself.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The tabs that are opened to be filled. The last then moves on to the last of [`Self::tabs`].
    pub fn tabs_to_fill(&self) -> Result<[Url; 3]> {
        Ok([self.url("a", "/first")?, self.url("a", "/second")?, self.url("b", "/earlier")?])
    }

    /// The tabs as they stand when everything is filled.
    pub fn tabs(&self) -> Result<[Url; 3]> {
        Ok([self.url("a", "/first")?, self.url("a", "/second")?, self.url("c", "/third")?])
    }

    /// A page apart, with a passkey: a kind that needs an authenticator, which no browser brings along.
    pub fn passkey(&self) -> Result<Url> {
        self.url("a", "/passkey")
    }

    /// Fills everything, in the tabs of a browser behind a keeper.
    pub async fn fill(&self, keeper: &Path) -> Result<()> {
        for tab in self.tabs_to_fill()? {
            let page = Page::attach(keeper, tab.as_str()).await?;
            page.wait_for("document.readyState === 'complete'").await?;
            let said: String = page.evaluate("fill()").await?;
            ensure!(said == "done", "expected {tab} to be filled, found {said}");
        }
        let [.., earlier] = self.tabs_to_fill()?;
        let [.., third] = self.tabs()?;
        self.move_on(keeper, &earlier, &third).await
    }

    /// What the pages find. The last tab goes back to where it was before, to look there too.
    pub async fn check(&self, keeper: &Path) -> Result<Kept> {
        let [first, second, third] = self.tabs()?;
        let [.., earlier] = self.tabs_to_fill()?;
        let mut kept = self.ask(keeper, &first).await?;
        kept.extend(self.ask(keeper, &second).await?);
        self.move_on(keeper, &third, &earlier).await?;
        kept.extend(self.ask(keeper, &earlier).await?);
        Ok(kept)
    }

    async fn ask(&self, keeper: &Path, tab: &Url) -> Result<Kept> {
        let page = Page::attach(keeper, tab.as_str()).await?;
        page.wait_for("document.readyState === 'complete'").await?;
        page.evaluate("check()").await
    }

    /// The tab at `from` goes to `to`.
    async fn move_on(&self, keeper: &Path, from: &Url, to: &Url) -> Result<()> {
        let page = Page::attach(keeper, from.as_str()).await?;
        page.evaluate::<String>(&format!("location.href = '{to}'")).await?;
        Page::attach(keeper, to.as_str())
            .await?
            .wait_for("document.readyState === 'complete'")
            .await
    }

    fn url(&self, host: &str, path: &str) -> Result<Url> {
        self.site.url_on(host, path)
    }
}

/// What a page is made of.
macro_rules! scripts {
    ($($name:literal),*) => {
        concat!("<meta charset=utf-8><script>", $(include_str!(concat!("pages/", $name, ".js"))),*, "</script>")
    };
}

const FIRST: &str = scripts!("kinds", "cookies", "databases", "stored", "first");
const FRAME: &str = scripts!("kinds", "cookies", "databases", "stored", "frame");
const SECOND: &str = scripts!("kinds", "second");
const EARLIER: &str = scripts!("kinds", "earlier");
const PASSKEY: &str = scripts!("kinds", "passkey");

fn pages() -> Router {
    // The frame's site is another host on the port that was asked for.
    let first = async |headers: HeaderMap| {
        let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
        let port = host.rsplit_once(':').map_or("80", |(_, port)| port);
        Html(format!("{FIRST}<iframe src='http://b.localhost:{port}/frame'></iframe>"))
    };
    let worker = ([(CONTENT_TYPE, "text/javascript")], include_str!("pages/worker.js"));
    Router::new()
        // Some tools open the front page of an origin to restore what it keeps.
        .route("/", get(Html("<title>front</title>")))
        .route("/first", get(first))
        .route("/frame", get(Html(FRAME)))
        .route("/second", get(Html(SECOND)))
        .route("/earlier", get(Html(EARLIER)))
        .route("/passkey", get(Html(PASSKEY)))
        .route("/third", get(Html("<title>third</title>")))
        .route("/worker.js", get(worker))
        .route("/by-whom", get("by the network"))
        .route("/set", get(set(&COOKIES)))
        .route("/set-partitioned", get(set(&PARTITIONED)))
        .route("/cookies", get(cookies))
        .route("/scoped/cookies", get(cookies))
}

/// Cookies of the site, of which no script can say all; each lasts a month but for one.
const COOKIES: [&str; 4] = [
    "strict=t; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000",
    "http_session=h; HttpOnly; Path=/",
    "__Host-token=k; Secure; HttpOnly; Path=/; Max-Age=2592000",
    "path=f; Path=/scoped; Max-Age=2592000",
];
const PARTITIONED: [&str; 1] =
    ["chips=c; HttpOnly; Secure; SameSite=None; Partitioned; Path=/; Max-Age=2592000"];

/// An answer that sets cookies.
fn set<const N: usize>(cookies: &'static [&'static str; N]) -> impl IntoResponse + Clone {
    (AppendHeaders(cookies.map(|cookie| (SET_COOKIE, cookie))), [(CACHE_CONTROL, "no-store")])
}

/// The cookies that came with a request.
async fn cookies(headers: HeaderMap) -> impl IntoResponse {
    let sent = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    ([(CACHE_CONTROL, "no-store")], sent.collect::<Vec<_>>().join("; "))
}
