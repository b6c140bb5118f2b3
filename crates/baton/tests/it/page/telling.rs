//! A story in JavaScript, told line by line: what it saw, and what it asks of the test.

#![expect(clippy::print_stdout, reason = "a long story says how it goes")]

use baton_browser::launch;
use baton_playground::TestNode;
use baton_playground::tools::Npm;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;
use url::Url;

/// How long a whole story may take.
const LIMIT: Duration = Duration::from_mins(8);

/// Tells a story at a node about a site; what it saw, a line each.
pub(super) async fn tell(story: &str, test_node: &mut TestNode, site: &Url) -> String {
    let room = Npm::install().await.unwrap().room().unwrap();
    let path = room.path().join("story.mjs");
    std::fs::write(&path, story).unwrap();
    std::fs::write(room.path().join("visitor.mjs"), include_str!("visitor.mjs")).unwrap();
    let on_path = std::env::var_os("PATH");
    let places = launch::BrowserPlaces::on_path(on_path.as_deref());
    let shots = shots(room.path());
    let mut command = room.command("node").unwrap();
    command
        .arg(&path)
        .env("BATON", env!("CARGO_BIN_EXE_baton"))
        .env("DATA", test_node.data().path())
        .env("SITE", site.as_str())
        .env("SHOTS", &shots)
        .env("CHROMIUM", launch::find_browser(None, &places).unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let mut tell = process.stdin.take().unwrap();
    let mut said = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    let told = async {
        while let Some(line) = said.next_line().await.unwrap() {
            println!("{line}");
            if let Some(what) = line.strip_prefix("ask: ") {
                help(test_node, what).await;
                tell.write_all(b"done\n").await.unwrap();
            } else if let Some(what) = line.strip_prefix("saw: ") {
                seen.push(what.to_owned());
            }
        }
        process.wait().await.unwrap()
    };
    let end = timeout(LIMIT, told).await.expect("the story ends");
    assert!(end.success(), "the story ended after: {seen:#?}");
    keep_pictures(&shots);
    room.clear().await.unwrap();
    seen.join("\n")
}

/// Does what a story asks for.
async fn help(test_node: &mut TestNode, what: &str) {
    match what {
        "stop the node" => test_node.stop_node().await.unwrap(),
        "start the node" => test_node.start_node().await.unwrap(),
        other => panic!("nobody knows how to {other}"),
    }
}

/// Where the story's pictures go: where `BATON_PAGE_SHOTS` says, for whoever wants to look at them.
fn shots(room: &Path) -> PathBuf {
    let shots = std::env::var_os("BATON_PAGE_SHOTS");
    let shots = shots.map_or_else(|| room.join("shots"), PathBuf::from);
    std::fs::create_dir_all(&shots).unwrap();
    shots
}

/// Pictures of the stories that are in the guide, and how they are called there.
const IN_THE_GUIDE: [(&str, &str); 3] = [
    ("sessions-desktop-light.png", "sessions.png"),
    ("compare-desktop-light.png", "compare.png"),
    ("network-desktop-light.png", "network.png"),
];

/// The pictures in the guide are made by these stories, when `BATON_UPDATE_DOCS` is set.
fn keep_pictures(shots: &Path) {
    let made = IN_THE_GUIDE.map(|(from, to)| (shots.join(from), to));
    assert!(made.iter().any(|(from, _)| from.is_file()), "the story has made a picture");
    if std::env::var_os("BATON_UPDATE_DOCS").is_some() {
        let guide = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/page"));
        std::fs::create_dir_all(guide).unwrap();
        for (from, to) in made.iter().filter(|(from, _)| from.is_file()) {
            std::fs::copy(from, guide.join(to)).unwrap();
        }
    }
}
