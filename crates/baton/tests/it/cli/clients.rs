//! Baton among the MCP servers of other programs: their files, in a home of their own.

use super::fixture::Folder;
use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use tempfile::TempDir;

const CLIENTS: [(&str, &str, &str); 5] = [
    ("claude-code", ".claude.json", ".mcp.json"),
    ("codex", ".codex/config.toml", ".codex/config.toml"),
    ("cursor", ".cursor/mcp.json", ".cursor/mcp.json"),
    ("vscode", ".config/Code/User/mcp.json", ".vscode/mcp.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
];

/// A home folder with a project in it.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("project")).unwrap();
        Self(home)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        self.tidy(&std::fs::read(self.path(name)).unwrap())
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> Assert {
        self.run_with(args, &[])
    }

    /// Runs the program in the project, without a terminal.
    fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Assert {
        let mut command = cargo_bin_cmd!("baton");
        command
            .env_clear()
            .env("HOME", self.0.path())
            .env("BATON_LISTEN", "127.0.0.1:0")
            .envs(variables.iter().copied());
        command.current_dir(self.path("project")).args(args).write_stdin("").assert()
    }

    fn stdout(&self, run: &Assert) -> String {
        self.tidy(&run.get_output().stdout)
    }

    fn stderr(&self, run: &Assert) -> String {
        self.tidy(&run.get_output().stderr)
    }

    /// Without what is another path at every run.
    fn tidy(&self, bytes: &[u8]) -> String {
        let program = assert_cmd::cargo::cargo_bin!("baton").canonicalize().unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let text = text.replace(program.to_str().unwrap(), "/opt/baton");
        text.replace(self.0.path().to_str().unwrap(), "HOME")
    }
}

#[test]
fn every_program_gets_a_file_that_it_reads() {
    let home = Home::new();
    for (client, file, _) in CLIENTS {
        let run = home.run(&["mcp", "install", client, "--yes"]).success();
        assert_eq!(home.stdout(&run), format!("{client}: added to HOME/{file}\n"));
        assert_eq!(home.path(file).metadata().unwrap().mode() & 0o777, 0o600);
    }
    insta::assert_snapshot!(home.read(".claude.json"), @r#"
    {
      "mcpServers": {
        "baton": {
          "type": "stdio",
          "command": "/opt/baton",
          "args": ["mcp"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(home.read(".codex/config.toml"), @r#"
    [mcp_servers.baton]
    command = "/opt/baton"
    args = ["mcp"]
    "#);
    insta::assert_snapshot!(home.read(".cursor/mcp.json"), @r#"
    {
      "mcpServers": {
        "baton": {
          "command": "/opt/baton",
          "args": ["mcp"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(home.read(".config/Code/User/mcp.json"), @r#"
    {
      "servers": {
        "baton": {
          "type": "stdio",
          "command": "/opt/baton",
          "args": ["mcp"]
        }
      }
    }
    "#);
    assert_eq!(home.read(".gemini/settings.json"), home.read(".cursor/mcp.json"));
}

#[test]
fn what_stands_in_a_file_stays() {
    let home = Home::new();
    home.write(
        ".config/Code/User/mcp.json",
        "{\n\t// ours\n\t\"servers\": {\n\t\t\"docs\": { \"type\": \"http\", \"url\": \"https://docs.test\" }, // public\n\
         \t\t/* none yet */\n\t},\n\t\"inputs\": []\n}\n",
    );
    home.write(
        ".codex/config.toml",
        "# my settings\nmodel = \"x\"   # the good one\n\n[mcp_servers.docs]\ncommand = \"docs\"\n# args = []\n",
    );
    home.write(
        ".claude.json",
        "{\n    \"numStartups\": 7,\n    \"projects\": {\"/a\": {\"mcpServers\": {}}}\n}",
    );
    let run = home.run(&["mcp", "install", "--yes"]).success();
    insta::assert_snapshot!(home.stderr(&run), @r#"
    found here: claude-code, codex, vscode
    HOME/.claude.json
      "mcpServers": {
    +   "baton": {
    +     "type": "stdio",
    +     "command": "/opt/baton",
    +     "args": ["mcp"]
    +   }
      }
    HOME/.codex/config.toml
    + [mcp_servers.baton]
    + command = "/opt/baton"
    + args = ["mcp"]
    HOME/.config/Code/User/mcp.json
      "servers": {
    +   "baton": {
    +     "type": "stdio",
    +     "command": "/opt/baton",
    +     "args": ["mcp"]
    +   }
      }
    a program that runs reads its file when it starts again
    "#);
    insta::assert_snapshot!(home.read(".config/Code/User/mcp.json"), @r#"
    {
    	// ours
    	"servers": {
    		"docs": { "type": "http", "url": "https://docs.test" }, // public
    		"baton": {
    			"type": "stdio",
    			"command": "/opt/baton",
    			"args": ["mcp"],
    		},
    		/* none yet */
    	},
    	"inputs": []
    }
    "#);
    insta::assert_snapshot!(home.read(".codex/config.toml"), @r#"
    # my settings
    model = "x"   # the good one

    [mcp_servers.docs]
    command = "docs"
    # args = []

    [mcp_servers.baton]
    command = "/opt/baton"
    args = ["mcp"]
    "#);
    insta::assert_snapshot!(home.read(".claude.json"), @r#"
    {
        "numStartups": 7,
        "projects": {"/a": {"mcpServers": {}}},
        "mcpServers": {
            "baton": {
                "type": "stdio",
                "command": "/opt/baton",
                "args": ["mcp"]
            }
        }
    }
    "#);
}

#[test]
fn the_second_time_nothing_is_written() {
    let home = Home::new();
    for (client, file, _) in CLIENTS {
        home.run(&["mcp", "install", client, "--yes"]).success();
        let inode = home.path(file).metadata().unwrap().ino();
        let run = home.run(&["mcp", "install", client]).success();
        assert_eq!(home.stdout(&run), format!("{client}: already in HOME/{file}\n"));
        assert_eq!(home.path(file).metadata().unwrap().ino(), inode);
        let run = home.run(&["mcp", "install", client, "--yes", "--", "--unattended"]).success();
        assert_eq!(home.stdout(&run), format!("{client}: changed in HOME/{file}\n"));
        assert!(home.read(file).contains("--unattended"));
    }
}

#[test]
fn a_change_is_shown_as_one() {
    let home = Home::new();
    home.write(
        ".codex/config.toml",
        "[mcp_servers.baton]\ncommand = \"/old/baton\"\nargs = [\"mcp\"]\nenv = { KEY = \"secret\" }\n",
    );
    let run = home.run(&["mcp", "install", "codex", "--print"]).success();
    insta::assert_snapshot!(home.stdout(&run), @r#"
    HOME/.codex/config.toml
      [mcp_servers.baton]
    - command = "/old/baton"
    + command = "/opt/baton"
      args = ["mcp"]
    "#);
    let with = ["--", "--with", "npx \"x\" --cdp-endpoint {cdp_url}"];
    let run = home.run(&[&["mcp", "install", "gemini", "--print"], &with[..]].concat()).success();
    insta::assert_snapshot!(home.stdout(&run), @r#"
    HOME/.gemini/settings.json
      "mcpServers": {
    +   "baton": {
    +     "command": "/opt/baton",
    +     "args": ["mcp", "--with", "npx \"x\" --cdp-endpoint {cdp_url}"]
    +   }
      }
    "#);
    assert!(!home.path(".gemini").exists(), "--print writes nothing");
    assert!(home.read(".codex/config.toml").contains("/old/baton"));
}

#[test]
fn a_server_that_drives_the_browser_is_named_and_nothing_is_quoted() {
    let home = Home::new();
    let print = |words: &[&str]| {
        let run = home.run(&[&["mcp", "install", "gemini", "--print", "--drive"], words].concat());
        let shown = home.stdout(&run.success());
        shown.lines().find(|line| line.contains("args")).unwrap()[1..].trim().to_owned()
    };
    let all = [&["playwright"][..], &["devtools"], &["agent-browser", "--", "--unattended"]];
    insta::assert_snapshot!(all.map(print).join("\n"), @r#"
    "args": ["mcp", "--with", "npx -y @playwright/mcp --cdp-endpoint {cdp_url}"]
    "args": ["mcp", "--with", "npx -y chrome-devtools-mcp --no-usage-statistics --wsEndpoint {cdp_url}"]
    "args": ["mcp", "--with", "env AGENT_BROWSER_SESSION=baton AGENT_BROWSER_CDP={cdp_url} npx -y agent-browser mcp", "--unattended"]
    "#);
    let words =
        ["mcp", "install", "gemini", "--drive", "playwright", "--", "--with", "x {cdp_url}"];
    let run = home.run(&words).code(2);
    insta::assert_snapshot!(home.stderr(&run), @"
    error: expected --drive or --with, found both
      --drive names one of three servers, --with starts any
    ");
}

#[test]
fn a_broken_file_is_left_alone() {
    let home = Home::new();
    let broken = "{\n  \"theme\": \"dark\"\n  \"mcpServers\": {}\n}\n";
    home.write(".gemini/settings.json", broken);
    let run = home.run(&["mcp", "install", "--yes"]).code(1);
    insta::assert_snapshot!(home.stderr(&run), @r#"
    found here: gemini
    error: expected HOME/.gemini/settings.json to be readable, but in line 2: expected comma
      nothing was changed; correct the file, or write this into it yourself:
      "mcpServers": {
        "baton": {
          "command": "/opt/baton",
          "args": ["mcp"]
        }
      }
    "#);
    assert_eq!(home.read(".gemini/settings.json"), broken);
}

#[test]
fn without_a_terminal_somebody_must_have_agreed() {
    let home = Home::new();
    let run = home.run(&["mcp", "install", "claude-code"]).code(2);
    insta::assert_snapshot!(home.stderr(&run), @"
    error: expected somebody to ask before HOME/.claude.json is changed, found no terminal
      give --yes to go on without asking
    ");
    assert!(!home.path(".claude.json").exists());
    let run = home.run(&["mcp", "install", "--yes"]).code(3);
    insta::assert_snapshot!(home.stderr(&run), @"
    error: expected the configuration of a program in which agents run, found none
      there are claude-code, codex, cursor, vscode and gemini: name one to set it up all the same
    ");
}

#[test]
fn a_link_stays_a_link() {
    let home = Home::new();
    home.write("dotfiles/claude.json", "{}\n");
    symlink("dotfiles/claude.json", home.path(".claude.json")).unwrap();
    home.run(&["mcp", "install", "claude-code", "--yes"]).success();
    assert!(home.path(".claude.json").is_symlink());
    assert!(home.read("dotfiles/claude.json").contains("\"baton\""));
}

#[test]
fn a_program_reads_one_document() {
    let home = Home::new();
    let data = home.path("data");
    let args = ["--json", "--data", data.to_str().unwrap(), "mcp", "install", "codex", "--yes"];
    let run = home.run(&args).success();
    insta::assert_snapshot!(home.stdout(&run), @r#"
    {
      "clients": [
        {
          "client": "codex",
          "path": "HOME/.codex/config.toml",
          "change": "add",
          "written": true,
          "entry": {
            "command": "/opt/baton",
            "args": [
              "mcp",
              "--data",
              "HOME/data"
            ]
          }
        }
      ]
    }
    "#);
    assert!(!data.exists(), "no node was started");
    let run = home.run(&["--json", "mcp", "uninstall", "codex"]).code(2);
    let document: Value = serde_json::from_str(&home.stdout(&run)).unwrap();
    assert_eq!(document["error"]["code"], "usage");
}

#[test]
fn what_cannot_be_written_is_told_with_what_was() {
    let home = Home::new();
    symlink("nowhere", home.path(".codex")).unwrap();
    let args = ["mcp", "install", "claude-code", "codex", "cursor", "--yes"];
    let run = home.run(&[&["--json"], &args[..]].concat()).code(1);
    let mut document: Value = serde_json::from_str(&home.stdout(&run)).unwrap();
    let done = document["clients"].as_array_mut().unwrap();
    for done in done.iter_mut() {
        done.as_object_mut().unwrap().remove("entry");
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&document).unwrap(), @r#"
    {
      "clients": [
        {
          "change": "add",
          "client": "claude-code",
          "path": "HOME/.claude.json",
          "written": true
        },
        {
          "change": "add",
          "client": "codex",
          "failure": "could not read or write HOME/.codex/config.toml: File exists (os error 17)",
          "path": "HOME/.codex/config.toml",
          "written": false
        },
        {
          "change": "add",
          "client": "cursor",
          "path": "HOME/.cursor/mcp.json",
          "written": true
        }
      ]
    }
    "#);
    home.run(&["mcp", "uninstall", "claude-code", "cursor", "--yes"]).success();
    let run = home.run(&args).code(1);
    insta::assert_snapshot!(home.stdout(&run), @"
    claude-code: added to HOME/.claude.json
    codex: not written: could not read or write HOME/.codex/config.toml: File exists (os error 17)
    cursor: added to HOME/.cursor/mcp.json
    ");
}

#[test]
fn a_project_has_files_of_its_own() {
    let home = Home::new();
    for (client, user, project) in CLIENTS {
        home.run(&["mcp", "install", client, "--project", "--yes"]).success();
        assert!(home.read(&format!("project/{project}")).contains("baton"), "{client}");
        assert!(!home.path(user).exists(), "{client}");
    }
}

#[test]
fn folders_that_were_moved_are_found() {
    let home = Home::new();
    let (codex, claude) = (home.path("x"), home.path("y"));
    let moved = [
        ("CODEX_HOME", codex.to_str().unwrap()),
        ("CLAUDE_CONFIG_DIR", claude.to_str().unwrap()),
        ("XDG_CONFIG_HOME", home.0.path().to_str().unwrap()),
    ];
    let clients = ["mcp", "install", "codex", "claude-code", "vscode", "--yes"];
    home.run_with(&clients, &moved).success();
    for file in ["x/config.toml", "y/.claude.json", "Code/User/mcp.json"] {
        assert!(home.path(file).exists(), "{file}");
    }
}

#[test]
fn what_was_added_goes_again() {
    let home = Home::new();
    for (client, file, _) in CLIENTS {
        let before = if client == "codex" { "# mine\n" } else { "{\n  // mine\n  \"a\": 1\n}\n" };
        home.write(file, before);
        home.run(&["mcp", "install", client, "--yes"]).success();
        home.run(&["mcp", "uninstall", client]).code(2);
        let run = home.run(&["mcp", "uninstall", client, "--yes"]).success();
        assert_eq!(home.stdout(&run), format!("{client}: removed from HOME/{file}\n"));
        let after = home.read(file);
        assert!(after.contains("mine") && !after.contains("baton"), "{after}");
        let run = home.run(&["mcp", "uninstall", client]).success();
        assert_eq!(home.stdout(&run), format!("{client}: not in HOME/{file}\n"));
    }
}

#[test]
fn an_agent_can_be_taught() {
    let home = Home::new();
    let skill = home.stdout(&home.run(&["skill"]).success());
    home.run(&["skill", "--install"]).code(2);
    for (place, file) in [
        (&[][..], ".claude/skills/baton/SKILL.md"),
        (&["--project"][..], "project/.claude/skills/baton/SKILL.md"),
    ] {
        let install = [&["skill", "--install"], place].concat();
        let run = home.run(&[&install[..], &["--yes"]].concat()).success();
        assert_eq!(home.stdout(&run), format!("written to HOME/{file}\n"));
        assert_eq!(home.read(file), skill);
        let run = home.run(&install).success();
        assert_eq!(home.stdout(&run), format!("already in HOME/{file}\n"));
    }
    let file = ".claude/skills/baton/SKILL.md";
    home.write(file, &skill.replace("# Baton\n", "# Baton, and what I know of it\n"));
    let run = home.run(&["skill", "--install", "--yes"]).success();
    insta::assert_snapshot!(home.stderr(&run), @"
    HOME/.claude/skills/baton/SKILL.md
    - # Baton, and what I know of it
    + # Baton
    ");
    assert_eq!(home.read(file), skill);
}

#[test]
fn neither_needs_a_node() {
    let folder = Folder::new();
    folder.run(&["skill"]).success();
    folder.run(&["mcp", "install", "codex", "--print"]).success();
    assert!(!folder.data().exists());
}
