//! The guide to carrying sessions, word for word, on two folders without a browser.

use super::fixture::{Folder, stdout};
use std::path::Path;

const STATE: &str = r#"{"cookies":[{"name":"sid","value":"s3cret","domain":"shop.test","path":"/",
    "expires":-1,"httpOnly":true,"secure":true,"sameSite":"Lax"}],"origins":[]}"#;

/// Commands that want a browser, a certificate, or a conflict.
const LEFT_OUT: [&str; 4] = ["serve ", "sessions resume", "sessions close", "sync resolve"];

/// What the guide says, with what differs from reader to reader in its place.
struct Reader {
    laptop: Folder,
    server: Folder,
    /// Where the laptop keeps the server's key.
    key: std::path::PathBuf,
    fingerprint: String,
    /// The invitation that was printed last.
    invitation: String,
}

impl Reader {
    fn begin() -> Self {
        let (laptop, server) = (Folder::new(), Folder::new());
        let key = laptop.data().with_file_name("server.key");
        let file = laptop.data().with_file_name("shop.json");
        std::fs::write(&file, STATE).unwrap();
        laptop.run(&["import", text(&file), "--name", "shop"]).success();
        server.run(&["sessions", "list"]).success();
        let (fingerprint, invitation) = (String::new(), String::new());
        Self { laptop, server, key, fingerprint, invitation }
    }

    /// Types a line, and keeps what the next ones need.
    fn type_in(&mut self, machine: &str, line: &str) {
        let url = std::fs::read_to_string(self.server.data().join("node.json")).unwrap();
        let url: serde_json::Value = serde_json::from_str(&url).unwrap();
        let line = line
            .replace("https://server.example.org:7420", url["url"].as_str().unwrap())
            .replace("server.key", text(&self.key))
            .replace("server.invitation", text(&self.key.with_file_name("server.invitation")))
            .replace("BATON-…", &self.invitation)
            .replace("0.0.0.0:7421", "127.0.0.1:0")
            .replace("shop.baton", text(&self.key.with_file_name("shop.baton")))
            .replace("a1b2 c3d4 …", &self.fingerprint);
        let (before, quoted) = line.split_once(" \"").unwrap_or((&line, ""));
        let mut args: Vec<&str> = before.split(' ').collect();
        args.extend(quoted.strip_suffix('"'));
        let folder = if machine == "laptop" { &self.laptop } else { &self.server };
        let run = folder.run(&args).success();
        let said = stdout(&run, &folder.data());
        match args.as_slice() {
            ["keys", "create", ..] => std::fs::write(&self.key, &said).unwrap(),
            ["peers", "invite", "--listen", ..] => {
                said.trim().rsplit(' ').next().unwrap().clone_into(&mut self.invitation);
            }
            ["peers", "list"] => {
                let first = said.lines().next().unwrap();
                first.strip_prefix("fingerprint").unwrap().trim().clone_into(&mut self.fingerprint);
            }
            _ => {}
        }
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_guide_to_carrying_can_be_followed() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/carry.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut reader = Reader::begin();
    let mut followed = 0;
    for line in page.lines() {
        let Some((machine @ ("laptop" | "server"), line)) = line.split_once("$ baton ") else {
            continue;
        };
        // A provider and a tunnel are in the stories of tokens.
        if LEFT_OUT.iter().any(|left| line.starts_with(left)) || line.contains(" --auth ") {
            continue;
        }
        reader.type_in(machine, line);
        followed += 1;
    }
    assert_eq!(followed, 27);
    let (_, there) = reader.server.json(&["sessions", "list"]);
    assert_eq!(there["items"][0]["name"], "shop", "{there}");
    reader.laptop.stop_node();
    reader.server.stop_node();
}
