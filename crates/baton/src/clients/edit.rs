//! What the text of a file becomes, and what of that a person is shown, in the file's own form.

use super::{Fields, Form, Mistake, NAME, ServerEntry, can_keep, json, shown, toml};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// What happens to the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EditKind {
    /// Nothing: the file says already what it should.
    None,
    /// It is new.
    Add,
    /// It was another one.
    Change,
    /// It goes.
    Remove,
}

/// A text with the change in it.
#[derive(Debug)]
pub(crate) struct Edited {
    /// What changes.
    pub(crate) kind: EditKind,
    /// The whole text.
    pub(crate) text: String,
    /// The change for a person, line by line; `-` is what goes, `+` what comes.
    pub(crate) shown: Vec<String>,
}

/// Puts the entry into `text`.
pub(crate) fn set(text: &str, form: Form, entry: &ServerEntry) -> Result<Edited, Mistake> {
    let (mark, body) = without_mark(text);
    let mut said = read(form, body)?;
    let current = said.get(form.key()).and_then(|servers| servers.get(NAME)).cloned();
    let keep = current.as_ref().is_none_or(can_keep);
    let fields = entry.fields(form);
    let mut wanted = current.clone().filter(|_| keep).unwrap_or_default();
    for (key, value) in &fields {
        wanted[key.as_str()] = value.clone();
    }
    if current.as_ref() == Some(&wanted) {
        return Ok(Edited { kind: EditKind::None, text: text.to_owned(), shown: Vec::new() });
    }
    let new = match form {
        Form::Json { key, .. } => json::set(body, key, &fields, keep)?,
        Form::Toml => toml::set(body, &fields, keep)?,
    };
    said[form.key()][NAME] = wanted;
    check(form, &new, said)?;
    let before = current.as_ref().map(shown);
    let kind = if before.is_some() { EditKind::Change } else { EditKind::Add };
    Ok(Edited { kind, text: format!("{mark}{new}"), shown: differ(form, before, Some(fields)) })
}

/// Takes the entry out of `text`.
pub(crate) fn remove(text: &str, form: Form) -> Result<Edited, Mistake> {
    let (mark, body) = without_mark(text);
    let mut said = read(form, body)?;
    let servers = said.get_mut(form.key()).and_then(Value::as_object_mut);
    let Some(current) = servers.and_then(|servers| servers.remove(NAME)) else {
        return Ok(Edited { kind: EditKind::None, text: text.to_owned(), shown: Vec::new() });
    };
    let new = match form {
        Form::Json { key, .. } => json::remove(body, key)?,
        Form::Toml => toml::remove(body)?,
    };
    check(form, &new, said)?;
    let shown = differ(form, Some(shown(&current)), None);
    Ok(Edited { kind: EditKind::Remove, text: format!("{mark}{new}"), shown })
}

impl Form {
    /// Where the servers stand.
    fn key(self) -> &'static str {
        match self {
            Self::Json { key, .. } => key,
            Self::Toml => toml::KEY,
        }
    }
}

/// What a text says.
fn read(form: Form, text: &str) -> Result<Value, Mistake> {
    let said = match form {
        Form::Json { .. } => json::read(text)?,
        Form::Toml => toml::read(text)?,
    };
    match said.get(form.key()) {
        _ if !said.is_object() => Err(Mistake::Shape("the file")),
        Some(servers) if !servers.is_object() => Err(Mistake::Shape(form.key())),
        _ => Ok(said),
    }
}

/// A text that would be written must say what was meant, and nothing else.
fn check(form: Form, text: &str, meant: Value) -> Result<(), Mistake> {
    let says = read(form, text).map_err(|_| Mistake::Unusual)?;
    if settled(form, says) == settled(form, meant) { Ok(()) } else { Err(Mistake::Unusual) }
}

/// A list without servers is as good as none.
fn settled(form: Form, mut said: Value) -> Value {
    if let Some(said) = said.as_object_mut()
        && said.get(form.key()).and_then(Value::as_object).is_some_and(Map::is_empty)
    {
        said.remove(form.key());
    }
    said
}

/// Some editors put an invisible mark in front.
fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

/// What goes and what comes, with what stays around it.
fn differ(form: Form, before: Option<Fields>, after: Option<Fields>) -> Vec<String> {
    let side =
        |fields: Option<Fields>| fields.map_or_else(|| around(form), |fields| lines(form, &fields));
    differing(&side(before), &side(after))
}

/// The lines of two texts, the differing ones between what they begin and end with in common.
pub(crate) fn differing(before: &[String], after: &[String]) -> Vec<String> {
    let same = |(a, b): &(&String, &String)| a == b;
    let head = before.iter().zip(after).take_while(same).count();
    let (before_rest, after_rest) = (&before[head..], &after[head..]);
    let tail = before_rest.iter().rev().zip(after_rest.iter().rev()).take_while(same).count();
    let marked = |mark: &'static str, lines: &[String]| -> Vec<String> {
        lines.iter().map(|line| format!("{mark} {line}")).collect()
    };
    [
        marked(" ", &before[..head]),
        marked("-", &before_rest[..before_rest.len() - tail]),
        marked("+", &after_rest[..after_rest.len() - tail]),
        marked(" ", &after_rest[after_rest.len() - tail..]),
    ]
    .concat()
}

impl ServerEntry {
    /// What to paste into a file that cannot be changed.
    pub(crate) fn to_paste(&self, form: Form) -> String {
        lines(form, &self.fields(form)).join("\n")
    }
}

/// An entry with what is around it.
pub(super) fn lines(form: Form, fields: &Fields) -> Vec<String> {
    match form {
        Form::Toml => toml::block(fields),
        Form::Json { key, .. } => {
            let last = fields.len().saturating_sub(1);
            let fields = fields.iter().enumerate().map(|(index, (key, value))| {
                let comma = if index == last { "" } else { "," };
                format!("    {}: {}{comma}", json!(key), literal(value))
            });
            let head = [format!("{}: {{", json!(key)), format!("  {}: {{", json!(NAME))];
            let tail = ["  }".to_owned(), "}".to_owned()];
            head.into_iter().chain(fields).chain(tail).collect()
        }
    }
}

/// What is around an entry.
pub(super) fn around(form: Form) -> Vec<String> {
    match form {
        Form::Toml => Vec::new(),
        Form::Json { key, .. } => vec![format!("{}: {{", json!(key)), "}".to_owned()],
    }
}

/// A value on one line, with a space after each comma.
fn literal(value: &Value) -> String {
    let Value::Array(items) = value else { return value.to_string() };
    let mut text = String::new();
    for item in items {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{item}");
    }
    format!("[{text}]")
}

#[cfg(test)]
mod tests {
    use super::{EditKind, Form, Mistake, ServerEntry, remove, set};

    const JSON: Form = Form::Json { key: "mcpServers", typed: true };

    fn entry(args: &[&str]) -> ServerEntry {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        ServerEntry { command: "/opt/baton".to_owned(), args }
    }

    /// What was added goes again without a trace.
    fn there_and_back(form: Form, text: &str) {
        let entry = entry(&["mcp", "--with", "npx \"x\" {cdp_url}"]);
        let added = set(text, form, &entry).unwrap();
        assert_eq!(added.kind, EditKind::Add, "{text:?}");
        let again = set(&added.text, form, &entry).unwrap();
        assert_eq!((again.kind, &again.text), (EditKind::None, &added.text), "{text:?}");
        let removed = remove(&added.text, form).unwrap();
        assert_eq!(removed.kind, EditKind::Remove);
        assert_eq!(removed.text, text, "found {:?}", removed.text);
        assert_eq!(remove(text, form).unwrap().kind, EditKind::None);
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
            assert_eq!(changed.kind, EditKind::Change, "{shape:?}");
            assert_eq!(
                set(&changed.text, Form::Toml, &entry(&["mcp"])).unwrap().kind,
                EditKind::None
            );
            assert_eq!(
                remove(&changed.text, Form::Toml).unwrap().kind,
                EditKind::Remove,
                "{shape:?}"
            );
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
}
