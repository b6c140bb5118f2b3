//! A person's own browser: started with a profile that was compiled, and read while it runs.

use crate::test_nodes::test_node;
use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin_cmd;
use axum::extract::Query;
use axum::http::{HeaderMap, header};
use axum::response::Html;
use axum::routing::get;
use baton_browser::launch;
use baton_playground::{Site, TestNode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::timeout;

/// Tells the site what the page has.
const PAGE: &str = "<script>fetch('/told?' + new URLSearchParams(
    { token: localStorage.getItem('token') }))</script>";

/// What came of a page: the cookies that were sent, and the token.
type PageState = (String, String);

/// A site that hears what its page has, and the home of somebody who uses it.
struct Story {
    site: Site,
    told: Receiver<PageState>,
    home: TempDir,
}

impl Story {
    async fn begin() -> Self {
        let (tell, told) = channel(4);
        let hear = move |headers: HeaderMap, Query(told): Query<BTreeMap<String, String>>| async move {
            let sent = headers.get(header::COOKIE).map_or("", |sent| sent.to_str().unwrap());
            tell.try_send((sent.to_owned(), told["token"].clone())).is_ok().to_string()
        };
        let pages =
            axum::Router::new().route("/", get(|| async { Html(PAGE) })).route("/told", get(hear));
        let site = Site::start(pages).await.unwrap();
        Self { site, told, home: tempfile::tempdir().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A file that Playwright could have written, of somebody who is logged in there and elsewhere.
    fn state(&self) -> Value {
        let cookie = |name: &str, domain: &str| {
            json!({ "name": name, "value": "ada", "domain": domain, "path": "/",
                "expires": -1, "httpOnly": false, "secure": false, "sameSite": "Lax" })
        };
        let url = self.site.url("/").unwrap();
        let origin = url.as_str().trim_end_matches('/');
        let entries = json!([{ "name": "token", "value": "t0k3n" }]);
        let cookies = ["zeta", "sid", "alpha"].map(|name| cookie(name, "127.0.0.1"));
        let cookies = [&cookies[..], &[cookie("sid", "other.test")]].concat();
        json!({ "cookies": cookies,
            "origins": [{ "origin": origin, "localStorage": entries }] })
    }

    fn baton(&self, test_node: &TestNode, args: &[&str]) -> Assert {
        let mut command = cargo_bin_cmd!("baton");
        command.env("HOME", self.home.path()).env_remove("XDG_CONFIG_HOME");
        command.env_remove("DBUS_SESSION_BUS_ADDRESS").env_remove("XDG_RUNTIME_DIR");
        command.arg("--data").arg(test_node.data().path()).args(args).write_stdin("").assert()
    }

    /// The browser as its owner starts it, who names no folder.
    fn browser(&self) -> Child {
        let path = std::env::var_os("PATH");
        let places = launch::BrowserPlaces::on_path(path.as_deref());
        let program = launch::find_browser(None, &places).unwrap();
        let mut command = Command::new(program);
        command.env("HOME", self.home.path()).env_remove("XDG_CONFIG_HOME");
        command.args(["--ozone-platform=headless", "--disable-gpu", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-sync"]);
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        command.arg(self.site.url("/").unwrap().as_str());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.kill_on_drop(true).spawn().unwrap()
    }

    async fn expect_logged_in(&mut self) {
        let told = timeout(Duration::from_secs(30), self.told.recv()).await.unwrap().unwrap();
        let whole = ("zeta=ada; sid=ada; alpha=ada".to_owned(), "t0k3n".to_owned());
        assert_eq!(told, whole);
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stderr(run: &Assert) -> String {
    String::from_utf8(run.get_output().stderr.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_goes_into_a_browser_and_out_of_it_again_while_it_runs() {
    let mut story = Story::begin().await;
    let test_node = test_node().await;
    let (profile, file) = (story.at(".config/chromium"), story.at("state.json"));
    std::fs::write(&file, story.state().to_string()).unwrap();
    story.baton(&test_node, &["profile", "compile", text(&file), text(&profile)]).success();
    let browser = story.browser();
    story.expect_logged_in().await;

    let merge = ["profile", "compile", text(&file), text(&profile), "--merge"];
    let refused = stderr(&story.baton(&test_node, &merge).code(4));
    let open =
        format!("found it open in process {}: close that browser first", browser.id().unwrap());
    assert!(refused.trim_end().ends_with(&open), "{refused}");

    let import = ["import", "--from", "chromium", "--domain", "127.0.0.1", "--name", "mine", "-y"];
    let imported = story.baton(&test_node, &import).success();
    assert!(stderr(&imported).contains("the last half minute may be missing"));
    test_node.client().unwrap().resume_session("mine").await.unwrap();
    let out = story.at("out.json");
    let form = ["--format", "storage-state", "-o", text(&out)];
    story.baton(&test_node, &[&["export", "mine"], &form[..]].concat()).success();
    let mut expected = story.state();
    expected["cookies"].as_array_mut().unwrap().pop();
    let found: Value = serde_json::from_slice(&std::fs::read(out).unwrap()).unwrap();
    assert_eq!(found, expected);
    test_node.clear().await.unwrap();
}
