//! A session whose way out is its own, in a sandbox: whatever runs there goes that way or nowhere.

use super::agent::tools;
use super::scene::{Scene, cookie, reference};
use crate::mcp::agent;
use crate::tls_site::{Authority, TlsSite};
use assert_cmd::cargo::cargo_bin_cmd;
use axum::Router;
use axum::http::header::{
    AUTHORIZATION, COOKIE, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SET_COOKIE,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use baton_api::OpenSession;
use baton_api::sandbox::{CreateSandbox, SandboxView};
use baton_playground::tools::Npm;
use baton_playground::{Page, Site};
use baton_session::egress::{Egress, ProxyCredentials};
use serde_json::json;
use std::net::TcpListener;
use url::Url;

/// A shop that knows its user by a cookie.
async fn shop() -> Site {
    let home = async |headers: HeaderMap| {
        let cookie = headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let who = if cookie.contains("sid=ada") { "Ada" } else { "nobody" };
        Html(format!("<title>shop</title><p id=who>{who}</p>"))
    };
    let login = async || {
        let cookie = "sid=ada4f1c9d2e7b8a6; Max-Age=86400; Path=/; HttpOnly";
        ([(SET_COOKIE, cookie)], Redirect::to("/"))
    };
    let pages = Router::new().route("/", get(home)).route("/login", get(login));
    Site::start(pages.route("/favicon.ico", get(async || ""))).await.unwrap()
}

/// A service of this machine that nobody may reach.
fn other() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Opens a session with this way out, which signs in at the page, and closes it.
async fn signed_in(scene: &Scene, page: &str, egress: Egress) {
    let page: Url = page.parse().unwrap();
    let mut request = OpenSession::new("shop".parse().unwrap(), [page.clone()]);
    request.environment.egress = Some(egress);
    let id = scene.client().open_session(&request).await.unwrap().session.id;
    let origin = page.origin().ascii_serialization();
    let shown = Page::attach(&scene.test_node.keeper_socket(id), &origin).await.unwrap();
    let loaded = "new Promise((done) => {
        const tell = () => done(document.title);
        if (document.readyState === 'complete') tell(); else addEventListener('load', tell);
    })";
    assert_eq!(shown.evaluate::<String>(loaded).await.unwrap(), "shop");
    scene.client().close_session("shop").await.unwrap();
}

async fn sandbox(scene: &Scene, flavor: Option<&str>, session: Option<&str>) -> SandboxView {
    let request = CreateSandbox {
        flavor: flavor.map(str::to_owned),
        browser_session: session.map(reference),
        ..CreateSandbox::default()
    };
    scene.client().create_sandbox(&request).await.unwrap()
}

/// What `curl` of the sandbox is answered: the status, or how it failed.
async fn curl(scene: &Scene, sandbox: &SandboxView, words: &str) -> String {
    let line =
        format!("curl -s -m 20 -o /dev/null -w '%{{http_code}}' {words} || echo \" failed $?\"");
    scene.says(sandbox, &line).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_hosts_holds_for_everything_in_a_sandbox() {
    let npm = Npm::install().await.unwrap();
    let site = shop().await;
    let port = site.url("/").unwrap().port().unwrap();
    let (listener, closed) = other();
    let settings = format!(
        "[sandboxes]\nnetwork = \"public\"\nallow = [\"host:{port}\", \"host:{closed}\"]\n{}",
        tools(&npm)
    );
    let scene = Scene::set_in_with(site, &settings).await;
    let listed = format!("localhost:{port}");
    let egress = Egress { only: vec![listed.clone()], ..Egress::default() };
    signed_in(&scene, &format!("http://127.0.0.1:{port}/login"), egress).await;

    let sandbox = sandbox(&scene, Some("tools"), Some("shop")).await;
    let told = sandbox.browser_session.as_ref().unwrap();
    assert!(told.receipt.items.iter().all(|item| item.place != "egress"), "{:?}", told.receipt);
    let line = format!("$AB open http://127.0.0.1:{port}/ >&2 && $AB get text '#who'");
    assert_eq!(scene.says(&sandbox, &line).await, "Ada", "the agent's browser is signed in");

    // What is not listed: a port of this machine that sandboxes may reach, by whichever way; and the internet.
    let to_closed = format!("http://127.0.0.1:{closed}/");
    assert!(curl(&scene, &sandbox, &to_closed).await.starts_with("000 failed"));
    let by_proxy = format!("--noproxy '' -x $http_proxy {to_closed}");
    assert_eq!(curl(&scene, &sandbox, &by_proxy).await, "403");
    assert_eq!(curl(&scene, &sandbox, "http://tracker.example/").await, "403");
    assert_eq!(curl(&scene, &sandbox, "https://tracker.example/").await, "000 failed 56");
    let line = format!("$AB open {to_closed} >&2; $AB eval document.title");
    assert_ne!(scene.sh(&sandbox, &line).await.output.trim(), "\"shop\"");
    for place in ["1.1.1.1/80", "10.0.2.2/80", "10.0.2.3/53"] {
        let line = format!("bash -c 'exec 3<>/dev/tcp/{place}' 2> /dev/null || echo none");
        assert_eq!(scene.says(&sandbox, &line).await, "none", "{place}");
    }
    assert_eq!(scene.says(&sandbox, "getent hosts example.org || echo none").await, "none");
    assert!(listener.accept().is_err(), "somebody came");

    let shown = scene.client().fetch_sandbox(&sandbox.id.to_string()).await.unwrap();
    let egress = shown.egress.unwrap();
    assert_eq!(egress.only, std::slice::from_ref(&listed));
    let of = |host: &str| egress.hosts.iter().find(|one| one.host.as_deref() == Some(host));
    let reached = of(&listed).unwrap();
    assert!(reached.connections > 0 && reached.received > 0, "{reached:?}");
    for host in
        [format!("localhost:{closed}"), format!("127.0.0.1:{closed}"), "tracker.example:80".into()]
    {
        let refused = of(&host).unwrap();
        assert_eq!((refused.connections, refused.refused > 0), (0, true), "{refused:?}");
    }
    let mut command = cargo_bin_cmd!("baton");
    let command = command.arg("--data").arg(scene.test_node.data().path());
    let run = command.args(["sandbox", "show", &sandbox.id.to_string()]).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert!(text.contains(&format!("network   reaches {listed} alone")), "{text}");
    assert!(text.contains("NOT REACHED") && text.contains("tracker.example:80"), "{text}");
    scene.end(&sandbox).await;
    let kept = scene.client().fetch_session("shop").await.unwrap().egress.unwrap();
    assert_eq!(kept.only, [listed], "the session has its list when it comes back");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_is_told_who_comes_and_the_sandbox_is_not() {
    const PASSWORD: &str = "c0rrect-h0rse";
    // Of `al` with that password (RFC 7617).
    const HEARD: &str = "Basic YWw6YzBycmVjdC1oMHJzZQ==";
    let answer = async |headers: HeaderMap| -> Response {
        assert!(!headers.contains_key(AUTHORIZATION));
        if headers.get(PROXY_AUTHORIZATION).is_some_and(|heard| heard == HEARD) {
            let cookie = "sid=ada4f1c9d2e7b8a6; Max-Age=86400; Path=/; HttpOnly";
            return ([(SET_COOKIE, cookie)], Html("<title>shop</title>")).into_response();
        }
        let wants = [(PROXY_AUTHENTICATE, "Basic realm=\"a\"")];
        (StatusCode::PROXY_AUTHENTICATION_REQUIRED, wants).into_response()
    };
    let proxy = Site::start(Router::new().fallback(answer)).await.unwrap();
    let of_flavor = Site::start(Router::new().fallback(async || StatusCode::ACCEPTED));
    let of_flavor = of_flavor.await.unwrap();
    // One in TLS, whose certificate an authority of one's own signed.
    let authority = Authority::new("Staging CA");
    let in_tls = Router::new().fallback(async || StatusCode::NON_AUTHORITATIVE_INFORMATION);
    let in_tls = TlsSite::start(authority.sign(&["127.0.0.1"]), in_tls).await;
    let tls_port = in_tls.port();
    let [port, its_port] = [&proxy, &of_flavor].map(|site| site.url("/").unwrap().port().unwrap());
    let [own, flavor] = [port, its_port].map(|port| format!("http://127.0.0.1:{port}"));
    let settings = format!(
        "[sandboxes]\nnetwork = \"listed\"\n\
         allow = [\"host:{port}\", \"host:{its_port}\", \"host:{tls_port}\"]\n\
         [[sandboxes.flavors]]\nname = \"through\"\nproxy = \"{flavor}\"\n"
    );
    let mut scene = Scene::set_in_with(proxy, &settings).await;
    let credentials = ProxyCredentials { user: "al".to_owned(), password: PASSWORD.to_owned() };
    let egress =
        Egress { proxy: Some(own.clone()), credentials: Some(credentials), ..Egress::default() };
    signed_in(&scene, "http://app.example.test/", egress).await;

    let through = sandbox(&scene, None, Some("shop")).await;
    assert_eq!(curl(&scene, &through, "http://app.example.test/").await, "200");
    let seen =
        scene.says(&through, "env; cat /proc/*/environ /proc/*/cmdline 2> /dev/null; true").await;
    assert!(!seen.contains(PASSWORD), "{seen}");
    let view = scene.client().fetch_sandbox(&through.id.to_string()).await.unwrap();
    assert!(!format!("{view:?}").contains(PASSWORD));
    scene.end(&through).await;

    // A flavor has a proxy for those whose session names none; one in TLS is trusted by a session that was told so.
    let tls = format!("https://127.0.0.1:{tls_port}");
    for (name, environment) in [
        ("listed", json!({"egress": {"only": ["app.example.test"]}})),
        ("trusting", json!({"egress": {"proxy": tls}, "certificates": [authority.pem]})),
        ("doubting", json!({"egress": {"proxy": tls}})),
    ] {
        let cookies = [cookie("sid", "ada4f1c9d2e7b8a6", 4_000_000_000)];
        let state = json!({"cookies": cookies, "origins": [], "environment": environment});
        scene.session_of(name, &json!({ "state": state })).await;
    }
    for (session, by, answered) in [
        (None, &flavor, "202"),
        (Some("listed"), &flavor, "202"),
        (Some("shop"), &own, "200"),
        (Some("trusting"), &tls, "203"),
        (Some("doubting"), &tls, "502"),
    ] {
        let made = sandbox(&scene, Some("through"), session).await;
        assert_eq!(made.egress.as_ref().unwrap().proxy.as_ref(), Some(by), "{session:?}");
        assert_eq!(curl(&scene, &made, "http://app.example.test/").await, answered, "{session:?}");
        scene.end(&made).await;
    }

    // Whoever names a proxy does not say what sandboxes of this node reach.
    scene.settle("[sandboxes]\nnetwork = \"listed\"\nallow = [\"203.0.113.7\"]\n").await;
    let shut = sandbox(&scene, None, Some("shop")).await;
    assert_eq!(curl(&scene, &shut, "http://app.example.test/").await, "502");
    let view = scene.client().fetch_sandbox(&shut.id.to_string()).await.unwrap();
    let hosts = view.egress.unwrap().hosts;
    let why = hosts.iter().find_map(|host| host.why.clone()).unwrap();
    assert_eq!(
        why,
        format!(
            "the session's proxy http://127.0.0.1:{port}: it leads to the address 127.0.0.1, which the \
             settings of this node do not list"
        )
    );
    scene.end(&shut).await;
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flavor_has_a_way_out_with_and_without_a_session() {
    let site = shop().await;
    let port = site.url("/").unwrap().port().unwrap();
    let (listener, closed) = other();
    let settings = format!(
        "[sandboxes]\nnetwork = \"public\"\nallow = [\"host:{port}\", \"host:{closed}\"]\n\
         [[sandboxes.flavors]]\nname = \"fenced\"\nonly = [\"localhost:{port}\"]\n\
         [[sandboxes.flavors]]\nname = \"elsewhere\"\nonly = [\"other.example\"]\n"
    );
    let scene = Scene::set_in_with(site, &settings).await;
    // The session lists more than the flavor, which lists more than nothing: both hold.
    let only = vec![format!("localhost:{port}"), format!("localhost:{closed}")];
    let egress = Egress { only, ..Egress::default() };
    signed_in(&scene, &format!("http://127.0.0.1:{port}/login"), egress).await;
    for session in [None, Some("shop")] {
        let fenced = sandbox(&scene, Some("fenced"), session).await;
        let told = fenced.egress.as_ref().unwrap();
        assert_eq!(told.only, [format!("localhost:{port}")], "what both let through");
        assert_eq!(told.shut_out, [""; 0]);
        assert_eq!(curl(&scene, &fenced, &format!("http://127.0.0.1:{port}/")).await, "200");
        let refused = curl(&scene, &fenced, &format!("http://127.0.0.1:{closed}/")).await;
        assert!(refused.starts_with("000 failed"), "{refused}");
        assert_eq!(curl(&scene, &fenced, "http://tracker.example/").await, "403");
        scene.end(&fenced).await;
    }
    // Nothing is in both lists, and so not what gets the login. An agent that makes it is told so at once.
    let agent = agent(&scene.test_node).await;
    let wanted = json!({"flavor": "elsewhere", "sessionId": "shop"});
    let made = agent.call("sandbox_create", wanted).await.unwrap();
    agent.close().await.unwrap();
    let line = "Signed in at 127.0.0.1, which it may not reach: its list has no such host.";
    let text = made["content"][0]["text"].as_str().unwrap();
    assert!(text.lines().any(|told| told == line), "{text}");
    let made = &made["structuredContent"];
    assert_eq!(made["shutOut"], json!(["127.0.0.1"]), "{made}");
    let shut = scene.client().fetch_sandbox(made["sandboxId"].as_str().unwrap()).await.unwrap();
    let told = shut.egress.as_ref().unwrap();
    assert_eq!(told.only, ["nothing.invalid"]);
    assert_eq!(told.shut_out, ["127.0.0.1"]);
    let refused = curl(&scene, &shut, &format!("http://127.0.0.1:{port}/")).await;
    assert!(refused.starts_with("000 failed"), "{refused}");
    scene.end(&shut).await;
    assert!(listener.accept().is_err(), "somebody came");
    scene.strike().await;
}
