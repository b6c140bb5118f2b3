//! The recipes of `docs/guide/other-tools.md`, `docs/guide/profiles.md`, `docs/guide/take-turns.md`
//! and `docs/reference/mcp.md`, word for word, with the real tools.

mod board;
mod clients;
mod files;
mod guide;
mod other_tools;
mod profiles;
mod servers;
mod together;

use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::tools::Room;
use baton_playground::{Site, TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use guide::Block;
use std::path::Path;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

/// How long the commands of a recipe may take.
const LIMIT: Duration = Duration::from_mins(2);

const PAGE: &str = r#"<!doctype html><html lang="en"><title>shop</title><h1>Welcome</h1>
<input id="name" aria-label="Name">
<button onclick="document.title = 'hello ' + document.getElementById('name').value">Greet</button>"#;

/// A test node with the session `shop`, which is open on a site of its own.
struct Scene {
    test_node: TestNode,
    site: Site,
    id: SessionId,
}

impl Scene {
    async fn set() -> Self {
        let (test_node, site) = build().await;
        let id = test_node.open("shop", [site.url("/").unwrap()]).await.unwrap();
        Self { test_node, site, id }
    }

    /// The same, where what is typed in a tool's room opens the session; with that room.
    async fn opened_by(typed: &str, room: Room) -> (Self, Room) {
        let (test_node, site) = build().await;
        let room = furnish(&test_node, room);
        room.run(shell(&test_node, &site, &room, typed), LIMIT).await.unwrap();
        let id = test_node.client().unwrap().fetch_session("shop").await.unwrap().session.id;
        (Self { test_node, site, id }, room)
    }

    /// A tool's room with `baton` in it, which finds the node as it does for everybody.
    fn furnish(&self, room: Room) -> Room {
        furnish(&self.test_node, room)
    }

    /// A tool's room whose home has this test node's data folder where Baton looks for its own: clients of
    /// MCP hand no variables on to the servers that they start.
    fn move_in(&self, room: Room) -> Room {
        let share = room.path().join(".local/share");
        std::fs::create_dir_all(&share).unwrap();
        std::os::unix::fs::symlink(self.test_node.data().path(), share.join("baton")).unwrap();
        self.furnish(room)
    }

    /// Follows the recipe under a heading: writes its files, types its commands, and returns what they
    /// said, with the site's address as `SITE`.
    async fn follow(&self, room: &Room, heading: &str) -> String {
        let mut said = String::new();
        for block in guide::recipe(heading) {
            let Block { language, file, text } = block;
            if let Some(file) = file {
                std::fs::write(room.path().join(file), text).unwrap();
            } else if language == "console" {
                said += &room.run(self.shell(room, &guide::commands(&text)), LIMIT).await.unwrap();
            }
        }
        said.replace(&self.address(), "SITE")
    }

    /// A shell that types these commands, with our addresses in place of those in the guide.
    fn shell(&self, room: &Room, commands: &str) -> Command {
        shell(&self.test_node, &self.site, room, commands)
    }

    fn address(&self) -> String {
        address(&self.site)
    }

    /// The session is as it was: one tab, in a browser that runs and can be captured.
    async fn look(&self) {
        let client = self.test_node.client().unwrap();
        client.capture_session("shop").await.unwrap();
        let shop = client.fetch_session("shop").await.unwrap();
        assert_eq!(shop.session.state, Lifecycle::Active);
        assert_eq!(shop.tabs.len(), 1, "{:?}", shop.tabs);
        assert!(shop.tabs[0].url.as_str().starts_with(&self.address()), "{:?}", shop.tabs);
    }

    /// Kills browser and keeper, and resumes on a fresh profile: then Baton makes pages of its own for
    /// what no tab shows.
    async fn kill_and_resume(&self) {
        let client = self.test_node.client().unwrap();
        client.capture_session("shop").await.unwrap();
        let holders = self.test_node.holders(self.id).await.unwrap();
        victims::kill_all(&holders).await.unwrap();
        let noticed = async {
            let state = async || client.fetch_session("shop").await.unwrap().session.state;
            while state().await != Lifecycle::Recoverable {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(LIMIT, noticed).await.unwrap();
        self.test_node.take_files_away(self.id).unwrap();
        client.resume_session("shop").await.unwrap();
    }

    async fn strike(self, room: Room) {
        room.clear().await.unwrap();
        self.look().await;
        self.test_node.clear().await.unwrap();
    }
}

/// A test node whose node runs, and the site that sessions are opened on.
async fn build() -> (TestNode, Site) {
    let test_node = test_nodes::test_node().await;
    let site = Site::start(Router::new().route("/", get(Html(PAGE)))).await.unwrap();
    (test_node, site)
}

fn furnish(test_node: &TestNode, room: Room) -> Room {
    let baton = Path::new(env!("CARGO_BIN_EXE_baton")).parent().unwrap();
    room.with_programs(baton).with("BATON_DATA", test_node.data().path())
}

fn shell(test_node: &TestNode, site: &Site, room: &Room, commands: &str) -> Command {
    let node = test_node.client().unwrap().base().to_string();
    let commands = commands
        .replace("https://example.org", &address(site))
        .replace("http://127.0.0.1:7420", node.trim_end_matches('/'));
    let mut shell = room.command("sh").unwrap();
    shell.args(["-e", "-c", &commands]);
    shell
}

fn address(site: &Site) -> String {
    site.url("").unwrap().to_string().trim_end_matches('/').to_owned()
}
