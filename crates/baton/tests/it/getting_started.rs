//! The guide to getting started, typed as it stands, with a browser that is killed where it says so.

use crate::houses;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::{Site, victims};
use std::path::Path;
use std::process::Command;

const GUIDE: &str = include_str!("../../../../docs/guide/getting-started.md");

/// The commands of a section, in their order. A display is for readers who have one.
fn commands(section: &str) -> Vec<String> {
    let (_, text) = GUIDE.split_once(&format!("\n## {section}\n")).unwrap();
    let text = text.split("\n## ").next().unwrap();
    let typed = text.lines().filter_map(|line| line.strip_prefix("$ "));
    typed.map(|line| line.replace(" --headed", "")).collect()
}

/// A reader of the guide, who has the program and nothing else.
struct Reader<'r> {
    data: &'r Path,
    site: String,
}

impl Reader<'_> {
    /// Types a line, and returns what it says.
    fn types(&self, line: &str) -> String {
        let program = Path::new(env!("CARGO_BIN_EXE_baton"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(program.parent().unwrap().to_owned());
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
        let line = line.replace("https://example.org", &self.site);
        let mut shell = Command::new("sh");
        shell.args(["-ec", &line]).env("PATH", path).env("BATON_DATA", self.data);
        shell.env("BATON_LISTEN", "127.0.0.1:0");
        let done = shell.output().unwrap();
        let (said, why) =
            [done.stdout, done.stderr].map(|said| String::from_utf8(said).unwrap()).into();
        assert!(done.status.success(), "{line}: {said}{why}");
        said
    }

    fn follows(&self, section: &str) -> Vec<String> {
        let lines = commands(section);
        assert!(!lines.is_empty(), "nothing is typed under {section}");
        lines.iter().map(|line| self.types(line)).collect()
    }

    /// The first processes of browsers that work for this reader.
    fn browsers(&self) -> Vec<u32> {
        let profile = format!("--user-data-dir={}", self.data.display());
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let found = processes.filter_map(|process| {
            let pid = process.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read_to_string(process.path().join("cmdline")).ok()?;
            (line.contains(&profile) && !line.contains("--type=")).then_some(pid)
        });
        found.collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_gets_a_session_back() {
    let page = get(|| async { Html("<title>shop</title><p>Welcome</p>") });
    let site = Site::start(Router::new().route("/", page)).await.unwrap();
    let house = houses::build();
    let site_address = site.url("").unwrap().to_string().trim_end_matches('/').to_owned();
    let reader = Reader { data: house.data().path(), site: site_address };

    assert!(reader.types("baton doctor || true").contains("browser"));
    reader.follows("Open a session");
    let listed = reader.types("baton sessions list");
    assert!(listed.contains("shop") && listed.contains("active"), "{listed}");
    reader.follows("Capture");

    let victims: Vec<(&str, u32)> =
        reader.browsers().into_iter().map(|pid| ("browser", pid)).collect();
    assert!(!victims.is_empty(), "a browser runs");
    victims::kill_all(&victims).await.unwrap();
    let lost = async || reader.types("baton sessions list").contains("recoverable");
    crate::notes::eventually("the session is recoverable", lost).await;
    let said = reader.follows("Lose it");
    let receipt = said.last().unwrap();
    assert!(receipt.contains("restored"), "{receipt}");

    reader.follows("End it");
    let listed = reader.types("baton sessions list");
    assert!(!listed.contains("shop"), "{listed}");
    reader.types("baton stop");
    assert!(reader.browsers().is_empty(), "no browser is left");
}
