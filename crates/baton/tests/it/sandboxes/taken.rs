//! A session whose browser runs is saved, closed and lent, but not from under somebody who drives it.

use super::scene::{Scene, reference, refused};
use crate::cdp::Tool;
use baton_api::sandbox::{BrowserSession, CreateSandbox};
use baton_api::{ErrorCode, OpenCdp};
use baton_session::Lifecycle;

fn with(session: BrowserSession) -> CreateSandbox {
    CreateSandbox { browser_session: Some(session), ..CreateSandbox::default() }
}

/// A session whose browser runs, on a page of somebody who is logged in.
async fn begin() -> Scene {
    let scene = Scene::set().await;
    scene.session("shop").await;
    scene.client().resume_session("shop").await.unwrap();
    scene
}

async fn state(scene: &Scene) -> Lifecycle {
    scene.client().fetch_session("shop").await.unwrap().session.state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_runs_is_saved_and_closed_and_whoever_asked_is_told() {
    let scene = begin().await;
    let missing =
        CreateSandbox { domains: vec!["bank.test".to_owned()], ..with(reference("shop")) };
    let problem = refused(scene.client().create_sandbox(&missing).await);
    assert_eq!(problem.code, ErrorCode::LoginMissing, "{problem:?}");
    assert_eq!(state(&scene).await, Lifecycle::Active, "a wish that fails closes nothing");
    let sandbox = scene.client().create_sandbox(&with(reference("shop"))).await.unwrap();
    insta::assert_snapshot!(sandbox.warnings.last().unwrap(), @"the browser of session shop was saved and closed: the sandbox has the session until it ends");
    assert_eq!(sandbox.browser_session.as_ref().unwrap().logins.len(), 1);
    scene.end(&sandbox).await;
    scene.client().resume_session("shop").await.unwrap();
    let kept = scene.cookies("shop").await;
    assert!(kept.contains(&("refresh".to_owned(), "1".to_owned())), "{kept:?}");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_a_client_drives_is_taken_only_by_a_word_for_it() {
    let scene = begin().await;
    let access = scene.client().open_cdp("shop", &OpenCdp { reusable: false }).await.unwrap();
    let tool = Tool::connect(&access.cdp_url).await;
    let problem = refused(scene.client().create_sandbox(&with(reference("shop"))).await);
    assert_eq!(problem.status, 409);
    insta::assert_snapshot!(problem.detail, @"expected nobody to drive session shop, found a client that is connected to its browser");
    insta::assert_snapshot!(problem.hint.unwrap_or_default(), @r#"end that first, take the session all the same (--take, or "take": true), or hand in a copy (--shared, or "shared": true)"#);
    assert_eq!(state(&scene).await, Lifecycle::Active);
    let taken = BrowserSession { take: true, ..reference("shop") };
    let sandbox = scene.client().create_sandbox(&with(taken)).await.unwrap();
    tool.connection.closed().await;
    scene.end(&sandbox).await;
    assert_eq!(state(&scene).await, Lifecycle::Recoverable);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_an_agent_drives_is_taken_by_its_owner_alone() {
    let scene = begin().await;
    let as_agent = |name: &str| scene.client().clone().as_agent(Some(name.parse().unwrap()));
    as_agent("kimi").open_cdp("shop", &OpenCdp { reusable: false }).await.unwrap();
    let taken = with(BrowserSession { take: true, ..reference("shop") });
    let problem = refused(scene.client().create_sandbox(&with(reference("shop"))).await);
    assert!(problem.detail.contains("kimi"), "{problem:?}");
    assert_eq!(problem.status, 409);
    let problem = refused(as_agent("other").create_sandbox(&taken).await);
    assert_eq!(problem.code, ErrorCode::InvalidSession, "{problem:?}");
    assert_eq!(state(&scene).await, Lifecycle::Active);
    let sandbox = scene.client().create_sandbox(&taken).await.unwrap();
    scene.end(&sandbox).await;
    // Nobody drives it any more: whoever comes first may have it.
    as_agent("other").resume_session("shop").await.unwrap();
    scene.strike().await;
}
