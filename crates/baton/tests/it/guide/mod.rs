//! A guide as its reader meets it: what is typed, section by section, and a shell to type it in.
//!
//! Whatever stands in a block of code is taken by a story, or left out with a reason. At the end nothing may
//! be left over, so that a new line in a guide is never one that nobody has typed.

mod backup;
mod move_a_login;

use assert_cmd::cargo::cargo_bin;
use baton_playground::{Page, victims};
use baton_store::data::DataFolder;
use regex::Regex;
use serde_json::Value;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The blocks of code of a guide, cut into what is done one after the other.
pub(crate) struct Guide(Vec<Item>);

struct Item {
    /// The heading that it stands under.
    section: String,
    step: Step,
    is_told: bool,
}

/// A line that is typed (`console`), or a block of another language as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) language: String,
    /// The second word behind the fence: the file that the block is.
    pub(crate) file: Option<String>,
    /// What is typed, without its prompt unless that is root's; or the block.
    pub(crate) text: String,
    /// What the guide shows below the line.
    pub(crate) shown: String,
}

impl Guide {
    /// Reads a guide.
    pub(crate) fn read(text: &str) -> Self {
        let mut items = Vec::new();
        let mut section = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(info) = line.strip_prefix("```") {
                let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                let steps = steps(info, &block).into_iter();
                items.extend(steps.map(|step| Item {
                    section: section.clone(),
                    step,
                    is_told: false,
                }));
            } else if line.starts_with('#') {
                line.trim_start_matches('#').trim().clone_into(&mut section);
            }
        }
        Self(items)
    }

    /// What is done in a section, in its order. It is the story's from now on.
    pub(crate) fn section(&mut self, title: &str) -> Vec<Step> {
        let items = self.0.iter_mut().filter(|item| item.section == title);
        let steps: Vec<Step> = items
            .map(|item| {
                item.is_told = true;
                item.step.clone()
            })
            .collect();
        assert!(!steps.is_empty(), "expected something to do under {title}, found nothing");
        steps
    }

    /// The block of this language in a section, for a story that does only that.
    pub(crate) fn block(mut self, title: &str, language: &str) -> String {
        let mut steps = self.section(title).into_iter();
        let found = steps.find(|step| step.language == language);
        found.expect("expected a block of that language").text
    }

    /// Leaves steps out, each named by its first line, and why nobody does it.
    pub(crate) fn leave_out(&mut self, steps: &[(&str, &str)]) {
        for (line, why) in steps {
            let is_it = |item: &&mut Item| item.step.text.lines().next() == Some(line);
            let found = self.0.iter_mut().filter(is_it).map(|item| item.is_told = true);
            assert!(
                found.count() > 0,
                "expected to leave out {line:?} ({why}), found no such line"
            );
        }
    }

    /// Ends a guide of which nothing is left over.
    pub(crate) fn end(self) {
        let left = self.0.iter().filter(|item| !item.is_told);
        let left: Vec<_> = left.map(|item| (&item.section, &item.step.text)).collect();
        assert!(
            left.is_empty(),
            "expected all of the guide to be typed or left out, found {left:#?}"
        );
    }
}

/// What is done in a block: the lines behind its prompts, or the block as it is.
fn steps(info: &str, block: &[&str]) -> Vec<Step> {
    let mut words = info.split_whitespace().map(ToOwned::to_owned);
    let language = words.next().unwrap_or_default();
    let file = words.next();
    let step = |text: String| Step {
        language: language.clone(),
        file: file.clone(),
        text,
        shown: String::new(),
    };
    if language != "console" {
        return vec![step(block.iter().flat_map(|line| [*line, "\n"]).collect())];
    }
    let mut steps: Vec<Step> = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(typed), _) => steps.push(step(typed.to_owned())),
            (None, Some(before)) if before.shown.is_empty() && goes_on(&before.text) => {
                before.text.push('\n');
                before.text.push_str(line);
            }
            // Below a line of one's own it may be what a program shows.
            (None, Some(before)) if !before.text.starts_with("# ") => {
                before.shown.push_str(line);
                before.shown.push('\n');
            }
            _ => {
                assert!(line.starts_with("# "), "expected a prompt, found {line:?}");
                steps.push(step((*line).to_owned()));
            }
        }
    }
    steps
}

/// Whether a shell waits for the rest of what was typed.
fn goes_on(typed: &str) -> bool {
    let mut open = None;
    for char in typed.chars().filter(|char| matches!(char, '\'' | '"')) {
        open = match open {
            Some(quote) if quote == char => None,
            None => Some(char),
            quote => quote,
        };
    }
    open.is_some() || typed.ends_with(['\\', '|'])
}

impl Step {
    /// Holds what a program said to what the guide shows, where it shows something: `…` is what differs.
    pub(crate) fn shows(&self, said: &str) {
        let shown = self.shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let pattern = regex::escape(&shown).replace('…', ".*");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_shown =
            shown.is_empty() || Regex::new(&format!("^{pattern}$")).unwrap().is_match(&said);
        assert!(is_shown, "{}: expected {shown:?}, found {said:?}", self.text);
    }
}

/// Somebody who reads a guide, with the program and a home of their own. Nobody outlives them.
pub(crate) struct Reader {
    home: TempDir,
    instead: Vec<(String, String)>,
    variables: Vec<(&'static str, OsString)>,
    /// What goes on in terminals that stay open.
    started: Vec<Child>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        victims::naming(self.home.path()).into_iter().for_each(victims::kill);
        for child in &mut self.started {
            let _ = child.wait();
        }
    }
}

impl Reader {
    pub(crate) fn new() -> Self {
        let home = tempfile::Builder::new().prefix("baton-").tempdir().unwrap();
        Self { home, instead: Vec::new(), variables: Vec::new(), started: Vec::new() }
    }

    /// Their home, in which they begin.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The data folder of their node.
    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// From now on this is typed in the place of an example, and what is said is told with the example's.
    pub(crate) fn instead(&mut self, example: &str, own: impl Into<String>) {
        self.instead.retain(|(before, _)| before != example);
        self.instead.push((example.to_owned(), own.into()));
    }

    /// A folder of theirs stands in the place of one that an example names.
    pub(crate) fn folder(&mut self, example: &str) -> PathBuf {
        // Its path has nothing of the example in it, so that either can be put in the place of the other.
        let own = self.home.path().join(format!("at{}", example.replace('/', "-")));
        std::fs::create_dir(&own).unwrap();
        self.instead(example, own.to_str().unwrap());
        own
    }

    /// From now on a variable is set in the shell.
    pub(crate) fn set(&mut self, variable: &'static str, value: impl Into<OsString>) {
        self.variables.push((variable, value.into()));
    }

    /// What an example is for this reader.
    pub(crate) fn own(&self, text: &str) -> String {
        replace_all(text, self.instead.iter().map(|(example, own)| (example, own)))
    }

    /// What is this reader's own, as an example has it.
    fn as_example(&self, text: &str) -> String {
        let own = self.instead.iter().filter(|(_, own)| !own.is_empty());
        replace_all(text, own.map(|(example, own)| (own, example)))
    }

    /// Types lines into a shell that ends at the first one that fails. What it ended with, and what stands
    /// on the terminal then.
    pub(crate) fn tries(&self, lines: &str) -> (Option<i32>, String) {
        let done = self.shell(lines).output().unwrap();
        (done.status.code(), self.as_example(&String::from_utf8(done.stdout).unwrap()))
    }

    /// Types lines that have to succeed.
    pub(crate) fn types(&self, lines: &str) -> String {
        let (code, said) = self.tries(lines);
        assert_eq!(code, Some(0), "{lines}: {said}");
        said
    }

    /// Types a line in a terminal that stays open: a file has what stands there.
    pub(crate) fn starts(&mut self, line: &str) -> PathBuf {
        let terminal = self.home.path().join(format!("terminal-{}", self.started.len()));
        let said = File::create(&terminal).unwrap();
        let child = self.shell(&format!("exec {line}")).stdout(said).spawn().unwrap();
        self.started.push(child);
        terminal
    }

    /// Types the lines of a section one after the other, and holds each to what the guide shows.
    pub(crate) fn follows(&self, steps: &[Step]) -> Vec<String> {
        let said = steps.iter().map(|step| {
            assert_eq!(step.language, "console", "{step:?}");
            let said = self.types(&step.text);
            step.shows(&said);
            said
        });
        said.collect()
    }

    /// How a session of a node stands, asked by `baton` with these words: its state, and the title of its tab.
    pub(crate) fn stands(&self, baton: &str, name: &str) -> (String, String) {
        let shown = self.session(baton, name);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&shown["state"]), text(&shown["tabs"][0]["title"]))
    }

    /// The tab of a session in a data folder.
    pub(crate) async fn page(&self, data: &Path, name: &str, url: &str) -> Page {
        let shown = self.session(&format!("baton --data {}", data.display()), name);
        let id = shown["id"].as_str().unwrap().parse().unwrap();
        Page::attach(&DataFolder::at(data).unwrap().socket(id), url).await.unwrap()
    }

    fn session(&self, baton: &str, name: &str) -> Value {
        let shown = self.types(&format!("{baton} --quiet --json sessions show {name}"));
        serde_json::from_str(&shown).unwrap()
    }

    /// The first processes of browsers that work for this reader.
    pub(crate) fn browsers(&self) -> Vec<u32> {
        let is_browser = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            line.contains("--user-data-dir=") && !line.contains("--type=")
        };
        victims::naming(self.home.path()).into_iter().filter(is_browser).collect()
    }

    fn shell(&self, lines: &str) -> Command {
        let lines = self.own(lines);
        let program = cargo_bin("baton");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(program.parent().unwrap().to_owned());
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
        let mut shell = Command::new("sh");
        // What somebody has set for nodes of their own is not for this reader's.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"BATON_") && name != "BATON_LOG" {
                shell.env_remove(name);
            }
        }
        shell
            .args(["-ec", &format!("exec 2>&1\n{lines}")])
            .current_dir(self.home.path())
            .env("PATH", path)
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path())
            .env("BATON_DATA", self.data())
            // The usual port is for whoever works on this machine.
            .env("BATON_LISTEN", "127.0.0.1:0")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        shell
    }
}

/// Puts each second text in the place of the first, the longest first, for one may begin another.
fn replace_all<'t>(text: &str, pairs: impl Iterator<Item = (&'t String, &'t String)>) -> String {
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
    pairs.into_iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[test]
#[should_panic(expected = "baton two")]
fn a_line_that_no_story_types_or_leaves_out_is_told() {
    let page = "# Page\n\n## One\n\n```console\n$ baton one\nshown\n```\n\n## Two\n\n```console\n$ baton two\n```\n";
    let mut guide = Guide::read(page);
    let [one] = &guide.section("One")[..] else { panic!("expected one step") };
    assert_eq!((one.text.as_str(), one.shown.as_str()), ("baton one", "shown\n"));
    guide.end();
}
