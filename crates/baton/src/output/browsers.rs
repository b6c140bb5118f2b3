//! Browsers of this machine for people.

use super::table::{Table, plain};
use baton_browser::install::InstalledBrowser;
use serde::Serialize;
use std::path::PathBuf;

/// A browser that is there.
#[derive(Debug, Serialize)]
pub(crate) struct ListedBrowser {
    /// What the settings call it.
    pub(crate) name: &'static str,
    /// Its version, where it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// Whether sessions start it.
    pub(crate) used: bool,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// The program.
    pub(crate) program: PathBuf,
}

/// Browsers, one a row.
pub(crate) fn browsers(list: &[ListedBrowser]) -> String {
    let mut table = Table::new(&["BROWSER", "VERSION", "USED", "PROBLEM", "PROGRAM"]);
    for one in list {
        table.row([
            one.name.to_owned(),
            one.version.clone().unwrap_or_default(),
            if one.used { "yes" } else { "" }.to_owned(),
            one.problem.clone().unwrap_or_default(),
            one.program.display().to_string(),
        ]);
    }
    table.render()
}

/// A browser that was installed.
#[derive(Debug, Serialize)]
pub(crate) struct InstalledView {
    version: String,
    program: PathBuf,
    /// Whether it was there before.
    was_there: bool,
    /// What it lacks here to start, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

impl InstalledView {
    pub(crate) fn of(installed: &InstalledBrowser) -> Self {
        Self {
            version: installed.version.to_string(),
            program: installed.program.clone(),
            was_there: installed.was_there,
            missing: installed.missing.as_ref().map(ToString::to_string),
        }
    }
}

/// The same for people.
pub(crate) fn installed_browser(view: &InstalledView) -> String {
    let verb = if view.was_there { "is installed already" } else { "is installed" };
    let mut text =
        format!("Chrome for Testing {} {verb}\n{}", view.version, view.program.display());
    for line in view.missing.iter().flat_map(|missing| missing.lines()) {
        text.push('\n');
        text.push_str(&plain(line));
    }
    text
}
