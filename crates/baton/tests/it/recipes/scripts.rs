//! Recipes that are a program, or commands to type.

use super::{Scene, guide};
use baton_playground::tools::{Npm, Python};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn playwright_reads_the_tabs() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.furnish(npm.room().unwrap());
    let said = scene.follow(&room, "Playwright").await;
    insta::assert_snapshot!(said, @r#"
    shop SITE/
    - heading "Welcome" [level=1]
    - textbox "Name"
    - button "Greet"
    "#);
    scene.strike(room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn playwright_finds_the_browser_with_a_key() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.furnish(npm.room().unwrap());
    let said = scene.follow(&room, "Playwright, with a key").await;
    assert_eq!(said, "shop\n");
    scene.strike(room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn playwrights_own_context_becomes_a_session() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.furnish(npm.room().unwrap());
    let said = scene.follow(&room, "Keep a context of a tool").await;
    assert!(said.contains("bob  active") && said.contains("SITE/"), "{said}");
    let bob = scene.house.client().unwrap().fetch_state("bob", true).await.unwrap();
    let key = format!("{}/", scene.address());
    assert_eq!(bob.state["origins"][key]["localStorage"], serde_json::json!([["who", "bob"]]));
    scene.strike(room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent_browser_looks_goes_and_leaves() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.furnish(npm.room().unwrap());
    let said = scene.follow(&room, "agent-browser").await;
    for part in [r#"heading "Welcome""#, r#"textbox "Name""#, "SITE/\nshop\n", "closed"] {
        assert!(said.contains(part), "expected {part} in {said}");
    }
    scene.strike(room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browser_use_goes_somewhere_and_reads() {
    let python = Python::install().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.furnish(python.room().unwrap());
    let said = scene.follow(&room, "browser-use").await;
    for part in ["SITE/", "Welcome", "<input", "Greet"] {
        assert!(said.contains(part), "expected {part} in {said}");
    }
    scene.strike(room).await;
}

#[tokio::test]
async fn the_guide_names_the_versions_that_are_tested() {
    let (npm, python) = (Npm::install().await.unwrap(), Python::install().await.unwrap());
    let inspector = Npm::install_inspector().await.unwrap();
    for (package, version) in guide::versions() {
        let from_npm = npm.version(&package).or_else(|_| inspector.version(&package));
        let tested = from_npm.or_else(|_| python.version(&package)).unwrap();
        assert_eq!(version, tested, "{package}");
    }
}
