//! The guide for agents, typed as it stands by somebody who agrees to each change on a terminal; and the
//! servers that an agent starts then, from the file that was written.

use crate::guide::Guide;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::tools::{Npm, Room};
use baton_playground::{McpClient, Site};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

const GUIDE: &str = include_str!("../../../../docs/guide/agents.md");

/// How long anything that is typed may take.
const LIMIT: Duration = Duration::from_mins(2);

/// The file of one program, and of another, before Baton is in them.
const CLAUDE: &str = "{\n  \"theme\": \"dark\"\n}\n";
const CODEX: &str = "# mine\nmodel = \"large\"\n";

/// A reader whose home has the files of two programs in which agents run.
struct Reader {
    room: Room,
}

impl Reader {
    fn begin(room: Room) -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_baton")).parent().unwrap();
        let reader = Self { room: room.with_programs(program) };
        std::fs::create_dir(reader.room.path().join(".codex")).unwrap();
        std::fs::write(reader.room.path().join(".codex/config.toml"), CODEX).unwrap();
        std::fs::write(reader.room.path().join(".claude.json"), CLAUDE).unwrap();
        reader
    }

    fn reads(&self, file: &str) -> String {
        std::fs::read_to_string(self.room.path().join(file)).unwrap()
    }

    /// Types a line where nobody can be asked.
    async fn types(&self, line: &str) -> String {
        let mut shell = self.room.command("sh").unwrap();
        shell.args(["-e", "-c", line]);
        self.room.run(shell, LIMIT).await.unwrap()
    }

    /// Types a line on a terminal, and says yes to whatever is asked there.
    async fn agrees(&self, line: &str) -> String {
        let line = line.replace("/srv/", &format!("{}/", self.room.path().display()));
        let mut terminal = self.room.command("script").unwrap();
        terminal.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut terminal = terminal.spawn().unwrap();
        terminal.stdin.take().unwrap().write_all(b"y\ny\ny\ny\ny\n").await.unwrap();
        let done = timeout(LIMIT, terminal.wait_with_output()).await.unwrap().unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success() && said.contains("[y/N]"), "{line}: {said}");
        said
    }

    /// Starts the server that stands in the file of Claude Code, as that does.
    async fn starts(&self) -> McpClient {
        let file: Value = serde_json::from_str(&self.reads(".claude.json")).unwrap();
        assert_eq!(file["theme"], "dark", "what was there is there");
        let entry = &file["mcpServers"]["baton"];
        let mut command = self.room.command(entry["command"].as_str().unwrap()).unwrap();
        command.args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
        let client = McpClient::spawn(command).unwrap();
        client.initialize(json!({}), "2025-11-25").await.unwrap();
        client
    }

    /// Has an agent open a session with Baton's tools, and go somewhere with the other server's.
    async fn has_an_agent_work(&self, session: &str, navigate: &str, to: Value) {
        let client = self.starts().await;
        let tools = client.list_tools().await.unwrap();
        let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
        assert!(has("session_open") && has(navigate), "one server for both");
        for (tool, arguments) in [("session_open", json!({"name": session})), (navigate, to)] {
            let answer = client.call(tool, arguments).await.unwrap();
            assert_ne!(answer["isError"], true, "{tool}: {answer}");
        }
        let shown = client.call("list_sessions", json!({})).await.unwrap().to_string();
        assert!(shown.contains(session), "{shown}");
        client.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_gives_agents_baton_and_another_server_and_teaches_them() {
    let npm = Npm::install().await.unwrap();
    let page = get(|| async { Html("<title>shop</title><p>Welcome</p>") });
    let site = Site::start(Router::new().route("/", page)).await.unwrap();
    let url = site.url("/").unwrap().to_string();
    let reader = Reader::begin(npm.room().unwrap());
    let mut guide = Guide::read(GUIDE);
    let mut left = guide.section("Install").into_iter();
    let mut next = || left.next().unwrap().text;

    let said = reader.agrees(&next()).await;
    assert!(said.contains("found here: claude-code, codex"), "{said}");
    let installed = reader.reads(".codex/config.toml");
    assert!(installed.starts_with(CODEX) && installed.contains("[mcp_servers.baton]"));
    assert!(reader.reads(".claude.json").contains("\"baton\""));

    let shown = reader.types(&next()).await;
    assert!(shown.contains(".codex/config.toml"), "{shown}");
    assert_eq!(reader.reads(".codex/config.toml"), installed, "it is only shown");
    reader.types(&next()).await;
    assert!(reader.reads(".cursor/mcp.json").contains("\"baton\""));
    reader.agrees(&next()).await;
    assert_eq!(reader.reads(".codex/config.toml"), CODEX);

    reader.agrees(&next()).await;
    assert!(left.next().is_none());
    reader.has_an_agent_work("elsewhere", "browser_navigate", json!({"url": url})).await;
    assert!(reader.room.path().join("baton/baton.db").exists(), "in the folder that was named");

    let beside = guide.section("Beside another browser server");
    let [playwright, devtools] = &beside[..] else { panic!("{beside:?}") };
    reader.agrees(&playwright.text).await;
    reader.has_an_agent_work("one", "browser_navigate", json!({"url": url})).await;
    reader.agrees(&devtools.text).await;
    reader.has_an_agent_work("two", "navigate_page", json!({"pageId": 1, "url": url})).await;
    for session in ["one", "two"] {
        let shown = reader.types(&format!("baton sessions show {session}")).await;
        assert!(shown.contains("active") && shown.contains(&url), "{shown}");
    }

    let teach = guide.section("Teach it");
    let [install] = &teach[..] else { panic!("{teach:?}") };
    reader.agrees(&install.text).await;
    let skill = reader.types("baton skill").await;
    assert_eq!(reader.reads(".claude/skills/baton/SKILL.md"), skill);

    guide.end();
    reader.room.clear().await.unwrap();
}
