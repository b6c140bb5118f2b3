//! What users do at their nodes, and what they have seen when they do it.

use super::node::{content, deleted, log_in};
use super::oracle::sites;
use super::step::Value;
use super::world::World;
use baton_session::{Cookie, Signed, Site, State};

/// The cookies of a site.
pub(super) fn cookies_of<'a>(state: &'a State, site: &'a Site) -> impl Iterator<Item = &'a Cookie> {
    state.cookies.iter().filter(|cookie| cookie.site() == *site)
}

impl World {
    pub(super) fn state(&self, signed: &Signed) -> State {
        self.states[&signed.checksum].clone()
    }

    pub(super) fn edit(&mut self, at: usize, site: u8, value: Value) {
        let Some(base) = self.folder(at).base.clone() else { return };
        let mut state = self.state(&base);
        let value = match value {
            Value::Fresh => format!("fresh at {}", self.time),
            Value::Common(value) => format!("common {value}"),
        };
        log_in(&mut state, site, value);
        self.folder(at).base = self.save(at, Some(&base), state);
    }

    /// Writes a revision on top of `base`, and tells the oracle.
    pub(super) fn save(
        &mut self,
        at: usize,
        base: Option<&Signed>,
        state: State,
    ) -> Option<Signed> {
        if !self.oracle.has_room() {
            return base.cloned();
        }
        let content = content(&state);
        let before = base.map(|base| self.state(base)).unwrap_or_default();
        let is_changed = |site: &Site| !cookies_of(&before, site).eq(cookies_of(&state, site));
        let changed: Vec<Site> = sites().into_iter().filter(is_changed).collect();
        self.states.insert(content.checksum, state);
        let author = self.nodes[at].author(self.time);
        let written = self.folder(at).replica.edit(base, content, &author);
        if self.oracle.find(written.id()).is_none() {
            let mut seen = self.oracle.edit(&changed) | self.oracle.all(base);
            for parent in &written.parents {
                // The model may know that another revision says the same as the base; no more.
                if let Some(parent) = self.nodes[at].folder.replica.find(*parent) {
                    assert_eq!(Some(parent.checksum), base.map(|base| base.checksum));
                }
                seen |= self.oracle.seen(*parent);
            }
            self.oracle.note(written.id(), seen);
        }
        self.folder(at).acknowledged |= self.oracle.seen(written.id());
        self.folder(at).base = Some(written.clone());
        self.settle(at);
        Some(written)
    }

    pub(super) fn reopen(&mut self, at: usize) {
        let current = self.folder(at).replica.current().filter(|current| !current.deleted).cloned();
        self.folder(at).base = current;
    }

    pub(super) fn delete(&mut self, at: usize) {
        if self.folder(at).replica.current().is_some() {
            self.end(at, None);
        }
    }

    pub(super) fn resolve(&mut self, at: usize, keep: u8) {
        let replica = &self.nodes[at].folder.replica;
        if !replica.siblings().is_empty() {
            let whole: Vec<&Signed> = replica.whole().collect();
            let keep = whole[usize::from(keep) % whole.len()];
            let state = (!keep.deleted).then(|| self.state(keep));
            self.end(at, state.as_ref());
        }
    }

    /// The user, who was shown all that is there, ends every conflict with a state, or with none.
    pub(super) fn end(&mut self, at: usize, state: Option<&State>) {
        if !self.oracle.has_room() {
            return;
        }
        let shown = self.oracle.all(self.nodes[at].folder.replica.whole());
        let author = self.nodes[at].author(self.time);
        let replica = &mut self.nodes[at].folder.replica;
        let written = match state {
            Some(state) => replica.resolve(content(state), &author),
            None => replica.delete(deleted(), &author),
        };
        if self.oracle.find(written.id()).is_none() {
            let seen = shown | self.oracle.edit(&sites());
            self.oracle.note(written.id(), seen);
        }
        self.folder(at).acknowledged |= self.oracle.seen(written.id());
        self.settle(at);
        self.reopen(at);
    }

    pub(super) fn hand(&mut self, at: usize) {
        self.reopen(at);
        if let Some(handed) = self.folder(at).base.clone() {
            self.legacy = Some(self.state(&handed));
            self.folder(at).handed = Some(handed);
        }
    }

    pub(super) fn take_back(&mut self, at: usize, site: Option<u8>) {
        let Some(mut state) = self.legacy.clone() else { return };
        if let Some(site) = site {
            log_in(&mut state, site, format!("legacy at {}", self.time));
            self.legacy = Some(state.clone());
        }
        let base = self.folder(at).handed.clone();
        let shown = self.folder(at).base.clone();
        self.folder(at).handed = self.save(at, base.as_ref(), state);
        self.folder(at).base = shown;
    }
}
