//! Recipes of tools that start a browser of their own, on a profile that was compiled.

use super::Scene;
use baton_playground::Page;
use baton_playground::tools::Npm;

/// A cookie that ends with the browser, and a token.
const LOG_IN: &str = "document.cookie = 'sid=ada'; localStorage.token = 't0k3n'; true";

impl Scene {
    /// A scene of which the session is logged in.
    async fn logged_in() -> Self {
        let scene = Self::set().await;
        let socket = scene.test_node.keeper_socket(scene.id);
        let page = Page::attach(&socket, scene.site.url("/").unwrap().as_str()).await.unwrap();
        assert!(page.evaluate::<bool>(LOG_IN).await.unwrap());
        scene
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn playwright_starts_logged_in() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::logged_in().await;
    let room = scene.furnish(npm.room().unwrap());
    let said = scene.follow(&room, "Playwright, on a profile").await;
    assert!(said.ends_with("\nshop sid=ada t0k3n\n"), "{said}");
    scene.strike(room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent_browser_starts_logged_in() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::logged_in().await;
    let mut room = scene.furnish(npm.room().unwrap());
    if rustix::process::geteuid().is_root() {
        room = room.with("AGENT_BROWSER_ARGS", "--no-sandbox");
    }
    let said = scene.follow(&room, "agent-browser, on a profile").await;
    assert!(said.contains("\"sid=ada t0k3n\""), "{said}");
    scene.strike(room).await;
}
