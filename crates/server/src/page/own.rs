//! Who is signed in to the page of a node that is one by itself.
//!
//! The one idea: the node knows it in memory, and has it in a file of its data folder, so that one which starts again
//! knows its pages. Of what opens them, both have hashes alone.

use super::halves::{NewPage, PageHalves, PageHash};
use super::live::{LivePage, PageKey, PagePerson, SESSIONS_OF_A_KEY};
use baton_store::blocking::blocking;
use baton_store::clock;
use baton_store::data::{DataError, DataFolder, write_private};
use baton_sync::oidc::RuleId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// How many there may be in all.
const MOST: usize = 1024;

#[derive(Clone, Serialize, Deserialize)]
struct StoredPage {
    cookie: PageHash,
    value: PageHash,
    #[serde(flatten)]
    key: PageKey,
    ends_at: Timestamp,
    /// Ends its streams.
    #[serde(skip)]
    ended: Arc<CancellationToken>,
}

/// The page sessions of a node. Cheap to clone.
#[derive(Clone)]
pub(crate) struct OwnPages(Arc<OwnPagesState>);

struct OwnPagesState {
    file: PathBuf,
    sessions: Mutex<HashMap<PageHash, StoredPage>>,
    /// Held while the file is written, so that the last one written is the newest.
    writing: tokio::sync::Mutex<()>,
    turn: tokio::sync::Mutex<()>,
}

impl OwnPages {
    /// Those that a data folder knows. A file that is damaged signs everybody out.
    pub(super) fn load(data: &DataFolder) -> Self {
        let file = data.page_file();
        let read = std::fs::read(&file).ok().map(|bytes| serde_json::from_slice(&bytes));
        let found: Vec<StoredPage> = match read {
            Some(Ok(found)) => found,
            Some(Err(error)) => {
                tracing::warn!(file = %file.display(), %error, "nobody is signed in to the page any more");
                Vec::new()
            }
            None => Vec::new(),
        };
        let now = clock::now();
        let living = found.into_iter().filter(|session| session.ends_at > now).take(MOST);
        let sessions = living.map(|session| (session.cookie, session)).collect();
        Self(Arc::new(OwnPagesState {
            file,
            sessions: Mutex::new(sessions),
            writing: tokio::sync::Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }))
    }

    /// Signs a page in; that is on disk when this returns.
    pub(super) async fn open(&self, key: PageKey) -> Result<NewPage, DataError> {
        let opened = key.new_page(clock::now());
        let (PageHalves { cookie, value }, ends_at) = (opened.halves(), opened.ends_at);
        let session = StoredPage { cookie, value, key, ends_at, ended: Arc::default() };
        {
            let sessions = &mut lock(&self.0.sessions);
            let key = &session.key;
            make_room(sessions, SESSIONS_OF_A_KEY as usize, |other| other.key.id == key.id);
            make_room(sessions, MOST, |_| true);
            sessions.insert(cookie, session);
        }
        match self.write().await {
            Ok(()) => Ok(opened),
            Err(error) => {
                lock(&self.0.sessions).remove(&cookie);
                Err(error)
            }
        }
    }

    /// The page session whose both halves a request shows, while it lasts.
    pub(super) fn find(&self, shown: &PageHalves) -> Option<LivePage> {
        let sessions = lock(&self.0.sessions);
        let session = sessions.get(&shown.cookie)?;
        let now = clock::now();
        let is_it = session.value == shown.value && session.ends_at > now;
        let (key, ends_at) = (session.key.clone(), session.ends_at);
        let ended = Arc::clone(&session.ended);
        let left = ends_at.duration_since(now);
        is_it.then(|| LivePage::new(shown.cookie, key, ends_at, left, ended))
    }

    /// Signs a page out: what it has open ends at once. Fails where a node that starts again would know it still.
    pub(super) async fn close(&self, shown: &PageHalves) -> Result<(), DataError> {
        if let Some(session) = lock(&self.0.sessions).remove(&shown.cookie) {
            session.ended.cancel();
        }
        self.write().await
    }

    /// The key behind the pages that a person has by this rule, if there is one.
    pub(super) fn key_of_person(&self, id: PageHash, rule: RuleId) -> Option<PageKey> {
        let now = clock::now();
        let sessions = lock(&self.0.sessions);
        let mut living = sessions.values().filter(|session| session.ends_at > now);
        let is_theirs = |person: &PagePerson| person.id == id && person.rule == rule;
        let found = living.find(|session| session.key.person.as_ref().is_some_and(is_theirs));
        found.map(|session| session.key.clone())
    }

    /// The ids of the keys that were made for persons who have a page, and when the first of these pages ends.
    pub(crate) fn keys_of_persons(&self) -> (BTreeSet<String>, Option<Timestamp>) {
        let now = clock::now();
        let sessions = lock(&self.0.sessions);
        let of_persons = sessions.values().filter(|session| session.key.person.is_some());
        let living = of_persons.filter(|session| session.ends_at > now);
        let first = living.clone().map(|session| session.ends_at).min();
        (living.map(|session| session.key.id.clone()).collect(), first)
    }

    /// Ends the pages of persons whom none of these rules let in.
    pub(super) async fn keep_rules(&self, rules: &BTreeSet<RuleId>) -> Result<(), DataError> {
        let is_kept = |session: &StoredPage| {
            session.key.person.as_ref().is_none_or(|person| rules.contains(&person.rule))
        };
        {
            let sessions = &mut lock(&self.0.sessions);
            if sessions.values().all(is_kept) {
                return Ok(());
            }
            sessions.retain(|_, session| {
                let is_kept = is_kept(session);
                if !is_kept {
                    session.ended.cancel();
                }
                is_kept
            });
        }
        self.write().await
    }

    /// Holds whoever makes a key for a person's page, or removes those without a page, until the other is done.
    pub(crate) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.0.turn.lock().await
    }

    async fn write(&self) -> Result<(), DataError> {
        let _writing = self.0.writing.lock().await;
        let sessions: Vec<StoredPage> = lock(&self.0.sessions).values().cloned().collect();
        let file = self.0.file.clone();
        let written =
            blocking(move || write_private(&file, &baton_session::json::bytes(&sessions)));
        // A node that ends writes no more: what is on disk then counts, so nobody is told that it is another.
        written.await.unwrap_or_else(|stopping| {
            Err(DataError::Io { path: self.0.file.clone(), source: stopping.into() })
        })
    }
}

/// Ends sessions that count until there is room for one more: those that have passed, else the one that ends
/// first.
fn make_room(
    sessions: &mut HashMap<PageHash, StoredPage>,
    most: usize,
    counts: impl Fn(&StoredPage) -> bool,
) {
    let now = clock::now();
    sessions.retain(|_, session| session.ends_at > now);
    while sessions.values().filter(|session| counts(session)).count() >= most {
        let counted = sessions.values().filter(|session| counts(session));
        let Some(first) = counted.min_by_key(|session| session.ends_at) else { return };
        let (cookie, ended) = (first.cookie, first.ended.clone());
        ended.cancel();
        sessions.remove(&cookie);
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::halves::{COOKIE_NAME, TAG_LENGTH};
    use axum::http::header::COOKIE;
    use axum::http::{HeaderMap, HeaderValue};
    use baton_api::PAGE_HEADER;
    use jiff::SignedDuration;
    use secrecy::{ExposeSecret, SecretString};

    fn key(id: &str) -> PageKey {
        let owner = "ada".parse().unwrap();
        PageKey { secret_hash: [7; 32], id: id.to_owned(), owner, person: None }
    }

    fn of_person(id: &str, rule: RuleId, ends_at: Timestamp) -> PageKey {
        PageKey { person: Some(PagePerson { id: [1; 32], rule, ends_at }), ..key(id) }
    }

    fn shown(cookie: &SecretString, value: &SecretString) -> PageHalves {
        let mut headers = HeaderMap::new();
        let tag = &value.expose_secret()[..TAG_LENGTH];
        let cookies = format!("other=1; {COOKIE_NAME}{tag}={}", cookie.expose_secret());
        headers.insert(COOKIE, HeaderValue::from_str(&cookies).unwrap());
        headers.insert(PAGE_HEADER, HeaderValue::from_str(value.expose_secret()).unwrap());
        PageHalves::of(&headers).unwrap()
    }

    fn folder() -> (tempfile::TempDir, DataFolder) {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::at(folder.path()).unwrap();
        (folder, data)
    }

    #[tokio::test]
    async fn both_halves_open_it_and_neither_does_alone() {
        let (_folder, data) = folder();
        let pages = OwnPages::load(&data);
        let (one, two) = (pages.open(key("a")).await.unwrap(), pages.open(key("b")).await.unwrap());
        assert_eq!(pages.find(&shown(&one.cookie, &one.value)).unwrap().key.id, "a");
        assert!(pages.find(&shown(&one.cookie, &two.value)).is_none());
        assert!(pages.find(&shown(&two.cookie, &one.value)).is_none());
        let cookie_alone: HeaderMap =
            [(COOKIE, HeaderValue::from_str(&one.cookie(false)).unwrap())].into_iter().collect();
        assert!(PageHalves::of(&cookie_alone).is_none());
        // A node that starts again knows them, and its file holds neither half.
        let text = std::fs::read_to_string(data.page_file()).unwrap();
        assert!(
            !text.contains(one.cookie.expose_secret()) && !text.contains(one.value.expose_secret())
        );
        let again = OwnPages::load(&data);
        assert!(again.find(&shown(&one.cookie, &one.value)).is_some());
        let streams = again.find(&shown(&two.cookie, &two.value)).unwrap();
        again.close(&shown(&two.cookie, &two.value)).await.unwrap();
        streams.end().await;
        assert!(again.find(&shown(&two.cookie, &two.value)).is_none());
        assert!(OwnPages::load(&data).find(&shown(&two.cookie, &two.value)).is_none());
    }

    #[tokio::test]
    async fn a_key_has_a_bounded_number_of_pages() {
        let (_folder, data) = folder();
        let pages = OwnPages::load(&data);
        let first = pages.open(key("a")).await.unwrap();
        let other = pages.open(key("b")).await.unwrap();
        for _ in 0..SESSIONS_OF_A_KEY {
            pages.open(key("a")).await.unwrap();
        }
        assert!(pages.find(&shown(&first.cookie, &first.value)).is_none());
        assert!(pages.find(&shown(&other.cookie, &other.value)).is_some());
    }

    #[tokio::test]
    async fn a_persons_page_ends_with_the_rule_that_gave_it_and_when_the_provider_says() {
        let (_folder, data) = folder();
        let pages = OwnPages::load(&data);
        let soon = clock::now() + SignedDuration::from_mins(5);
        let by_key = pages.open(key("k")).await.unwrap();
        let one = pages.open(of_person("person_1", [1; 32], soon)).await.unwrap();
        let two = pages.open(of_person("person_2", [2; 32], soon)).await.unwrap();
        assert_eq!((one.ends_at, by_key.ends_at > soon), (soon, true));
        assert!(
            one.cookie(false).contains("Max-Age=2") || one.cookie(false).contains("Max-Age=300")
        );
        assert_eq!(pages.key_of_person([1; 32], [2; 32]).unwrap().id, "person_2");
        assert_eq!(pages.key_of_person([1; 32], [3; 32]), None);
        let (kept, first) = pages.keys_of_persons();
        assert_eq!((kept.len(), first), (2, Some(soon)));
        // A node that starts with other settings knows the rest.
        let again = OwnPages::load(&data);
        let streams = again.find(&shown(&one.cookie, &one.value)).unwrap();
        again.keep_rules(&[[2; 32]].into()).await.unwrap();
        streams.end().await;
        for (found, page) in [(false, &one), (true, &two), (true, &by_key)] {
            assert_eq!(again.find(&shown(&page.cookie, &page.value)).is_some(), found);
            assert_eq!(
                OwnPages::load(&data).find(&shown(&page.cookie, &page.value)).is_some(),
                found
            );
        }
    }
}
