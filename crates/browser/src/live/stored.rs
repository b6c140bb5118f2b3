//! What the mirror knows of caches, files and service workers, and what of it may have changed.
//!
//! The one idea: caches tell by events what changed in them. No event tells of files, and of
//! registrations only that a worker came or went; but what both look like is cheap to ask, so each
//! capture asks, and reads only what looks otherwise.

use super::mirror::Mirror;
use super::seen::{CacheLook, SeenRegistration, Sources};
use baton_session::{Cache, FileEntry, StorageKey, Text};

/// How many workers' scripts are kept until their registrations are seen.
const MOST_SOURCES: usize = 64;

impl Mirror {
    /// Replaces the caches that were read, drops those that are no longer there, and puts all in the
    /// order of `names`.
    pub(crate) fn set_caches(&mut self, key: &StorageKey, read: Vec<Cache>, names: &[Text]) {
        let caches = &mut self.origin(key).caches;
        caches.retain(|cache| names.contains(&cache.name));
        for cache in read {
            caches.retain(|known| known.name != cache.name);
            caches.push(cache);
        }
        for cache in caches.iter_mut() {
            let position = names.iter().position(|name| name == &cache.name);
            cache.position = position.and_then(|at| u32::try_from(at).ok()).unwrap_or_default();
        }
        caches.sort_by_key(|cache| cache.position);
    }

    /// How the caches of a key looked when they were read, for the page to compare.
    pub(crate) fn cache_looks(&self, key: &StorageKey) -> Vec<CacheLook<'_>> {
        let origin = self.state().origins.get(key);
        let caches = origin.map(|origin| origin.caches.as_slice()).unwrap_or_default();
        caches.iter().map(CacheLook::of).collect()
    }

    /// Replaces the files of a key; those that could not be read stay as they were. `look` says how
    /// all of them looked, when that says enough.
    pub(crate) fn set_files(
        &mut self,
        key: &StorageKey,
        mut read: Vec<FileEntry>,
        unread: &[String],
        look: Option<String>,
    ) {
        let files = &mut self.origin(key).files;
        read.extend(files.drain(..).filter(|known| unread.contains(&known.place())));
        *files = read;
        match look.filter(|_| unread.is_empty()) {
            Some(look) => drop(self.seen.files.insert(key.clone(), look)),
            None => drop(self.seen.files.remove(key)),
        }
    }

    /// How the files of a key looked when they were read.
    pub(crate) fn files_look(&self, key: &StorageKey) -> Option<String> {
        self.seen.files.get(key).cloned()
    }

    /// Notes how many bytes the files of a key's origin take.
    pub(crate) fn note_usage(&mut self, key: &StorageKey, usage: u64) {
        self.seen.usage.insert(key.origin().to_owned(), usage);
    }

    /// How many bytes the files of an origin took when somebody asked.
    pub(crate) fn usage(&self, origin: &str) -> Option<u64> {
        self.seen.usage.get(origin).copied()
    }

    /// Whether the key had files when somebody looked.
    pub(crate) fn has_files(&self, key: &StorageKey) -> bool {
        self.state().origins.get(key).is_some_and(|origin| !origin.files.is_empty())
    }

    /// Whether the key had service workers when somebody looked.
    pub(crate) fn has_workers(&self, key: &StorageKey) -> bool {
        self.state().origins.get(key).is_some_and(|origin| !origin.service_workers.is_empty())
    }

    /// Gives the scripts of a worker to its registration, or keeps them for when that is seen. No tab
    /// may show the site any more, and then nobody looks at its registrations again.
    pub(crate) fn keep_sources(&mut self, key: StorageKey, script_url: String, sources: Sources) {
        let mut is_known = false;
        for registration in &mut self.origin(&key).service_workers {
            if registration.script_url == script_url {
                registration.worker_type = Some(sources.worker_type);
                registration.scripts.clone_from(&sources.scripts);
                is_known = true;
            }
        }
        if is_known {
            return;
        }
        let all = &mut self.seen.sources;
        if all.len() >= MOST_SOURCES {
            all.pop_first();
        }
        all.insert((key, script_url), sources);
    }

    /// Replaces the registrations of a key. Their scripts are those of the worker that ran last, or
    /// what was known before.
    pub(crate) fn set_registrations(&mut self, key: &StorageKey, found: Vec<SeenRegistration>) {
        let known = std::mem::take(&mut self.origin(key).service_workers);
        let mut registrations = Vec::new();
        for found in found {
            let place = (key.clone(), found.script_url.clone());
            let before = known.iter().find(|one| one.script_url == found.script_url);
            let sources = self.seen.sources.get(&place).cloned();
            registrations.push(found.with(sources.or_else(|| before.and_then(Sources::of))));
        }
        let is_known = |url: &str| registrations.iter().any(|one| one.script_url == url);
        self.seen.sources.retain(|(of, url), _| of != key || !is_known(url));
        self.origin(key).service_workers = registrations;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::State;
    use baton_session::registration::{WorkerScript, WorkerType};
    use serde_json::json;

    #[test]
    fn scripts_that_come_late_belong_to_the_registration_that_is_known() {
        let mut mirror = Mirror::new(State::default());
        let key = StorageKey::first_party("https://app.test");
        let url = "https://app.test/sw.js".to_owned();
        let seen = json!({
            "scope": "https://app.test/", "scriptUrl": url, "updateViaCache": "imports",
            "navigationPreload": { "enabled": false, "header": "true" },
        });
        mirror.set_registrations(&key, vec![serde_json::from_value(seen).unwrap()]);
        let scripts = vec![WorkerScript { url: url.clone(), source: "onfetch = null".into() }];
        let sources = Sources { worker_type: WorkerType::Classic, scripts };
        mirror.keep_sources(key.clone(), url, sources);
        assert!(mirror.state().origins[&key].service_workers[0].is_whole());
    }

    #[test]
    fn caches_stand_in_the_order_in_which_the_page_lists_them() {
        let mut mirror = Mirror::new(State::default());
        let key = StorageKey::first_party("https://app.test");
        let cache = |name: &str| Cache { name: name.into(), position: 0, entries: Vec::new() };
        mirror.set_caches(&key, vec![cache("b"), cache("a")], &["b".into(), "a".into()]);
        mirror.set_caches(&key, vec![cache("c")], &["a".into(), "c".into()]);
        let caches = &mirror.state().origins[&key].caches;
        let found: Vec<_> =
            caches.iter().map(|cache| (cache.name.clone(), cache.position)).collect();
        assert_eq!(found, [("a".into(), 0), ("c".into(), 1)]);
    }
}
