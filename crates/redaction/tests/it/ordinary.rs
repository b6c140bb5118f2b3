//! Ordinary traffic of real applications: what was shown stays shown.
//!
//! `tests/ordinary/SOURCES.md` says how it was recorded. A line has in `secrets` what is one, in
//! `doubtful` what may be hidden or not, and in `before` the words that the redactor before this one hid.

use crate::{Line, Place, redactor};
use baton_redaction::HIDDEN;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

#[derive(Debug, Deserialize)]
struct Recorded {
    #[serde(default)]
    secrets: Vec<String>,
    #[serde(default)]
    doubtful: Vec<String>,
    #[serde(default)]
    before: Vec<String>,
    #[serde(flatten)]
    line: Line,
}

impl Recorded {
    fn text(&self) -> String {
        match &self.line.args {
            Some(args) => serde_json::to_string(args).unwrap(),
            None => self.line.text.clone().unwrap_or_default(),
        }
    }

    /// Whether a word is, or is part of, what is a secret.
    fn is_secret(&self, word: &str) -> bool {
        let mut all = self.secrets.iter().chain(&self.doubtful);
        all.any(|secret| secret.contains(word) || word.contains(secret.trim_end_matches('=')))
    }
}

/// Words and how often each is there: a value is one word or several.
fn words(text: &str) -> HashMap<&str, usize> {
    let parts = |c: char| c.is_whitespace() || "\"'`,;&=<>{}[]()?#/".contains(c);
    let mut words = HashMap::new();
    for word in text.split(parts).filter(|word| !word.is_empty()) {
        *words.entry(word).or_default() += 1;
    }
    words
}

fn recorded() -> impl Iterator<Item = (String, Recorded)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ordinary");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let files = files.into_iter().filter(|file| file.extension().is_some_and(|it| it == "jsonl"));
    files.flat_map(|file| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).unwrap();
        let lines: Vec<Recorded> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.into_iter().map(move |line| (name.clone(), line))
    })
}

/// A program that reads what is shown finds the same shape: JSON is JSON, and the names of forms and the tags of
/// markup are what they were.
fn assert_parses_as_before(app: &str, line: &Line, text: &str, shown: &str) {
    let shape: fn(&str) -> Vec<String> = match (line.place, line.mime.as_deref()) {
        (Place::Body | Place::Socket | Place::Console, _) if is_json(text) => {
            return assert!(is_json(shown), "{app}: no JSON any more: {shown}");
        }
        (Place::Body, Some(mime)) if mime.contains("urlencoded") => names,
        (Place::Body, Some(mime)) if mime.contains("xml") => tags,
        _ => return,
    };
    assert_eq!(shape(shown), shape(text), "{app}: another shape: {shown}");
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn names(form: &str) -> Vec<String> {
    form.split('&').map(|pair| pair.split('=').next().unwrap_or_default().to_owned()).collect()
}

fn tags(markup: &str) -> Vec<String> {
    let name = |tag: &str| tag.split([' ', '>', '\n', '\t']).next().unwrap_or_default().to_owned();
    markup.split('<').skip(1).map(name).collect()
}

/// Each line looks like a form of a secret and is none: not one word of it is hidden.
#[test]
fn what_looks_like_a_form_stays() {
    let alike = recorded().filter(|(app, _)| app == "alike");
    let hidden: Vec<String> = alike
        .map(|(_, one)| one.line.shown(&mut redactor()))
        .filter(|shown| shown.contains(HIDDEN))
        .collect();
    assert!(hidden.is_empty(), "{}", hidden.join("\n"));
}

#[test]
fn what_is_ordinary_stays() {
    let mut counts: BTreeMap<Place, (usize, usize)> = BTreeMap::new();
    let mut redactors = HashMap::new();
    for (app, recorded) in recorded() {
        let text = recorded.text();
        let redactor = redactors.entry(app.clone()).or_insert_with(redactor);
        let shown = recorded.line.shown(redactor);
        let shown = match recorded.line.place {
            Place::Console if recorded.line.args.is_some() => {
                shown.split_once('\n').unwrap().0.to_owned()
            }
            _ => shown,
        };
        assert_parses_as_before(&app, &recorded.line, &text, &shown);
        let mut before = words(&text);
        for word in &recorded.before {
            if let Some(count) = before.get_mut(word.as_str()) {
                *count = count.saturating_sub(1);
            }
        }
        let after = words(&shown);
        let (all, hidden) = counts.entry(recorded.line.place).or_default();
        for (word, count) in before {
            if recorded.is_secret(word) {
                continue;
            }
            let lost = count.saturating_sub(after.get(word).copied().unwrap_or_default());
            *all += count;
            *hidden += lost;
            if lost > 0 && std::env::var_os("BATON_SHOW_FORMS").is_some() {
                let at = text.find(word).unwrap_or_default();
                let around = &text[text.floor_char_boundary(at.saturating_sub(60))
                    ..text.ceil_char_boundary((at + word.len() + 30).min(text.len()))];
                eprintln!(
                    "HID {app} {:?} {:?}: {word}   …{around:?}",
                    recorded.line.place,
                    recorded.line.header.as_deref().or(recorded.line.mime.as_deref())
                );
            }
        }
    }
    let (all, hidden) = counts.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{counts:?}");
    assert!(hidden * 1000 <= all, "{hidden} of {all} words that were shown are hidden");
}
