//! What the text of a file becomes, and what of that a person is shown.

use super::entry::{self, Entry, Fields, NAME};
use super::mistake::Mistake;
use super::{Form, json, shown, toml};
use serde::Serialize;
use serde_json::{Map, Value};

/// What happens to the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
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
    pub(crate) kind: Kind,
    /// The whole text.
    pub(crate) text: String,
    /// The change for a person, line by line; `-` is what goes, `+` what comes.
    pub(crate) shown: Vec<String>,
}

/// Puts the entry into `text`.
pub(crate) fn set(text: &str, form: Form, entry: &Entry) -> Result<Edited, Mistake> {
    let (mark, body) = without_mark(text);
    let mut said = read(form, body)?;
    let current = said.get(form.key()).and_then(|servers| servers.get(NAME)).cloned();
    let keep = current.as_ref().is_none_or(entry::can_keep);
    let fields = entry.fields(form);
    let mut wanted = current.clone().filter(|_| keep).unwrap_or_default();
    for (key, value) in &fields {
        wanted[key.as_str()] = value.clone();
    }
    if current.as_ref() == Some(&wanted) {
        return Ok(Edited { kind: Kind::None, text: text.to_owned(), shown: Vec::new() });
    }
    let new = match form {
        Form::Json { key, .. } => json::set(body, key, &fields, keep)?,
        Form::Toml => toml::set(body, &fields, keep)?,
    };
    said[form.key()][NAME] = wanted;
    check(form, &new, said)?;
    let before = current.as_ref().map(entry::shown);
    let kind = if before.is_some() { Kind::Change } else { Kind::Add };
    Ok(Edited { kind, text: format!("{mark}{new}"), shown: differ(form, before, Some(fields)) })
}

/// Takes the entry out of `text`.
pub(crate) fn remove(text: &str, form: Form) -> Result<Edited, Mistake> {
    let (mark, body) = without_mark(text);
    let mut said = read(form, body)?;
    let servers = said.get_mut(form.key()).and_then(Value::as_object_mut);
    let Some(current) = servers.and_then(|servers| servers.remove(NAME)) else {
        return Ok(Edited { kind: Kind::None, text: text.to_owned(), shown: Vec::new() });
    };
    let new = match form {
        Form::Json { key, .. } => json::remove(body, key)?,
        Form::Toml => toml::remove(body)?,
    };
    check(form, &new, said)?;
    let shown = differ(form, Some(entry::shown(&current)), None);
    Ok(Edited { kind: Kind::Remove, text: format!("{mark}{new}"), shown })
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
    let side = |fields: Option<Fields>| {
        fields.map_or_else(|| shown::around(form), |fields| shown::lines(form, &fields))
    };
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
