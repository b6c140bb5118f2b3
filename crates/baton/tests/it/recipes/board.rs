//! Recipes of the board that agents share: commands to type, and the hooks of agents.

use super::guide::{self, Block};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A home with nothing in it.
struct Home(TempDir);

impl Home {
    /// Types commands; `baton` is the program that is tested.
    fn run(&self, commands: &str) -> String {
        let baton = Path::new(env!("CARGO_BIN_EXE_baton")).parent().unwrap();
        let path = format!("{}:/usr/bin:/bin", baton.display());
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", commands]).env_clear().env("PATH", path);
        shell.env("HOME", self.0.path()).current_dir(self.0.path());
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
