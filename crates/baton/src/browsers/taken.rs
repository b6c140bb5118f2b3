//! Which profile of a folder was taken, as an answer tells it.

use crate::output;
use baton_browser::profile::read::{Choice, NamedProfile, Reason};
use serde::Serialize;
use std::path::PathBuf;

/// The profile that was taken, and those beside it that were not.
#[derive(Debug, Serialize)]
pub(crate) struct TakenProfile {
    /// Its folder.
    profile: PathBuf,
    /// What its browser shows as its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_name: Option<String>,
    /// The others in the same user data dir.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_profiles: Vec<OtherProfile>,
}

/// A profile that was not taken.
#[derive(Debug, Serialize)]
struct OtherProfile {
    folder: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl TakenProfile {
    pub(crate) fn of(choice: &Choice) -> Self {
        let other = |one: &NamedProfile| OtherProfile {
            folder: one.folder.path().to_owned(),
            name: one.name.clone(),
        };
        Self {
            profile: choice.taken.folder.path().to_owned(),
            profile_name: choice.taken.name.clone(),
            other_profiles: choice.others.iter().map(other).collect(),
        }
    }
}

/// Which one of several was taken, and how another one is; none where there is only one.
pub(crate) fn told(choice: &Choice) -> Option<String> {
    let why = match choice.reason {
        Reason::Only => return None,
        Reason::LastUsed => "which its browser used last",
        Reason::First => "for its browser does not say which one it used last",
    };
    let shown = |one: &NamedProfile| {
        let folder = one.folder.name();
        output::plain(&match &one.name {
            Some(name) => format!("{} ({folder})", name.trim()),
            None => folder,
        })
    };
    let others: Vec<String> = choice.others.iter().map(shown).collect();
    let first = choice.others.first().map(|one| one.folder.path().display().to_string());
    Some(format!(
        "of {} profiles {} was taken, {why}; not taken: {}\nto take another one name its folder: {}",
        choice.others.len() + 1,
        shown(&choice.taken),
        others.join(", "),
        output::plain(&first.unwrap_or_default())
    ))
}
