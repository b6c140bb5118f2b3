//! The order in which cookies were set is part of a login, on every way on which one is carried.

use super::{SENT, Scene};
use baton_playground::tools::{Npm, Room};
use baton_playground::victims;
use serde_json::json;
use std::time::Duration;

/// A browser of its own on a profile.
const VISIT: &str = r#"import { chromium } from "playwright-core";
const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
const context = await chromium.launchPersistentContext("profile", { executablePath: process.env.CHROMIUM, args });
await context.pages()[0].goto(process.argv[2]);
await context.close();
"#;

impl Scene {
    /// What the server gets from a browser that starts on a profile in the room.
    async fn visits(&self, room: &Room, path: &str) -> String {
        std::fs::write(room.path().join("visit.mjs"), VISIT).unwrap();
        let mut command = room.command("sh").unwrap();
        let visit = "CHROMIUM=\"$(command -v chromium)\" exec node visit.mjs \"$0\"";
        command.args(["-e", "-c", visit, self.url(path).as_str()]);
        room.run(command, Duration::from_mins(2)).await.unwrap();
        self.got(path).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_set_first_is_sent_first_after_a_crash_an_export_and_an_import() {
    let scene = Scene::set().await;
    assert_eq!(scene.log_in("shop").await, SENT, "before");
    let client = scene.test_node.client().unwrap();
    let id = client.fetch_session("shop").await.unwrap().session.id;
    client.capture_session("shop").await.unwrap();
    victims::kill_all(&scene.test_node.holders(id).await.unwrap()).await.unwrap();
    crate::notes::eventually("the browser to be missed", async || {
        client.fetch_session("shop").await.unwrap().session.state.as_str() == "recoverable"
    })
    .await;
    for (lost, way) in [(false, "on the profile"), (true, "on a fresh one")] {
        if lost {
            scene.baton(&["sessions", "close", "shop"]).success();
            scene.test_node.take_files_away(id).unwrap();
        }
        scene.baton(&["sessions", "resume", "shop"]).success();
        let tab = client.fetch_session("shop").await.unwrap().tabs[0].url.as_str().to_owned();
        assert_eq!(scene.sends("shop", &tab).await, SENT, "{way}");
    }
    for format in ["session", "storage-state"] {
        let file = scene.file(format);
        let path = file.to_str().unwrap();
        let run = scene.baton(&["export", "shop", "--format", format, "-o", path]);
        assert!(matches!(run.get_output().status.code(), Some(0 | 6)));
        let (_, sent) = scene.brings(format, &std::fs::read(&file).unwrap(), 0).await;
        assert_eq!(sent, SENT, "{format}");
    }
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_on_a_compiled_profile_sends_first_what_the_file_has_first() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let cookie = |domain: &str, value: &str| {
        json!({"name": "sid", "value": value, "domain": domain,
        "path": "/", "expires": 1_900_000_000})
    };
    let both = [cookie("shop.localhost", "host"), cookie(".shop.localhost", "domain")];
    let [host, domain] = both.clone();
    for (order, cookies) in [("host", both), ("domain", [domain, host])] {
        let room = npm.room().unwrap();
        let (file, profile) = (scene.file("state.json"), room.path().join("profile"));
        std::fs::write(&file, json!({"cookies": cookies}).to_string()).unwrap();
        let paths = [&file, &profile].map(|path| path.to_str().unwrap());
        scene.baton(&["profile", "compile", paths[0], paths[1]]).success();
        let sent = scene.visits(&room, &format!("/seen/{order}")).await;
        assert!(sent.starts_with(&format!("sid={order}; sid=")), "{sent}");
        let read = scene.file("read.json");
        let args =
            ["profile", "read", paths[1], "--format", "session", "-o", read.to_str().unwrap()];
        scene.baton(&args).success();
        let (_, sent) = scene.brings(order, &std::fs::read(&read).unwrap(), 0).await;
        assert!(sent.starts_with(&format!("sid={order}; sid=")), "{sent}");
        room.clear().await.unwrap();
    }
    scene.strike().await;
}
