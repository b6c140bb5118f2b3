//! Sandboxes with a display: what a browser shows there is seen from outside, by whoever has the password.

use super::agent::tools;
use super::scene::{COLOUR, Scene, reference, refused};
use super::viewer::Viewer;
use baton_api::sandbox::CreateSandbox;
use baton_playground::tools::Npm;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long it may take until something is seen.
const LIMIT: Duration = Duration::from_mins(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_with_a_window_is_watched_and_its_session_comes_back() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set_with(&tools(&npm)).await;
    scene.session("shop").await;
    let request = CreateSandbox {
        flavor: Some("tools".to_owned()),
        enable_vnc: true,
        browser_session: Some(reference("shop")),
        ..CreateSandbox::default()
    };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    let vnc = sandbox.vnc.clone().unwrap();
    let password = vnc.password.unwrap();
    assert!(vnc.address.starts_with("127.0.0.1:") && password.len() == 8);

    // Nobody else is told the password, and without it there is nothing to see.
    let shown = scene.client().fetch_sandbox(&sandbox.id.to_string()).await.unwrap();
    assert_eq!(shown.vnc.as_ref().map(|vnc| vnc.password.is_none()), Some(true));
    assert!(!scene.test_node.log().contains(&password));
    let denied = Viewer::open(&vnc.address, "wrong").await.unwrap().err().unwrap();
    insta::assert_snapshot!(denied, @"Authentication failure");

    let mut viewer = Viewer::open(&vnc.address, &password).await.unwrap().ok().unwrap();
    let line = format!("$AB open {} >&2 && $AB get text '#who'", scene.url());
    assert_eq!(scene.says(&sandbox, &line).await, "Ada");
    timeout(LIMIT, viewer.see(COLOUR, 40)).await.expect("the page is seen").unwrap();

    // A browser with a window writes down what it holds before its display is gone.
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    let cookies = scene.cookies("shop").await;
    let rotated = cookies.iter().find(|(name, _)| name == "refresh").unwrap();
    assert!(rotated.1.parse::<u32>().unwrap() > 1, "{cookies:?}");
    assert!(Viewer::open(&vnc.address, &password).await.is_err(), "nobody listens any more");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_kept_out_by_those_who_do_not_know_the_password() {
    let scene = Scene::set().await;
    let request = CreateSandbox { enable_vnc: true, ..CreateSandbox::default() };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    let vnc = sandbox.vnc.clone().unwrap();
    let password = vnc.password.unwrap();
    for _ in 0..12 {
        let denied = Viewer::open(&vnc.address, "wrong").await.unwrap().err().unwrap();
        assert_eq!(denied, "Authentication failure");
    }
    // Nor by those who say nothing at all.
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(TcpStream::connect(&vnc.address).await.unwrap());
    }
    let seen = timeout(LIMIT, Viewer::open(&vnc.address, &password)).await.expect("an answer");
    assert!(seen.unwrap().is_ok());
    // The places of the first of them were given to others, and the sandbox has room for commands.
    let mut nothing = Vec::new();
    let closed = timeout(LIMIT, silent[0].read_to_end(&mut nothing)).await;
    assert!(closed.is_ok(), "the first one is still there");
    assert_eq!(scene.says(&sandbox, "echo hello").await, "hello");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_display_that_cannot_be_made_is_refused_and_leaves_nothing() {
    // A sandbox in which there is no X server where programs are looked for.
    let flavor = "[[sandboxes.flavors]]\nname = \"bare\"\nenv = { PATH = \"/bin/none\" }\n";
    let scene = Scene::set_with(flavor).await;
    scene.session("shop").await;
    let request = CreateSandbox {
        flavor: Some("bare".to_owned()),
        enable_vnc: true,
        browser_session: Some(reference("shop")),
        ..CreateSandbox::default()
    };
    let problem = refused(scene.client().create_sandbox(&request).await);
    insta::assert_snapshot!(format!("{} {}: {}\n{}", problem.status, problem.code.as_str(), problem.detail, problem.hint.unwrap()), @r##"
    503 vnc_unavailable: expected a display for VNC, found none: no Xtigervnc in the sandbox
    Xtigervnc makes it: the package tigervnc-standalone-server
    "##);
    assert!(scene.client().list_sandboxes().await.unwrap().items.is_empty());
    assert!(scene.client().fetch_session("shop").await.unwrap().sandbox.is_none());
    scene.strike().await;
}
