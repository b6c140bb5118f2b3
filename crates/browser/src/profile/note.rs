//! The note in a profile that says whose state it holds.
//!
//! The one idea: a profile and a snapshot can only be compared when one came from the other. The note
//! names the term in which the profile's browser runs and the snapshot that it was made equal to; a
//! snapshot of another term, say one that another machine took, has nothing to do with this profile.

use super::{ProfileError, bounds};
use baton_session::{SnapshotId, Term, json};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The note's name in the profile.
pub(super) const NAME: &str = "baton.json";
/// The longest note, in bytes; a browser may write into its profile what it likes.
const LARGEST: u64 = 64 << 10;

/// Changes with every start of the machine (`random(4)`).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Whose state a profile holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The term in which its browser runs.
    pub term: Term,
    /// The snapshot that it was made equal to; none for a session that was just opened.
    #[serde(default)]
    pub from: Option<SnapshotId>,
    /// During which run of the machine; empty where that cannot be told.
    boot: String,
}

impl Note {
    /// A note of now.
    pub fn new(term: Term, from: Option<SnapshotId>) -> Self {
        Self { term, from, boot: boot() }
    }

    /// The note in a profile; none when there is none that can be read.
    pub fn read(profile: &Path) -> Option<Self> {
        serde_json::from_slice(&bounds::read(&profile.join(NAME), LARGEST).ok()?).ok()
    }

    /// Puts the note into a profile. It is not synced: one that a power cut took is no note, and then
    /// the snapshot counts.
    pub fn write(&self, profile: &Path) -> Result<(), ProfileError> {
        let (path, draft) = (profile.join(NAME), profile.join("baton.json.new"));
        let text = json::bytes(self);
        fs::write(&draft, text).map_err(ProfileError::new("write", &draft))?;
        fs::rename(&draft, &path).map_err(ProfileError::new("rename", &draft))
    }

    /// Whether the machine has run ever since.
    pub fn is_of_this_boot(&self) -> bool {
        !self.boot.is_empty() && self.boot == boot()
    }
}

fn boot() -> String {
    fs::read_to_string(BOOT_ID).map(|id| id.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_back_and_a_damaged_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Note::read(folder.path()), None);
        let note = Note::new(Term::from_i64(3), None);
        note.write(folder.path()).unwrap();
        let found = Note::read(folder.path()).unwrap();
        assert_eq!(found, note);
        assert!(found.is_of_this_boot());
        fs::write(folder.path().join(NAME), "{").unwrap();
        assert_eq!(Note::read(folder.path()), None);
    }
}
