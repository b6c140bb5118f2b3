//! What of a database was damaged, and passed over.

use super::Damage;
use std::fmt;

/// Places of a database that could not be read. What was behind them was read on, as Chromium does: it
/// has neither `paranoid_checks` nor an error for a bad record (`db/log_reader.cc`, `db/db_impl.cc`).
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(in crate::profile) struct Lost {
    places: usize,
    bytes: usize,
    /// What the first one is, and in which file.
    first: Option<(String, &'static str)>,
}

impl Lost {
    /// Notes a place of so many bytes; too much is none that one could read behind.
    pub(super) fn note(&mut self, damage: Damage, bytes: usize) -> Result<(), Damage> {
        let Damage::Bytes(what) = damage else { return Err(damage) };
        self.places += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.first.get_or_insert((String::new(), what));
        Ok(())
    }

    /// Adds what of the file with this name was lost.
    pub(super) fn add(&mut self, name: &str, other: &Self) {
        self.places += other.places;
        self.bytes = self.bytes.saturating_add(other.bytes);
        if let Some(what) = other.first() {
            self.first.get_or_insert((name.to_owned(), what));
        }
    }

    /// Whether everything was read.
    pub(in crate::profile) fn is_none(&self) -> bool {
        self.places == 0
    }

    /// What the first place is.
    pub(super) fn first(&self) -> Option<&'static str> {
        self.first.as_ref().map(|(_, what)| *what)
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many places, for the name of what was lost.
    pub(in crate::profile) fn place(&self) -> String {
        let places = if self.places == 1 { "place" } else { "places" };
        format!("{} damaged {places}", self.places)
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, what) = self.first.as_ref().map_or(("", ""), |(name, what)| (name, *what));
        let bytes = self.bytes;
        write!(f, "expected a whole LevelDB, found {bytes} bytes damaged, first in {name} {what}")
    }
}
