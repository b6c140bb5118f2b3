//! Settings whose name stands above them: secrets of Kubernetes, variables of Terraform.
//!
//! The one idea: the head of a block says what is in it, and the values within have names that say nothing.

use crate::names::Weight;
use crate::ranges::Ranges;
use crate::search::each;
use crate::work::Work;
use std::ops::Range;

/// What a document of a secret has in a line of its own.
const SECRET: &str = "kind: Secret";
/// How a variable begins, and how much of its block is looked at, in bytes.
const VARIABLE: &str = "variable \"";
const MAX_BLOCK: usize = 2048;
/// Words that begin a line with a name and, behind a blank, its value: of images, of Apache, of shells.
const SETTING: [&str; 3] = ["ENV ", "SetEnv ", "setenv "];

/// Notes the values of such blocks.
pub(crate) fn find(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    if text.contains(SECRET) {
        find_in_secrets(work, text, found);
    }
    find_users(work, text, found);
    for word in SETTING {
        for (at, _) in each(text, word) {
            let begins = at == 0 || text.as_bytes()[at - 1] == b'\n';
            let line = text[at + word.len()..].lines().next().unwrap_or_default();
            if begins
                && let Some((name, value)) = line.split_once(' ')
                && work.weigh(name) == Weight::Secret
                && work.hides(Weight::Secret, value)
            {
                let start = at + word.len() + name.len() + 1;
                found.add(start..start + value.len());
            }
        }
    }
    for (at, _) in each(text, VARIABLE) {
        let start = at + VARIABLE.len();
        let Some((name, _)) = text[start..].split_once('"').filter(|(name, _)| name.len() < 64)
        else {
            continue;
        };
        let weight = work.weigh(name);
        if weight > Weight::Plain
            && let Some(value) = default_of(text, start + name.len() + 1)
            && work.hides(weight, &text[value.clone()])
        {
            found.add(value);
        }
    }
}

/// Passwords of users below a name that says so: `list: |` of `chpasswd`, and what it is given by a shell.
const USERS: &str = "chpasswd";
/// How many lines are looked at below it.
const MAX_USERS: usize = 64;

/// Notes the second half of lines `user:password` below the name of what sets them.
fn find_users(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    for (at, _) in each(text, USERS) {
        let start = at + text[at..].find('\n').map_or(text.len() - at, |end| end + 1);
        let mut line = start;
        for one in text[start..].split_inclusive('\n').take(MAX_USERS) {
            let bare = one.trim().trim_start_matches("- ");
            let pair = bare.split_once(':').filter(|(user, rest)| {
                !user.is_empty()
                    && !rest.is_empty()
                    && !rest.contains(' ')
                    && user.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c))
            });
            match pair {
                Some((_, password)) if work.hides(Weight::Secret, password) => {
                    let end = line + one.trim_end().len();
                    found.add(end - password.len()..end);
                }
                // The list has a name of its own, and begins with a mark.
                _ if bare.ends_with([':', '|']) || pair.is_some() => {}
                _ => break,
            }
            line += one.len();
        }
    }
}

/// Notes values behind a blank in a list of commands: `Backlog SSId1 home; Password1 x`, as Tasmota has it.
pub(crate) fn find_commands(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    for (at, mark) in each(text, "acklog") {
        let mut start = at + mark.len();
        let line = text[start..].lines().next().unwrap_or_default();
        for part in line.split(';').filter(|_| line.contains(';')) {
            let bare = part.trim_start_matches(['0', '1', '2', ' ']);
            if let Some((name, value)) = bare.trim_end().split_once(' ')
                && name.bytes().all(|c| c.is_ascii_alphanumeric())
                && work.weigh(name) == Weight::Secret
                && work.hides(Weight::Secret, value)
            {
                let from = start + part.len() - bare.len() + name.len() + 1;
                found.add(from..from + value.len());
            }
            start += part.len() + 1;
        }
    }
}

/// Where the value stands that a variable has when nobody gives one.
fn default_of(text: &str, from: usize) -> Option<Range<usize>> {
    let near = &text[from..text.floor_char_boundary(from + MAX_BLOCK)];
    let block = &near[..near.find("\n}").unwrap_or(near.len())];
    let value = block.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix("default")?.trim_start().strip_prefix('=')?;
        rest.trim_start().strip_prefix('"')
    })?;
    let start = value.as_ptr().addr() - text.as_ptr().addr();
    Some(start..start + value.find('"').unwrap_or(value.len()))
}

/// The values under `data` and `stringData`, in each document of YAML that is a secret.
fn find_in_secrets(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    let mut at = 0;
    for document in text.split("\n---") {
        if document.lines().any(|line| line.trim_start_matches(['-', ' ']) == SECRET) {
            find_in_secret(work, document, at, found);
        }
        at += document.len() + "\n---".len();
    }
}

fn find_in_secret(work: &mut Work<'_>, document: &str, offset: usize, found: &mut Ranges) {
    // How far the block is indented, and the first name in it.
    let (mut block, mut names) = (None, None);
    let mut at = offset;
    for line in document.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        if block.is_none_or(|block| indent <= block) {
            (block, names) = (matches!(text, "data:" | "stringData:").then_some(indent), None);
            continue;
        }
        // What is indented further goes on with the value above.
        let is_name = indent <= *names.get_or_insert(indent);
        let value =
            if is_name { text.split_once(':').map_or("", |(_, value)| value) } else { text };
        let value = value.trim();
        let begins_block = is_name && value.trim_end_matches(['-', '+']).len() <= 1;
        let end = start + line.trim_end().len();
        if !begins_block && work.hides(Weight::Secret, value.trim_matches(['"', '\''])) {
            found.add(end - value.len()..end);
        }
    }
}
