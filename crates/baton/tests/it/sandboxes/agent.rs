//! An agent's own browser in a sandbox: the real agent-browser, logged in without a word.

use super::scene::{Scene, reference};
use baton_api::sandbox::CreateSandbox;
use baton_api::{Problem, SnapshotReason};
use baton_browser::launch::{BrowserPlaces, find_browser};
use baton_playground::tools::Npm;
use std::path::PathBuf;

/// Settings of a flavor that has agent-browser.
pub(super) fn tools(npm: &Npm) -> String {
    let program = npm.agent_browser();
    let folder = program.parent().unwrap().display();
    let name = program.file_name().unwrap().to_str().unwrap();
    let browser = browser().display().to_string();
    format!(
        "[[sandboxes.flavors]]\nname = \"tools\"\nmounts = [\"{folder}:/opt/tools\"]\n\
         path = [\"/opt/tools\"]\n\
         env = {{ AB = \"{name}\", AGENT_BROWSER_EXECUTABLE_PATH = \"{browser}\" }}\n"
    )
}

/// The browser of this machine.
pub(crate) fn browser() -> PathBuf {
    find_browser(None, &BrowserPlaces::on_path(std::env::var_os("PATH").as_deref())).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_logged_in_and_the_rotated_token_comes_back() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set_with(&tools(&npm)).await;
    let id = scene.session("shop").await;
    let request = CreateSandbox {
        flavor: Some("tools".to_owned()),
        browser_session: Some(reference("shop")),
        domains: vec!["host".to_owned()],
        ..CreateSandbox::default()
    };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    let line = format!("$AB open {} >&2 && $AB get text '#who'", scene.url());
    assert_eq!(scene.says(&sandbox, &line).await, "Ada");
    let stored = scene.says(&sandbox, "$AB eval 'localStorage.token'").await;
    assert_eq!(stored, "\"t0k3n\"");
    scene.says(&sandbox, "$AB eval 'localStorage.step = \"2\"'").await;

    // The session is the sandbox's as long as that is there.
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!(shown.sandbox, Some(sandbox.id));
    let held = super::scene::refused(scene.client().resume_session("shop").await);
    assert_eq!(held.code.as_str(), "session_held");
    let Problem { hint, .. } = held;
    assert!(hint.unwrap().contains(&format!("baton sandbox delete {}", sandbox.id)));

    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.session_id.to_string(), ended.shrunk, ended.reason), (id, false, None));
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!(shown.snapshot.unwrap().reason, SnapshotReason::Sandbox);
    let refresh: u32 = scene
        .cookies("shop")
        .await
        .into_iter()
        .find_map(|(name, value)| (name == "refresh").then(|| value.parse().unwrap()))
        .unwrap();
    assert!(refresh > 1, "the token was rotated: {refresh}");
    assert!(scene.cookies("shop").await.contains(&("ends".to_owned(), "with-it".to_owned())));

    // Whoever comes next is logged in with it, and finds what the agent stored.
    let again = scene.client().create_sandbox(&request).await.unwrap();
    assert_eq!(scene.says(&again, &line).await, "Ada");
    let stored = scene.says(&again, "$AB eval 'localStorage.token + localStorage.step'").await;
    assert_eq!(stored, "\"t0k3n2\"");
    scene.end(&again).await;
    scene.strike().await;
}
