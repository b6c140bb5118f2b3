//! Files that people have, and what a server gets of them: its `Cookie` header before and after.

mod formats;
mod order;
mod refused;
mod tools;

use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin_cmd;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use baton_playground::{Page, Site, TestNode};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::time::timeout;
use url::Url;

/// How long a request may take to arrive.
const LIMIT: Duration = Duration::from_mins(1);

/// What the server sets, in this order. One name stands for the host and for the domain: the first one is
/// the login.
const SET: [&[u8]; 5] = [
    b"sid=host; Path=/; HttpOnly; Max-Age=86400",
    b"sid=domain; Path=/; Domain=shop.localhost; Max-Age=86400",
    b"zeta=1; Path=/; Max-Age=86400",
    b"alpha=2; Path=/; Max-Age=86400",
    b"deep=3; Path=/seen; Max-Age=86400",
];
/// What a browser sends of it.
const SENT: &str = "deep=3; sid=host; sid=domain; zeta=1; alpha=2";

const PAGE: &str = "<!doctype html><title>shop</title><script>
    if (location.pathname === '/login') {
        localStorage.setItem('token', 'kept');
        sessionStorage.setItem('step', '2');
    }
</script>";

/// What the server got: path and `Cookie` header of each request, byte by byte.
type Got = watch::Sender<Vec<(String, Vec<u8>)>>;

/// A test node, and a server that tells what it got.
struct Scene {
    test_node: TestNode,
    site: Site,
    got: Got,
    folder: TempDir,
}

async fn answer(State(got): State<Got>, uri: Uri, headers: HeaderMap) -> Response {
    let sent = headers.get(header::COOKIE).map(|value| value.as_bytes().to_vec());
    got.send_modify(|got| got.push((uri.path().to_owned(), sent.unwrap_or_default())));
    let mut response = Html(PAGE).into_response();
    let cookies: &[&[u8]] = match uri.path() {
        "/login" => &SET,
        "/strange" => {
            &[b"strange=caf\xe9tail; Path=/; Max-Age=86400", b"plain=1; Path=/; Max-Age=86400"]
        }
        _ => &[],
    };
    for cookie in cookies {
        let value = HeaderValue::from_bytes(cookie).unwrap();
        response.headers_mut().append(header::SET_COOKIE, value);
    }
    response
}

impl Scene {
    async fn set() -> Self {
        let got = Got::default();
        let pages = Router::new().fallback(get(answer)).with_state(got.clone());
        let site = Site::start(pages).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self { test_node: crate::test_nodes::test_node().await, site, got, folder }
    }

    fn url(&self, path: &str) -> Url {
        self.site.url_on("shop", path).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the server got with the request for a path.
    async fn got(&self, path: &str) -> String {
        let mut got = self.got.subscribe();
        let has = |got: &Vec<(String, Vec<u8>)>| got.iter().any(|(other, _)| other == path);
        let got = timeout(LIMIT, got.wait_for(has)).await.expect("expected a request in time");
        let got = got.unwrap();
        let (_, sent) = got.iter().rfind(|(other, _)| other == path).unwrap();
        String::from_utf8_lossy(sent).into_owned()
    }

    /// What the server gets from a session's browser, of which a tab is at `from`.
    async fn sends(&self, name: &str, from: &str) -> String {
        let page = self.page(name, from).await;
        let path = format!("/seen/{}", self.got.borrow().len());
        // Later, because the page that is left would take the answer with it.
        let go = format!("setTimeout(() => location.href = {:?}); true", self.url(&path).as_str());
        assert!(page.evaluate::<bool>(&go).await.unwrap());
        self.got(&path).await
    }

    async fn page(&self, name: &str, at: &str) -> Page {
        let id = self.test_node.client().unwrap().fetch_session(name).await.unwrap().session.id;
        Page::attach(&self.test_node.keeper_socket(id), at).await.unwrap()
    }

    /// A session whose browser is logged in; what the server gets from it.
    async fn log_in(&self, name: &str) -> String {
        let url = self.url("/login");
        self.test_node.open(name, [url.clone()]).await.unwrap();
        self.page(name, url.as_str())
            .await
            .wait_for("localStorage.token === 'kept'")
            .await
            .unwrap();
        self.sends(name, url.as_str()).await
    }

    fn baton(&self, args: &[&str]) -> Assert {
        let mut command = cargo_bin_cmd!("baton");
        let data = self.test_node.data().path();
        command.arg("--data").arg(data).arg("--json").args(args).write_stdin("").assert()
    }

    /// Imports a file and resumes it; what was not taken of it, and what the server gets. A file without
    /// sessionStorage has no tab.
    async fn brings(&self, name: &str, file: &[u8], code: i32) -> (Vec<String>, String) {
        let path = self.file(name);
        std::fs::write(&path, file).unwrap();
        let run = self.baton(&["import", path.to_str().unwrap(), "--name", name]).code(code);
        let told = told(&run);
        let left = lines(&told["left_out"]);
        self.baton(&["sessions", "resume", name]).success();
        let shown = self.test_node.client().unwrap().fetch_session(name).await.unwrap();
        let at = shown.tabs[0].url.as_str().to_owned();
        let sent = self.sends(name, &at).await;
        self.baton(&["sessions", "close", name]).success();
        (left, sent)
    }

    async fn strike(self) {
        self.test_node.clear().await.unwrap();
    }
}

/// What a run answered.
fn told(run: &Assert) -> Value {
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

/// The lines of a receipt, without what came back.
fn lines(receipt: &Value) -> Vec<String> {
    let lost =
        receipt["items"].as_array().unwrap().iter().filter(|item| item["outcome"] != "restored");
    lost.map(|item| {
        let [kind, place, reason] = ["kind", "where", "reason"].map(|name| item[name].as_str());
        format!("{} {}: {}", kind.unwrap(), place.unwrap(), reason.unwrap_or_default())
    })
    .collect()
}
