//! What a sandbox tries and must not get: what this node has beside what the provider itself guards.

use super::scene::{Scene, reference, refused};
use baton_api::sandbox::{CommandLine, CreateSandbox, ExecEnd, ExecSandbox};
use baton_api::{Client, CreateKey, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_sees_nothing_of_its_node() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = scene.sandbox().await;
    let data = scene.test_node.data().path().to_owned();
    let pid = scene.test_node.node_pid().unwrap();
    let node_port = scene.client().base().port().unwrap();
    for line in [
        format!("ls {}", data.display()),
        format!("cat {}/key", data.display()),
        format!("cat {}/admin.key", data.display()),
        format!("ls {}/run", data.display()),
        "ls /root /home/*".to_owned(),
        format!("kill -0 {pid}"),
        format!("cat /proc/{pid}/environ"),
        format!("curl -sm 3 http://host:{node_port}/health"),
        format!("curl -sm 3 http://127.0.0.1:{node_port}/health"),
        "env | grep -i -E 'baton|token|key'".to_owned(),
    ] {
        let done = scene.sh(&sandbox, &line).await;
        assert_ne!(done.end, ExecEnd::Code(0), "{line}: {}", done.output);
    }
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_reaches_the_address_that_it_may_and_no_other() {
    let scene = Scene::set().await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let sandbox = scene.sandbox().await;
    let page = scene.says(&sandbox, &format!("curl -sm 5 {}", scene.url())).await;
    assert!(page.contains("nobody"), "{page}");
    let port = other.local_addr().unwrap().port();
    for address in [format!("http://host:{port}/"), "http://169.254.169.254/".to_owned()] {
        let done = scene.sh(&sandbox, &format!("curl -sm 2 {address}")).await;
        assert_ne!(done.end, ExecEnd::Code(0), "{address}");
    }
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sandboxes_of_one_owner_do_not_see_each_other() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let one = scene.sandbox_of("shop").await;
    let other = scene.sandbox().await;
    scene.says(&one, "test -f .browser-profile/Default/Cookies; echo secret > /tmp/note").await;
    let sleeper = "sleep 100 & echo $!";
    scene.says(&one, sleeper).await;
    let found = scene.says(&other, "ls -A /workspace /tmp; pgrep -l sleep; true").await;
    assert!(!found.contains("note") && !found.contains("sleep"), "{found}");
    let tried = scene.sh(&other, "ls /workspace/.browser-profile").await;
    assert_ne!(tried.end, ExecEnd::Code(0));
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_and_a_session_of_somebody_else_are_not_found() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = scene.sandbox().await;
    let request = CreateKey {
        name: "other".to_owned(),
        owner: Some("bob".parse().unwrap()),
        scopes: BTreeSet::from([Scope::Sandbox, Scope::Drive]),
        for_node: None,
    };
    let key = scene.client().create_key(&request).await.unwrap();
    let bob = Client::new(scene.client().base().clone(), key.secret.into()).unwrap();
    assert!(bob.list_sandboxes().await.unwrap().items.is_empty());
    let id = sandbox.id.to_string();
    let run = ExecSandbox {
        command: CommandLine::Line("true".to_owned()),
        env: BTreeMap::new(),
        directory: None,
        input: None,
        timeout: None,
    };
    let with =
        CreateSandbox { browser_session: Some(reference("shop")), ..CreateSandbox::default() };
    let codes = [
        refused(bob.fetch_sandbox(&id).await).code,
        refused(bob.exec_sandbox(&id, &run).await).code,
        refused(bob.read_sandbox_file(&id, "note").await).code,
        refused(bob.write_sandbox_file(&id, "note", Vec::new()).await).code,
        refused(bob.delete_sandbox(&id).await).code,
    ];
    assert_eq!(codes.map(baton_api::ErrorCode::as_str), ["sandbox_not_found"; 5]);
    assert_eq!(refused(bob.create_sandbox(&with).await).code.as_str(), "session_not_found");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_that_is_a_trap_gives_nothing_of_the_node_away() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = scene.sandbox_of("shop").await;
    let key = scene.test_node.data().admin_key();
    let trap = format!(
        "cd .browser-profile/Default && rm -r Cookies 'Local Storage' && \
         ln -s {} Cookies && ln -s / 'Local Storage'",
        key.display()
    );
    scene.says(&sandbox, &trap).await;
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert!(ended.shrunk, "{ended:?}");
    let history = scene.client().fetch_state("shop", true).await.unwrap();
    let admin = std::fs::read_to_string(key).unwrap();
    assert!(!history.state.to_string().contains(admin.trim()));
    // The session is as good as before: what is resumed is the snapshot that was handed in.
    let next = scene.sandbox_of("shop").await;
    assert_eq!(next.browser_session.unwrap().logins[0].forecast.cookies, 2);
    scene.strike().await;
}
