//! Sessions that go through a proxy which wants to know who comes: what it is told, from where, and who sees
//! that.

use crate::one_way_in::refused;
use crate::test_nodes;
use crate::tls_site::{Authority, TlsSite};
use assert_cmd::cargo::cargo_bin_cmd;
use axum::Router;
use axum::http::header::{PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use baton_api::{ErrorCode, ListAudit, OpenSession};
use baton_playground::{Page, Site, TestNode, victims};
use baton_session::SessionId;
use baton_session::egress::Egress;
use std::fs;
use std::path::{Path, PathBuf};

const PASSWORD: &str = "c0rrect-h0rse";
/// What a proxy hears of `al` with that password (RFC 7617).
const HEARD: &str = "Basic YWw6YzBycmVjdC1oMHJzZQ==";
/// The same without the name of its scheme.
const ENCODED: &str = "YWw6YzBycmVjdC1oMHJzZQ";

/// A proxy that answers every request itself, for whoever says who comes.
async fn proxy() -> (Site, String) {
    let answer = async |headers: HeaderMap| -> Response {
        if headers.get(PROXY_AUTHORIZATION).is_some_and(|heard| heard == HEARD) {
            return Html("<title>shop</title>").into_response();
        }
        let wants = [(PROXY_AUTHENTICATE, "Basic realm=\"a\"")];
        (StatusCode::PROXY_AUTHENTICATION_REQUIRED, wants).into_response()
    };
    let site = Site::start(Router::new().fallback(answer)).await.unwrap();
    let port = site.url_on("proxy", "/").unwrap().port().unwrap();
    (site, format!("http://127.0.0.1:{port}"))
}

/// A wish to open a session that goes through a proxy.
fn through(proxy: &str) -> OpenSession {
    let url = "http://app.example.test/".parse().unwrap();
    let mut request = OpenSession::new("shop".parse().unwrap(), [url]);
    let proxy = Some(proxy.to_owned());
    request.environment.egress = Some(Egress { proxy, ..Egress::default() });
    request
}

/// What the page of the session is called once it is there.
async fn title(test_node: &TestNode, id: SessionId) -> String {
    let page = Page::attach(&test_node.keeper_socket(id), "http://app.example.test/").await;
    let title = "new Promise((done) => {
        const tell = () => done(document.title);
        if (document.readyState === 'complete') tell(); else addEventListener('load', tell);
    })";
    page.unwrap().evaluate(title).await.unwrap()
}

/// What a person types.
fn baton(test_node: &TestNode, words: &[&str]) -> String {
    let mut command = cargo_bin_cmd!("baton");
    let run = command.arg("--data").arg(test_node.data().path()).args(words);
    String::from_utf8(run.assert().success().get_output().stdout.clone()).unwrap()
}

/// Whether a file has the password in it, in clear or as a proxy hears it. One that is gone by now has nothing.
fn tells(file: &Path) -> bool {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.contains(PASSWORD) || text.contains(ENCODED)
}

/// The files of a folder, and of those in it, that have the password in them; a browser makes and removes some
/// meanwhile.
fn telling(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() {
            found.extend(telling(&path));
        } else if kind.is_file() && tells(&path) {
            found.push(path);
        }
    }
    found
}

/// Where the password of a running session is read by who looks: command lines and variables of the node, of the
/// keeper and of the browser's processes, and all that lies in the data folder.
async fn read_by_others(test_node: &TestNode, id: SessionId) -> Vec<PathBuf> {
    let holders = test_node.holders(id).await.unwrap().map(|(_, pid)| pid);
    let processes = victims::naming(test_node.folder()).into_iter().chain(holders);
    let processes = processes.chain([test_node.node_pid().unwrap()]);
    let files = processes.flat_map(|pid| {
        ["cmdline", "environ"].map(|file| PathBuf::from(format!("/proc/{pid}/{file}")))
    });
    let told: Vec<PathBuf> = files.filter(|file| tells(file)).collect();
    [told, telling(test_node.data().path())].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_proxy_is_told_is_kept_and_hidden() {
    let (_proxy, url) = proxy().await;
    let mut test_node = test_nodes::test_node().await;
    let file = test_node.folder().join("login");
    fs::write(&file, format!("al:{PASSWORD}\n")).unwrap();
    let credentials = file.to_str().unwrap();
    let words = ["open", "http://app.example.test/", "--name", "shop", "--proxy", &url];
    let words = [&words[..], &["--proxy-credentials", credentials, "--json"]].concat();
    let opened = baton(&test_node, &words);
    assert!(!opened.contains(PASSWORD), "{opened}");
    let client = test_node.client().unwrap().clone();
    let id = client.fetch_session("shop").await.unwrap().session.id;
    assert_eq!(title(&test_node, id).await, "shop");
    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    client.resume_session("shop").await.unwrap();
    assert_eq!(title(&test_node, id).await, "shop");

    let told = [
        baton(&test_node, &["sessions", "show", "shop", "--json"]),
        baton(&test_node, &["sessions", "history", "shop", "--json"]),
        format!("{:?}", client.list_audit(&ListAudit::default()).await.unwrap()),
        test_node.log(),
        fs::read_to_string(test_node.data().keeper_log(id)).unwrap(),
    ];
    assert!(!told.iter().any(|text| text.contains(PASSWORD) || text.contains(HEARD)), "{told:?}");
    assert!(told[2].contains(&url), "{}", told[2]);
    assert!(tells(&file), "what is looked for is found where it is");
    assert_eq!(read_by_others(&test_node, id).await, Vec::<PathBuf>::new());
    let kept = test_node.folder().join("kept.json");
    baton(&test_node, &["export", "shop", "--output", kept.to_str().unwrap()]);
    let kept = fs::read_to_string(kept).unwrap();
    assert!(kept.contains(PASSWORD), "whoever may have the session has all of it");
    client.close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_node_knows_proxies_by_its_settings_and_by_its_machine() {
    let (_proxy, url) = proxy().await;
    let with_login = url.replace("http://", &format!("http://al:{PASSWORD}@"));
    let mut test_node = test_nodes::build().with("HTTP_PROXY", with_login);
    let login = test_node.folder().join("login");
    test_node.data().create().unwrap();
    let settings =
        format!("[[browser.proxies]]\nurl = {url:?}\ncredentials_file = {:?}\n", login.display());
    fs::write(test_node.data().settings(), settings).unwrap();
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();

    let view = client.open_session(&through("system")).await.unwrap();
    assert_eq!(title(&test_node, view.session.id).await, "shop");
    client.close_session("shop").await.unwrap();

    // Its settings name a file that is not there yet.
    let refused = client.open_session(&through(&url)).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::BrowserUnavailable), "{refused}");
    assert!(refused.to_string().contains(login.to_str().unwrap()), "{refused}");
    fs::write(&login, "al:another").unwrap();
    let view = client.open_session(&through(&url)).await.unwrap();
    assert_ne!(title(&test_node, view.session.id).await, "shop");
    let egress = client.fetch_session("shop").await.unwrap().egress.unwrap();
    let why = egress.hosts.iter().find_map(|host| host.why.as_deref()).unwrap();
    let does_not_take = "it does not take the user and the password that it was told";
    assert_eq!(why, format!("the session's proxy {url}: {does_not_take}"));
    client.close_session("shop").await.unwrap();
    fs::write(&login, format!("al:{PASSWORD}")).unwrap();
    let view = client.open_session(&through(&url)).await.unwrap();
    assert_eq!(title(&test_node, view.session.id).await, "shop");
    client.close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_in_tls_is_trusted_where_a_file_says_whom_to_trust() {
    let authority = Authority::new("Staging CA");
    let pages = Router::new().fallback(async || Html("<title>shop</title>"));
    let proxy = TlsSite::start(authority.sign(&["127.0.0.1"]), pages).await;
    let url = format!("https://127.0.0.1:{}", proxy.port());
    let test_node = test_nodes::test_node().await;
    let ca = test_node.folder().join("ca.pem");
    fs::write(&ca, &authority.pem).unwrap();
    let client = test_node.client().unwrap();
    let words = ["open", "http://app.example.test/", "--proxy", &url, "--name"];

    baton(&test_node, &[&words[..], &["doubting"]].concat());
    let view = client.fetch_session("doubting").await.unwrap();
    assert_ne!(title(&test_node, view.session.id).await, "shop");
    let hosts = client.fetch_session("doubting").await.unwrap().egress.unwrap().hosts;
    let is_shop = |host: &String| host.starts_with("app.example.test:");
    let shop = hosts.iter().find(|one| one.host.as_ref().is_some_and(is_shop)).unwrap();
    let why = format!("the session's proxy {url}: invalid peer certificate");
    assert!(shop.why.as_ref().is_some_and(|told| told.starts_with(&why)), "{shop:?}");
    assert_eq!(shop.connections, 0, "{shop:?}");
    client.close_session("doubting").await.unwrap();

    baton(&test_node, &[&words[..], &["shop", "--ca", ca.to_str().unwrap()]].concat());
    let view = client.fetch_session("shop").await.unwrap();
    assert_eq!(title(&test_node, view.session.id).await, "shop");
    client.close_session("shop").await.unwrap();
    // It trusts the proxy when it comes back, too.
    let view = client.resume_session("shop").await.unwrap().session;
    assert_eq!(title(&test_node, view.session.id).await, "shop");
    client.close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_in_an_argument_is_refused_and_repeated_nowhere() {
    let (_proxy, url) = proxy().await;
    let test_node = test_nodes::test_node().await;
    let with_login = url.replace("http://", &format!("http://al:{PASSWORD}@"));
    let words = ["open", "http://app.example.test/", "--name", "shop", "--proxy", &with_login];
    let said = refused(&test_node, &words);
    assert!(said.contains("found some in it"), "{said}");
    let client = test_node.client().unwrap();
    assert!(client.fetch_session("shop").await.is_err(), "nothing is left of it");
    let told = [
        said,
        format!("{:?}", client.list_audit(&ListAudit::default()).await.unwrap()),
        test_node.log(),
    ];
    assert!(!told.iter().any(|text| text.contains(PASSWORD)), "{told:?}");
    test_node.clear().await.unwrap();
}
