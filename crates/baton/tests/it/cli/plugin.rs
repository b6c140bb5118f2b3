//! What programs with plugins are given: the skill that the program has, and the server that it is.

use super::fixture::{Folder, stdout};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(root().join(path)).unwrap()).unwrap()
}

/// How an agent starts Baton, where the program is on the PATH.
fn server() -> Value {
    json!({"command": "baton", "args": ["mcp"]})
}

#[test]
fn the_plugin_brings_along_the_skill_and_the_server() {
    let folder = Folder::new();
    let skill = stdout(&folder.run(&["skill"]).success(), &folder.data());
    let carried = root().join("extensions/plugin/skills/baton/SKILL.md");
    assert_eq!(std::fs::read_to_string(carried).unwrap(), skill);
    let servers = read("extensions/plugin/.mcp.json");
    assert_eq!(servers, json!({"mcpServers": {"baton": server()}}));
    for program in ["claude", "codex", "cursor"] {
        let manifest = read(&format!("extensions/plugin/.{program}-plugin/plugin.json"));
        assert_eq!(manifest["name"], "baton", "{program}");
        for (key, beside) in [("skills", "skills/baton/SKILL.md"), ("mcpServers", ".mcp.json")] {
            let named = manifest.get(key).and_then(Value::as_str);
            let named = named.map(|place| root().join("extensions/plugin").join(place));
            // One that names nothing finds both where they are.
            let place = named.unwrap_or_else(|| root().join("extensions/plugin").join(beside));
            assert!(place.exists(), "{program}: {}", place.display());
        }
    }
    for marketplace in [".claude-plugin", ".cursor-plugin"] {
        let listed = read(&format!("{marketplace}/marketplace.json"));
        let source = listed["plugins"][0]["source"].as_str().unwrap();
        assert!(root().join(source).join(marketplace).join("plugin.json").is_file());
    }
}

#[test]
fn the_links_that_install_it_name_that_server() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let link = |start: &str| -> reqwest::Url {
        let from = readme.find(start).unwrap_or_else(|| panic!("no link {start}"));
        readme[from..].split(')').next().unwrap().parse().unwrap()
    };
    let config = |link: &reqwest::Url| {
        let named = |name: &str| link.query_pairs().find(|(key, _)| key == name).unwrap().1;
        assert_eq!(named("name"), "baton");
        named("config").into_owned()
    };
    let text = config(&link("https://vscode.dev/redirect/mcp/install"));
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), server());
    let text = STANDARD.decode(config(&link("https://cursor.com/en/install-mcp"))).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), server());
}
