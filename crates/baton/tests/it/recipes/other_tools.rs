//! The guide to other tools as a whole: every tool drives the session that the first line opens, one after
//! the other, and `baton sessions close` ends it, as the guide says.

use super::{LIMIT, Scene, guide, servers};
use crate::guide::Guide;
use baton_playground::tools::{Npm, Python, Room};
use baton_session::Lifecycle;

const GUIDE: &str = include_str!("../../../../../docs/guide/other-tools.md");

/// Follows a section, which is the story's from now on, and returns what it said.
async fn follow(guide: &mut Guide, scene: &Scene, room: &Room, section: &str) -> String {
    guide.section(section);
    let said = scene.follow(room, section).await;
    scene.look().await;
    said
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_of_the_guide_drives_the_session_in_its_turn() {
    let (npm, python) = (Npm::install().await.unwrap(), Python::install().await.unwrap());
    let mut guide = Guide::read(GUIDE);
    let open = guide.section("Other tools");
    let room = python.beside(npm.room().unwrap());
    let (scene, room) = Scene::opened_by(&open[0].text, room).await;

    let said = follow(&mut guide, &scene, &room, "Playwright").await;
    insta::assert_snapshot!(said, @r#"
    shop SITE/
    - heading "Welcome" [level=1]
    - textbox "Name"
    - button "Greet"
    "#);
    assert_eq!(follow(&mut guide, &scene, &room, "Playwright, with a key").await, "shop\n");
    let said = follow(&mut guide, &scene, &room, "Playwright, with files").await;
    assert_eq!(said, "paid\nhello\n");
    let said = follow(&mut guide, &scene, &room, "agent-browser").await;
    for part in [r#"heading "Welcome""#, r#"textbox "Name""#, "SITE/\nshop\n", "closed"] {
        assert!(said.contains(part), "expected {part} in {said}");
    }
    guide.section("Playwright MCP");
    servers::playwright_mcp(&scene, &room).await;
    guide.section("Chrome DevTools MCP");
    servers::chrome_devtools_mcp(&scene, &room).await;
    let said = follow(&mut guide, &scene, &room, "browser-use").await;
    for part in ["SITE/", "Welcome", "<input", "Greet"] {
        assert!(said.contains(part), "expected {part} in {said}");
    }

    let said = follow(&mut guide, &scene, &room, "Keep a context of a tool").await;
    assert!(said.contains("bob  active") && said.contains("SITE/"), "{said}");
    let client = scene.test_node.client().unwrap();
    let bob = client.fetch_state("bob", true).await.unwrap();
    let key = format!("{}/", scene.address());
    assert_eq!(bob.state["origins"][key]["localStorage"], serde_json::json!([["who", "bob"]]));

    guide.end();
    let close = scene.shell(&room, "baton sessions close shop");
    room.run(close, LIMIT).await.unwrap();
    let shop = client.fetch_session("shop").await.unwrap().session;
    assert_eq!(shop.state, Lifecycle::Closed);
    room.clear().await.unwrap();
    scene.test_node.clear().await.unwrap();
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
