//! What is known to be a secret in a session: also when its last tab was closed, and after its browser came back.
//!
//! The one idea: a session has one redactor, which all its tabs share, and which outlives them. Of the secrets it has
//! keyed hashes only. How many sessions are remembered has a bound; which had no tab for longest goes first.

use super::Redaction;
use baton_redaction::{Names, Redactor};
use baton_session::Owner;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Of how many sessions without a tab it is known what was a secret in them.
const MOST: usize = 256;

/// The redactor of a session, which its tabs share.
pub(super) type SharedRedactor = Arc<Mutex<Redactor>>;

/// The redactors of sessions, by owner and session.
#[derive(Debug, Default)]
pub(super) struct Redactors {
    known: HashMap<(Owner, String), Known>,
    /// How often one was asked for.
    uses: u64,
}

#[derive(Debug)]
struct Known {
    redactor: SharedRedactor,
    /// When it was asked for last, as a count.
    used: u64,
}

impl Redactors {
    /// That of a session; a new one where nothing is known of it.
    pub(super) fn of(
        &mut self,
        owner: &Owner,
        session: &str,
        redaction: &Redaction,
    ) -> SharedRedactor {
        self.uses += 1;
        let used = self.uses;
        let key = (owner.clone(), session.to_owned());
        if let Some(known) = self.known.get_mut(&key) {
            known.used = used;
            return Arc::clone(&known.redactor);
        }
        self.make_room();
        let names = Names::new(&redaction.names, &redaction.allow);
        let redactor = Arc::new(Mutex::new(Redactor::new(names, rand::random())));
        self.known.insert(key, Known { redactor: Arc::clone(&redactor), used });
        redactor
    }

    /// Forgets what was unused for longest; what a tab has stays.
    fn make_room(&mut self) {
        let unused = |known: &Known| Arc::strong_count(&known.redactor) == 1;
        while self.known.values().filter(|known| unused(known)).count() >= MOST {
            let oldest = self.known.iter().filter(|(_, known)| unused(known));
            let oldest = oldest.min_by_key(|(_, known)| known.used).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { return };
            self.known.remove(&oldest);
        }
    }
}
