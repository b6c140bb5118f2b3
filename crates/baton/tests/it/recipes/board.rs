//! Recipes of the board that agents share: commands to type, and the hooks of agents.

use super::guide::{self, Block};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Where our modules for Python are.
const MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../extensions/python");

/// A home with nothing in it.
struct Home(TempDir);

impl Home {
    /// Types commands; `baton` is the program that is tested.
    fn run(&self, commands: &str) -> String {
        let baton = Path::new(env!("CARGO_BIN_EXE_baton")).parent().unwrap();
        let path = format!("{}:/usr/bin:/bin", baton.display());
        let mut shell = Command::new("sh");
        shell
            .args(["-e", "-c", commands])
            .env_clear()
            .env("PATH", path)
            .env("BATON_LISTEN", "127.0.0.1:0");
        shell.env("HOME", self.0.path()).current_dir(self.0.path());
        shell.env("PYTHONPATH", MODULES).env("PYTHONDONTWRITEBYTECODE", "1");
        let Output { status, stdout, stderr } = shell.output().unwrap();
        let errors = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "{commands}: {errors}");
        String::from_utf8(stdout).unwrap()
    }

    fn board(&self) -> Value {
        let status = self.run("baton federation status --json");
        serde_json::from_str::<Value>(&status).unwrap()["board"].take()
    }
}

fn home() -> Home {
    Home(tempfile::tempdir().unwrap())
}

/// The commands of a hook's settings, in their order.
fn commands(block: &Block) -> Vec<String> {
    if block.language == "toml" {
        let document: toml_edit::DocumentMut = block.text.parse().unwrap();
        let hooks = document["hooks"].as_array_of_tables().unwrap().iter();
        let command = |table: &toml_edit::Table| table["command"].as_str().unwrap().to_owned();
        return hooks.map(command).collect();
    }
    let settings: Value = serde_json::from_str(&block.text).unwrap();
    let mut found = Vec::new();
    let mut open = vec![&settings];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("command").and_then(Value::as_str).map(ToOwned::to_owned));
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

#[test]
fn the_commands_of_the_guide_work() {
    let home = home();
    let page = include_str!("../../../../../docs/guide/take-turns.md");
    let first = page.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let said = home.run(&guide::commands(first));
    assert!(said.contains("kimi") && said.contains("write the docs"), "{said}");
    for block in guide::recipe("A task from hand to hand") {
        home.run(&guide::commands(&block.text));
    }
    let board = home.board();
    let statuses: Vec<_> =
        board["tasks"].as_array().unwrap().iter().map(|t| &t["status"]).collect();
    assert_eq!(statuses, ["claimed", "completed"]);
}

#[test]
fn the_hooks_of_the_guide_do_what_they_say() {
    let ends = [("claude", "idle"), ("codex", "idle"), ("kimi", "idle"), ("copilot", "standby")];
    let blocks = guide::recipe("Hooks");
    for (agent, end) in ends {
        let home = home();
        let block = blocks.iter().find(|block| block.file.as_deref() == Some(agent)).unwrap();
        let commands = commands(block);
        let mut statuses = Vec::new();
        for command in &commands {
            let said = home.run(command);
            assert!(said.is_empty() || said.contains("AGENT"), "{command}: {said}");
            statuses.push(home.board()["agents"][agent]["status"].as_str().unwrap().to_owned());
        }
        assert!(statuses.len() >= 2, "{agent}: {commands:?}");
        assert!(statuses.iter().any(|status| status == "active"), "{agent}: {statuses:?}");
        assert!(statuses.iter().any(|status| status == end), "{agent}: {statuses:?}");
    }
    let home = home();
    let shell = blocks.iter().find(|block| block.file.as_deref() == Some("shell")).unwrap();
    home.run(&format!("{}\nbaton federation status >&2", shell.text));
    let entry = &home.board()["agents"]["codex"];
    assert_eq!((&entry["status"], &entry["current_task"]), (&"idle".into(), &Value::Null));
    assert!(entry["workspace"].is_string());
}

#[test]
fn the_one_liners_of_python_write_through_the_program() {
    let home = home();
    let blocks = guide::recipe("From Python");
    let said = home.run(&guide::commands(&blocks[0].text));
    assert_eq!(said, "the nightly build\n");
    let board = home.board();
    assert_eq!(board["agents"]["kimi"]["status"], "idle");
    assert_eq!(board["agents"]["kimi"]["current_task"], Value::Null);
}

#[test]
fn python_programs_that_write_at_once_lose_nothing() {
    let home = home();
    // What looks like an option is an agent's task like any other.
    let write = "import sys, federation_sync as board
name = sys.argv[1]
done = [board.update_agent_status(name, 'active', f'--step={n}') for n in range(3)]
assert all(done), done";
    let writers: Vec<String> =
        (0..4).map(|of| format!("python3 -c \"{write}\" agent{of} & P{of}=$!")).collect();
    let ends: Vec<String> = (0..4).map(|of| format!("wait $P{of}")).collect();
    home.run(&[writers, ends].concat().join("\n"));
    let agents = home.board()["agents"].take();
    for of in 0..4 {
        assert_eq!(agents[format!("agent{of}")]["current_task"], "--step=2", "{agents}");
    }
}

#[test]
fn python_is_told_what_is_wrong_with_a_board() {
    let home = home();
    let tell = |call: &str| {
        home.run(&format!(
            "python3 -c \"import federation_sync as board
try: print(board.{call})
except board.FederationError as error: print(error)\""
        ))
    };
    assert_eq!(tell("read_session()"), "None\n");
    assert_eq!(tell("update_agent_status('kimi', 'active')"), "True\n");
    let file = home.0.path().join(".federation/sessions/active-session.json");
    // As editors of some systems write it.
    let whole = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("\u{feff}{whole}")).unwrap();
    assert_eq!(tell("read_session()['agents']['kimi']['status']"), "active\n");
    std::fs::write(&file, "{ \"session_id\": \"sess").unwrap();
    for call in ["read_session()", "update_agent_status('kimi', 'idle')"] {
        let said = tell(call);
        assert!(said.contains("baton federation recover"), "{said}");
    }
}
