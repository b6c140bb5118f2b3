//! A machine without bubblewrap: there are no sandboxes, or some that isolate nothing and say so.

use super::agent::browser;
use super::scene::{Scene, cookie, reference, refused};
use crate::notes::eventually;
use crate::test_nodes::build;
use baton_api::Problem;
use baton_api::sandbox::{CreateSandbox, SandboxView};
use baton_playground::tools::Npm;
use baton_playground::victims;
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;

const ALLOWED: &str = "[sandboxes]\nallow_unsandboxed = true\n";

/// A node that finds a browser, and no bubblewrap.
async fn set(settings: &str) -> Scene {
    let test_node = build();
    test_node.data().create().unwrap();
    let programs = test_node.data().path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    symlink(browser(), programs.join("chromium")).unwrap();
    Scene::set_in(test_node.with("PATH", programs), settings).await
}

/// A session of somebody who is logged in at the site, as this machine knows it.
async fn session(scene: &Scene) {
    let here = "127.0.0.1";
    let state = scene.state().to_string();
    let state =
        state.replace("//host:", &format!("//{here}:")).replace("\"host\"", &format!("{here:?}"));
    scene.session_of("shop", &serde_json::from_str(&state).unwrap()).await;
}

fn told(problem: &Problem) -> String {
    format!("{} {}: {}", problem.status, problem.code.as_str(), problem.detail)
}

async fn create(scene: &Scene) -> SandboxView {
    let request =
        CreateSandbox { browser_session: Some(reference("shop")), ..CreateSandbox::default() };
    scene.client().create_sandbox(&request).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_bubblewrap_there_is_none_and_nothing_was_taken() {
    let scene = set("").await;
    session(&scene).await;
    let request =
        CreateSandbox { browser_session: Some(reference("shop")), ..CreateSandbox::default() };
    let problem = refused(scene.client().create_sandbox(&request).await);
    insta::assert_snapshot!(told(&problem), @"503 sandbox_unavailable: sandboxes need bwrap, which is not installed");
    assert_eq!(scene.client().fetch_session("shop").await.unwrap().sandbox, None);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_nothing_isolates_is_logged_in_and_everybody_is_told() {
    let npm = Npm::install().await.unwrap();
    let scene = set(ALLOWED).await;
    session(&scene).await;
    let sandbox = create(&scene).await;
    insta::assert_snapshot!(sandbox.warnings.join("\n"), @"not isolated: what runs here can read and change whatever the node can, its keys and all of its sessions, too ([sandboxes] allow_unsandboxed)");
    let id = sandbox.id.to_string();
    let shown = scene.client().fetch_sandbox(&id).await.unwrap();
    let listed = scene.client().list_sandboxes().await.unwrap();
    assert_eq!(
        (&shown.warnings, &listed.items[0].warnings),
        (&sandbox.warnings, &sandbox.warnings)
    );
    let (agent, browser) = (npm.agent_browser().display().to_string(), browser());
    let url = scene.site.url("/").unwrap();
    let line = format!(
        "export AGENT_BROWSER_EXECUTABLE_PATH={}; {agent} open {url} >&2 && {agent} get text '#who'",
        browser.display()
    );
    assert_eq!(scene.says(&sandbox, &line).await, "Ada");
    let written =
        scene.client().read_sandbox_file(&id, "/workspace/.browser-profile/Default/Cookies").await;
    assert!(!written.unwrap().is_empty());
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert!(ended.snapshot.is_some(), "{:?}", ended.reason);
    assert!(scene.cookies("shop").await.contains(&("refresh".to_owned(), "2".to_owned())));
    assert!(!Path::new(&sandbox.workspace).exists());
    assert_eq!(victims::naming(&sandbox.workspace), [0; 0]);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_shown_the_displays_of_this_machine_or_let_out_past_a_list() {
    let fenced = "[[sandboxes.flavors]]\nname = \"fenced\"\nonly = [\"shop.example\"]\n";
    let scene = set(&format!("{ALLOWED}{fenced}")).await;
    let request = CreateSandbox { enable_vnc: true, ..CreateSandbox::default() };
    let problem = refused(scene.client().create_sandbox(&request).await);
    insta::assert_snapshot!(told(&problem), @"503 vnc_unavailable: expected a sandbox of its own for a display, found that this node isolates none");

    // A list of hosts holds in no sandbox that has the network of this machine: there is none then, and its session is
    // free.
    let state = json!({"state": {
        "cookies": [cookie("refresh", "1", 4_000_000_000)], "origins": [],
        "environment": {"egress": {"only": ["shop.example"]}},
    }});
    scene.session_of("shop", &state).await;
    for (flavor, session) in
        [(None, Some("shop")), (Some("fenced"), None), (Some("fenced"), Some("shop"))]
    {
        let request = CreateSandbox {
            flavor: flavor.map(str::to_owned),
            browser_session: session.map(reference),
            ..CreateSandbox::default()
        };
        let problem = refused(scene.client().create_sandbox(&request).await);
        let expected = "503 sandbox_unavailable: expected a sandbox with a network of its own; \
                        without bubblewrap what runs in one has this machine's";
        assert_eq!(told(&problem), expected);
    }
    let free = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!((free.sandbox, free.egress.unwrap().only), (None, vec!["shop.example".to_owned()]));
    assert_eq!(scene.client().list_sandboxes().await.unwrap().items.len(), 0);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_killed_leaves_nothing_of_what_it_did_not_isolate() {
    let mut scene = set(ALLOWED).await;
    session(&scene).await;
    let sandbox = create(&scene).await;
    scene.says(&sandbox, "setsid nohup sleep 1000 > /dev/null 2>&1 &").await;
    // A process that is just becoming another program has neither a command line nor an environment.
    eventually("the agent runs", async || victims::naming(&sandbox.workspace).len() > 1).await;
    scene.test_node.kill_node().await.unwrap();
    eventually("nothing of the sandbox is left", async || {
        !Path::new(&sandbox.workspace).exists() && victims::naming(&sandbox.workspace).is_empty()
    })
    .await;
    scene.test_node.start_node().await.unwrap();
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!((shown.session.state.as_str(), shown.sandbox), ("recoverable", None));
    scene.strike().await;
}
