//! Texts of every shape, changed and changed back.

use super::Form;
use super::edit::{Kind, remove, set};
use super::entry::Entry;
use super::mistake::Mistake;

const JSON: Form = Form::Json { key: "mcpServers", typed: true };

fn entry(args: &[&str]) -> Entry {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    Entry { command: "/opt/baton".to_owned(), args }
}

/// What was added goes again without a trace.
fn there_and_back(form: Form, text: &str) {
    let entry = entry(&["mcp", "--with", "npx \"x\" {cdp_url}"]);
    let added = set(text, form, &entry).unwrap();
    assert_eq!(added.kind, Kind::Add, "{text:?}");
    let again = set(&added.text, form, &entry).unwrap();
    assert_eq!((again.kind, &again.text), (Kind::None, &added.text), "{text:?}");
    let removed = remove(&added.text, form).unwrap();
    assert_eq!(removed.kind, Kind::Remove);
    assert_eq!(removed.text, text, "found {:?}", removed.text);
    assert_eq!(remove(text, form).unwrap().kind, Kind::None);
}

#[test]
fn every_other_byte_of_json_stays() {
    let texts = [
        "{\n  \"mcpServers\": {}\n}\n",
        "\u{feff}{\r\n\t\"a\": 1.10, // one\r\n\t\"mcpServers\": {\r\n\t\t\"x\": {\"url\": \"y\"}\r\n\t}\r\n}",
        "{\n  \"mcpServers\": {\n    // why\n    \"x\": {\"command\": \"y\",}, // so\n    /* end */\n  },\n  \"n\": 123456789012345678901234567890\n}",
    ];
    for text in texts {
        there_and_back(JSON, text);
    }
}

#[test]
fn every_other_byte_of_toml_stays() {
    let texts = [
        "",
        "model = \"x\"\n",
        "# mine\r\nmodel = 'x' # why\r\n\r\n[mcp_servers.docs]\r\ncommand = \"y\"\r\n# args = []\r\n",
        "\u{feff}[mcp_servers]\nx.command = 'y'\n\n[tui]\nat = 07:32:00\nnot = nan\n\n\n",
        "mcp_servers.x.command = 'y'\n",
        "mcp_servers = { x = { command = 'y' } } # so\n",
        "[[mcp_servers.x.y]]\n[mcp_servers]\n",
    ];
    for text in texts {
        there_and_back(Form::Toml, text);
    }
}

#[test]
fn what_an_owner_added_to_the_entry_stays() {
    let json =
        "{\"mcpServers\": {\"baton\": {\"command\": \"/old\", \"env\": {\"A\": \"secret\"}}}}";
    let changed = set(json, JSON, &entry(&["mcp"])).unwrap();
    insta::assert_snapshot!(changed.text, @r#"
    {"mcpServers": {"baton": {
          "type": "stdio",
          "command": "/opt/baton",
          "args": ["mcp"],
          "env": {"A": "secret"}
        }}}
    "#);
    insta::assert_snapshot!(changed.shown.join("\n"), @r#"
      "mcpServers": {
        "baton": {
    -     "command": "/old"
    +     "type": "stdio",
    +     "command": "/opt/baton",
    +     "args": ["mcp"]
        }
      }
    "#);
    let toml = "[mcp_servers.baton] # ours\ncommand = \"/old\" # why\nenabled = false\n\n\
                # theirs\n[mcp_servers.baton.env]\nA = \"secret\"\n";
    let changed = set(toml, Form::Toml, &entry(&["mcp"])).unwrap();
    insta::assert_snapshot!(changed.text, @r#"
    [mcp_servers.baton] # ours
    args = ["mcp"]
    command = "/opt/baton" # why
    enabled = false

    # theirs
    [mcp_servers.baton.env]
    A = "secret"
    "#);
    insta::assert_snapshot!(changed.shown.join("\n"), @r#"
      [mcp_servers.baton]
    - command = "/old"
    + command = "/opt/baton"
    + args = ["mcp"]
    "#);
    let removed = remove(&changed.text, Form::Toml).unwrap();
    insta::assert_snapshot!(removed.text, @"

    # theirs
    ");
}

#[test]
fn entries_in_every_shape_can_be_changed() {
    let shapes = [
        "[mcp_servers]\nbaton = { enabled = true, command = '/old' }\n",
        "mcp_servers = { baton = {}, x = {} }\n",
        "mcp_servers.baton.command = '/old'\nmcp_servers.baton.args = [\n 'x', # why\n]\n",
        "[mcp_servers.baton.env]\nA = '1'\n",
        "[mcp_servers.baton]\nurl = 'https://example.org'\n[mcp_servers.baton.http_headers]\nA = 'b'\n[z]\n",
        "[mcp_servers.baton]",
    ];
    for shape in shapes {
        let changed = set(shape, Form::Toml, &entry(&["mcp"])).unwrap();
        assert_eq!(changed.kind, Kind::Change, "{shape:?}");
        assert_eq!(set(&changed.text, Form::Toml, &entry(&["mcp"])).unwrap().kind, Kind::None);
        assert_eq!(remove(&changed.text, Form::Toml).unwrap().kind, Kind::Remove, "{shape:?}");
    }
}

#[test]
fn a_server_elsewhere_is_replaced_as_a_whole() {
    let json = "{\"mcpServers\": {\"baton\": {\"url\": \"https://example.org/?key=secret\"}}}";
    let changed = set(json, JSON, &entry(&["mcp"])).unwrap();
    assert!(!changed.text.contains("url"), "{}", changed.text);
    assert!(!changed.shown.concat().contains("secret"), "{:?}", changed.shown);
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    let wrong = [
        (JSON, "{\n  \"a\": 1,\n  \"b\" 2\n}", 3),
        (JSON, "{\"a\": 1}}", 1),
        (JSON, "{\n'a': 1}", 2),
        (Form::Toml, "a = 1\nb = \n", 2),
        (Form::Toml, "a = 1\n\na = 2\n", 3),
    ];
    for (form, text, expected) in wrong {
        let Err(Mistake::Syntax { line, .. }) = set(text, form, &entry(&[])) else {
            panic!("{text:?} was read");
        };
        assert_eq!(line, expected, "{text:?}");
    }
    for text in ["[]", "1", "{\"mcpServers\": []}", "{\"mcpServers\": null}"] {
        assert!(matches!(set(text, JSON, &entry(&[])), Err(Mistake::Shape(_))), "{text}");
    }
    let twice = "{\"mcpServers\": {}, \"mcpServers\": {\"x\": {}}}";
    assert!(matches!(set(twice, JSON, &entry(&[])), Err(Mistake::Unusual)));
    let deep = format!("{}{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    assert!(set(&deep, JSON, &entry(&[])).is_err());
}
