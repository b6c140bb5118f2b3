//! Which of a person's own profiles is meant.

use super::error::NotImported;
use crate::browsers::{Browser, Own};
use crate::output;
use baton_session::printable::Printable;
use console::Term;
use std::io::IsTerminal;
use std::path::PathBuf;

/// The one that was named, the only one, or the one that somebody chose on a terminal.
pub(super) fn one(
    browser: Browser,
    mut all: Vec<Own>,
    looked: &[PathBuf],
    wanted: Option<&str>,
) -> anyhow::Result<Own> {
    if all.is_empty() {
        let looked: Vec<String> = looked.iter().map(|path| path.display().to_string()).collect();
        return Err(NotImported::NoneFound { browser, looked: looked.join(", ") }.into());
    }
    let there = listed(&all);
    if let Some(wanted) = wanted {
        all.retain(|own| own.is(wanted));
        let (wanted, found) = (wanted.to_owned(), all.len());
        return only(all)
            .ok_or_else(|| NotImported::NoneCalled { browser, wanted, found, there }.into());
    }
    let several = NotImported::Several { browser, found: all.len(), there };
    match all.len() {
        1 => only(all).ok_or_else(|| several.into()),
        count => match ask(browser, &all)? {
            Some(number @ 1..) if number <= count => Ok(all.swap_remove(number - 1)),
            _ => Err(several.into()),
        },
    }
}

fn only(mut all: Vec<Own>) -> Option<Own> {
    all.pop().filter(|_| all.is_empty())
}

fn listed(all: &[Own]) -> String {
    let lines: Vec<String> = all.iter().map(|own| output::plain(&own.to_string())).collect();
    lines.join("\n")
}

/// The number that somebody chose; none when nobody can be asked, or what was typed is no number.
fn ask(browser: Browser, all: &[Own]) -> anyhow::Result<Option<usize>> {
    let terminal = Term::stderr();
    if !std::io::stdin().is_terminal() || !terminal.is_term() {
        return Ok(None);
    }
    terminal.write_line(&format!("profiles of {browser}:"))?;
    for (position, line) in listed(all).lines().enumerate() {
        let line = Printable::for_terminal(line);
        terminal.write_line(&format!("  {}  {line}", position + 1))?;
    }
    terminal.write_str(&format!("which one? [1-{}] ", all.len()))?;
    Ok(terminal.read_line()?.trim().parse().ok())
}
