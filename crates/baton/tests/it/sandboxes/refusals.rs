//! What cannot become a sandbox: each with a code of its own, and nothing left behind.

use super::scene::{Scene, cookie, reference, refused};
use baton_api::sandbox::{
    BrowserSession, CommandLine, CreateSandbox, ExecEnd, ExecSandbox, WantedLimits,
};
use baton_api::{FileText, ListHistory};
use serde_json::json;
use std::collections::BTreeMap;

fn with(session: BrowserSession) -> CreateSandbox {
    CreateSandbox { browser_session: Some(session), ..CreateSandbox::default() }
}

fn inline(text: &str) -> BrowserSession {
    BrowserSession::inline(FileText::new(text.to_owned()).unwrap())
}

async fn says(scene: &Scene, request: &CreateSandbox) -> String {
    let problem = refused(scene.client().create_sandbox(request).await);
    format!("{} {}: {}", problem.status, problem.code.as_str(), problem.detail)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_session_makes_no_sandbox() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let say = async |session| says(&scene, &with(session)).await;
    insta::assert_snapshot!(say(inline("[]")).await, @"422 invalid_session: in browserSession.storageState, this is empty; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt");
    insta::assert_snapshot!(say(inline("{\"cookies\": 7}")).await, @"422 invalid_session: in browserSession.storageState, this is a storageState file; expected cookies as an array, found a number");
    insta::assert_snapshot!(say(inline("{\"cookies\": [], \"origins\": []}")).await, @"409 login_missing: expected a login for any site, found neither a cookie nor anything stored");
    let both = BrowserSession { session_id: Some("shop".to_owned()), ..inline("{}") };
    insta::assert_snapshot!(say(both).await, @"422 invalid_session: expected browserSession to be either inline with storageState, or reference with sessionId, found both");
    let neither = BrowserSession { session_id: None, ..reference("shop") };
    insta::assert_snapshot!(say(neither).await, @"422 invalid_session: expected browserSession to be reference with sessionId, found none: give an id or a name");
    let neither = BrowserSession { storage_state: None, ..inline("{}") };
    insta::assert_snapshot!(say(neither).await, @"422 invalid_session: expected browserSession to be inline with storageState, found none: give a Playwright storageState");
    insta::assert_snapshot!(say(reference("nobody")).await, @r#"404 session_not_found: no session "nobody""#);
    assert!(scene.client().list_sandboxes().await.unwrap().items.is_empty());
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_that_is_over_makes_no_sandbox() {
    let scene = Scene::set().await;
    let ended = json!({"cookies": [cookie("sid", "1", 1_600_000_000)], "origins": []});
    insta::assert_snapshot!(says(&scene, &with(inline(&ended.to_string()))).await, @"409 session_expired: expected a login for any site that still lasts, found that its last cookie expired at 2020-09-13T12:26:40Z");
    scene.session("shop").await;
    let wanted = |domains: &[&str]| CreateSandbox {
        domains: domains.iter().map(|&domain| domain.to_owned()).collect(),
        ..with(reference("shop"))
    };
    insta::assert_snapshot!(says(&scene, &wanted(&["host", "other.test"])).await, @"409 login_missing: expected a login for other.test, found neither a cookie nor anything stored");
    insta::assert_snapshot!(says(&scene, &wanted(&["https://host"])).await, @r#"422 invalid_request: expected domains to be domains such as example.com, without a scheme, port or path, found "https://host""#);
    // Nobody has the session: it was not even taken.
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!((shown.session.state.as_str(), shown.sandbox), ("recoverable", None));
    let history = scene.client().list_history("shop", &ListHistory::default()).await.unwrap();
    assert_eq!(history.items.len(), 1);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_somebody_has_is_not_handed_in_but_as_a_copy() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let first = scene.sandbox_of("shop").await;
    let say = says(&scene, &with(reference("shop"))).await;
    insta::assert_snapshot!(say.replace(&first.id.to_string(), "ID"), @"409 session_held: expected session shop to be held by nobody, found that sandbox ID has it");
    let copy = BrowserSession { shared: true, ..reference("shop") };
    let second = scene.client().create_sandbox(&with(copy)).await.unwrap();
    assert_eq!(second.warnings.len(), 1, "{second:?}");
    assert!(scene.end(&second).await.browser_session.is_none(), "nothing is written back");
    scene.end(&first).await;
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_settings_do_not_allow_makes_no_sandbox() {
    let scene = Scene::set_with("most = 1\nlongest_ttl = 100\nttl = 100\n").await;
    let usual = CreateSandbox::default;
    let flavor = CreateSandbox { flavor: Some("none-such".to_owned()), ..usual() };
    insta::assert_snapshot!(says(&scene, &flavor).await, @r#"422 unknown_flavor: expected a flavor among agent-ready, found "none-such""#);
    insta::assert_snapshot!(says(&scene, &CreateSandbox { ttl: Some(101), ..usual() }).await, @"422 invalid_request: expected ttl to be a number of seconds from 1 to what [sandboxes] longest_ttl says, found 101");
    let limits = WantedLimits { memory: Some(u64::MAX), ..WantedLimits::default() };
    let greedy = CreateSandbox { limits, ..usual() };
    assert!(says(&scene, &greedy).await.starts_with("422 invalid_request"));
    let first = scene.sandbox().await;
    insta::assert_snapshot!(says(&scene, &usual()).await, @"503 no_room: expected room for one sandbox more on this node, found 1 of 1");
    scene.end(&first).await;
    let second = scene.sandbox().await;
    let gone = refused(scene.client().fetch_sandbox(&first.id.to_string()).await);
    assert_eq!(gone.code.as_str(), "sandbox_not_found");
    scene.end(&second).await;
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_without_end_is_ended_and_one_without_bounds_is_bounded() {
    let scene = Scene::set().await;
    let limits = WantedLimits { disk: Some(4 << 20), ..WantedLimits::default() };
    let request = CreateSandbox { limits, ..CreateSandbox::default() };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    let id = sandbox.id.to_string();
    let run = |line: &str, timeout| ExecSandbox {
        command: CommandLine::Line(line.to_owned()),
        env: BTreeMap::new(),
        directory: None,
        input: None,
        timeout,
    };
    // It writes for ever, and nobody reads: that costs the node nothing, and ends with its reader.
    let flood = scene.client().exec_sandbox(&id, &run("yes", None)).await.unwrap();
    let mut endless = scene.client().exec_sandbox(&id, &run("sleep 1000", Some(1))).await.unwrap();
    let mut last = None;
    while let Some(event) = endless.next().await.unwrap() {
        last = Some(event);
    }
    assert_eq!(last, Some(baton_api::sandbox::ExecEvent::Exit(ExecEnd::TimedOut)));
    drop(flood);
    scene.says(&sandbox, "while pgrep 'yes|sleep'; do sleep 0.01; done").await;
    // Its time ends also while nobody hears what it says, and whoever listens again is told.
    let line = "yes | head -c 3000000; sleep 1000";
    let mut unheard = scene.client().exec_sandbox(&id, &run(line, Some(1))).await.unwrap();
    scene.says(&sandbox, "sleep 0.2; while pgrep 'yes|sleep' > pids; do :; done").await;
    let mut last = None;
    while let Some(event) = unheard.next().await.unwrap() {
        last = Some(event);
    }
    assert_eq!(last, Some(baton_api::sandbox::ExecEvent::Exit(ExecEnd::TimedOut)));
    let full = scene.client().write_sandbox_file(&id, "large", vec![0; 5 << 20]).await;
    assert_eq!(refused(full).code.as_str(), "storage_full");
    scene.client().write_sandbox_file(&id, "a/small", b"text".to_vec()).await.unwrap();
    assert_eq!(scene.client().read_sandbox_file(&id, "a/small").await.unwrap(), b"text");
    let missing = refused(scene.client().read_sandbox_file(&id, "none").await);
    insta::assert_snapshot!(missing.detail, @"/workspace/none: No such file or directory (os error 2)");
    let none = refused(
        scene
            .client()
            .exec_sandbox(
                &id,
                &ExecSandbox {
                    command: CommandLine::Words(vec!["no-such-program".to_owned()]),
                    ..run("", None)
                },
            )
            .await,
    );
    insta::assert_snapshot!(none.detail, @"no-such-program could not be started in the sandbox: No such file or directory (os error 2)");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_has_no_room_in_the_sandbox_is_free_again() {
    let scene = Scene::set().await;
    let stored = json!([{"name": "a", "value": "x".repeat(3 << 20)}]);
    let state = json!({
        "cookies": [cookie("sid", "1", 4_000_000_000)],
        "origins": [{"origin": "https://app.test", "localStorage": stored}],
    });
    scene.session_of("shop", &state).await;
    let limits = WantedLimits { disk: Some(1 << 20), ..WantedLimits::default() };
    let request = CreateSandbox { limits, ..with(reference("shop")) };
    let problem = refused(scene.client().create_sandbox(&request).await);
    assert_eq!((problem.status, problem.code.as_str()), (507, "storage_full"), "{problem:?}");
    assert!(scene.client().list_sandboxes().await.unwrap().items.is_empty());
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!((shown.session.state.as_str(), shown.sandbox), ("recoverable", None));
    let roomy = scene.sandbox_of("shop").await;
    scene.end(&roomy).await;
    scene.strike().await;
}
