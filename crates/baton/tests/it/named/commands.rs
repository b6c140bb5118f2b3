//! Commands of the program, and their flags.

use super::{Code, Finding, codes, report, root};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// Flags of other programs that pages name by themselves, and whose they are.
const FLAGS_ELSEWHERE: &[(&str, &str)] = &[
    ("--cdp", "agent-browser"),
    ("--ignore-certificate-errors-spki-list", "Chromium"),
    ("--proxy-server", "Chromium"),
    ("--publish", "Podman and Docker"),
    ("--remote-debugging-pipe", "Chromium"),
    ("--remote-debugging-port", "Chromium"),
    ("--restore", "agent-browser"),
    ("--user-data-dir", "Chromium"),
];

/// What begins like a command and is none.
const COMMANDS_ELSEWHERE: &[(&str, &str)] =
    &[("baton sync file v1", "what a key of a session file is derived for")];

/// A command, as its help shows it.
struct Command {
    /// Its flags, each with whether a value follows.
    flags: BTreeMap<String, bool>,
    below: BTreeSet<String>,
    /// Whether it does nothing by itself.
    needs_one_below: bool,
}

impl Command {
    fn read(help: &str) -> Self {
        let flag =
            Regex::new(r"(?m)^(?:  (-\w), |      )(--[a-z][a-z0-9-]*)?( <|=<|\[=)?").unwrap();
        let mut flags = BTreeMap::new();
        for found in flag.captures_iter(help) {
            let takes_value = found.get(3).is_some();
            for name in [found.get(1), found.get(2)].into_iter().flatten() {
                flags.insert(name.as_str().to_owned(), takes_value);
            }
        }
        let usage = help.lines().find(|line| line.starts_with("Usage:")).unwrap();
        Self { flags, below: BTreeSet::new(), needs_one_below: usage.ends_with("<COMMAND>") }
    }
}

/// The commands by their names.
struct Program(BTreeMap<Vec<String>, Command>);

impl Program {
    /// Reads the page that is the program's own help, as its test holds it.
    fn read() -> Self {
        let page = std::fs::read_to_string(root().join("docs/reference/cli.md")).unwrap();
        let mut all = BTreeMap::new();
        for section in page.split("\n## baton").skip(1) {
            let (title, help) = section.split_once('\n').unwrap();
            let name: Vec<String> = title.split_whitespace().map(ToOwned::to_owned).collect();
            all.insert(name, Command::read(help));
        }
        let names: Vec<Vec<String>> = all.keys().cloned().collect();
        for name in names {
            if let Some((last, above)) = name.split_last() {
                all.get_mut(above).unwrap().below.insert(last.clone());
            }
        }
        Self(all)
    }

    fn has_flag(&self, flag: &str) -> bool {
        self.0.values().any(|command| command.flags.contains_key(flag))
    }

    /// Whether these words, behind the name of the program, are a command with flags of its own.
    fn check(&self, words: &[String]) -> Result<(), String> {
        let mut at = Vec::new();
        let mut command = &self.0[&at];
        let mut words = words.iter().map(String::as_str);
        let mut is_over = false;
        while let Some(word) = words.next().filter(|_| !is_over) {
            // In a sentence it ends before its line does.
            is_over = word.ends_with([',', '.', ';', ':']);
            let word = word.trim_end_matches([',', '.', ';', ':']);
            if word == "--" {
                // What comes after it is given to the server that is installed.
                return if at == ["mcp", "install"] {
                    let rest = ["mcp"].into_iter().chain(words).map(ToOwned::to_owned);
                    self.check(&rest.collect::<Vec<_>>())
                } else {
                    Ok(())
                };
            }
            if word.starts_with('-') && word != "-" {
                let (flag, value) =
                    word.split_once('=').map_or((word, None), |(a, b)| (a, Some(b)));
                let Some(takes_value) = command.flags.get(flag) else {
                    return Err(format!("baton {} has no {flag}", at.join(" ")));
                };
                if *takes_value && value.is_none() {
                    is_over = words.next().is_none_or(|value| value.ends_with(','));
                }
            } else if command.below.contains(word) {
                at.push(word.to_owned());
                command = &self.0[&at];
            } else if command.needs_one_below && !word.starts_with(['…', '[', '<']) {
                return Err(format!("there is no {word} below baton {}", at.join(" ")));
            }
        }
        Ok(())
    }
}

/// The commands in a piece of code: the words behind the name of the program.
fn commands(code: &Code) -> Vec<Vec<String>> {
    let begin = Regex::new(
        r#"(?:^\s*|\$\(|&&\s+|\|\s+|;\s+|:\s+)(?:[A-Z_]+=(?:"[^"]*"|[^\s"]\S*)\s+)*(?:target/debug/)?baton((?:\s|$).*)"#,
    )
    .unwrap();
    let prompt = Regex::new(r"^[a-z]*\$ ").unwrap();
    let list = Regex::new(r#""baton"\]?,\s*(?:args=|"args":\s*)?\[([^\]]*)\]"#).unwrap();
    let mut found = Vec::new();
    for line in code.text.replace("\\\n", " ").lines() {
        let mut rest = prompt.replace(line, "").into_owned();
        while let Some(command) = begin.captures(&rest) {
            let behind = command[1].to_owned();
            found.push(words(&behind));
            rest = behind;
        }
    }
    for words in list.captures_iter(&code.text) {
        found.push(
            words[1].split(',').map(|word| word.trim().trim_matches('"').to_owned()).collect(),
        );
    }
    found
}

/// The words of a command, up to what ends it in a shell.
fn words(text: &str) -> Vec<String> {
    let (mut quote, mut end) = (None, text.len());
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (None, '|' | ';' | '(' | ')' | '&' | '>' | '#') => {
                end = at;
                break;
            }
            // What is closed here was opened before the command.
            (None, '\'' | '"') if !text[at + 1..].contains(char) => {
                end = at;
                break;
            }
            (None, '\'' | '"') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            _ => {}
        }
    }
    let text = &text[..end];
    let plain = || text.split_whitespace().map(ToOwned::to_owned).collect();
    shell_words::split(text).unwrap_or_else(|_| plain())
}

/// Whether a page says that this is typed, rather than that something says it.
fn is_typed(code: &Code) -> bool {
    code.is_span() || code.language() == "console"
}

#[test]
fn every_command_that_a_page_names_is_there_with_its_flags() {
    let program = Program::read();
    let (mut findings, mut checked) = (Vec::new(), 0);
    for code in codes() {
        for words in commands(&code) {
            // A sentence may begin with the name of the program.
            let is_command =
                words.first().is_some_and(|word| program.0[&[][..]].below.contains(word));
            if is_typed(&code) || is_command {
                checked += 1;
                let name = format!("baton {}", words.join(" "));
                findings.extend(
                    program.check(&words).err().map(|why| code.finding(name.trim_end(), &why)),
                );
            }
        }
    }
    assert!(checked > 300, "expected the commands of all pages, found {checked}");
    report(findings, COMMANDS_ELSEWHERE);
}

#[test]
fn every_flag_that_a_page_names_by_itself_is_one_of_some_command() {
    let program = Program::read();
    let mut findings: Vec<Finding> = Vec::new();
    for code in codes().iter().filter(|code| code.is_span() && code.text.starts_with("--")) {
        let flags =
            code.text.split([' ', '=']).filter(|word| word.len() > 2 && word.starts_with("--"));
        let missing = flags.filter(|flag| !program.has_flag(flag));
        findings.extend(missing.map(|flag| code.finding(flag, "no command has this flag")));
    }
    report(findings, FLAGS_ELSEWHERE);
}

#[test]
fn a_command_that_is_not_there_is_told() {
    let program = Program::read();
    let check = |line: &str| program.check(&words(line));
    assert_eq!(check("--data /srv/baton sessions show shop --json"), Ok(()));
    assert_eq!(check("mcp install codex -- --with 'npx other --flag'"), Ok(()));
    assert_eq!(check("sandbox exec s1 -- ls --all"), Ok(()));
    assert_eq!(check("open URL --nam shop"), Err("baton open has no --nam".to_owned()));
    assert_eq!(check("mcp install codex -- --wth x"), Err("baton mcp has no --wth".to_owned()));
    let none = "there is no shw below baton sessions".to_owned();
    assert_eq!(check("sessions shw shop"), Err(none));
}
