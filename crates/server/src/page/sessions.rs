//! Who is signed in to the page, and what opens the node to it.
//!
//! A page session stands for one API key, found by the hash of its secret, as keys are: it may what the key may,
//! and ends with it. A person who came from a provider has a key that the node made for their pages, and whose secret
//! nobody has. A session has two halves, a cookie and a value that the page keeps; only hashes of both are known,
//! in memory and in a file of the data folder, so that a node that starts again knows its pages.

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::{GUEST_HEADER, PAGE_HEADER};
use baton_session::{NodeMark, Owner};
use baton_store::blocking::blocking;
use baton_store::clock;
use baton_store::data::{DataError, DataFolder, write_private};
use baton_sync::oidc::RuleId;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a page stays signed in.
const SESSION_LIMIT: SignedDuration = SignedDuration::from_hours(12);
/// How many pages one key may be signed in to; one more ends the one that ends first.
const SESSIONS_OF_A_KEY: usize = 32;
/// How many there may be in all.
const MOST: usize = 1024;
/// What names of our cookies begin with; the proxy passes on none that begins so. What follows tells the pages of
/// one browser apart.
pub(super) const COOKIE_NAME: &str = "baton_page_";
/// How long that is, in characters.
pub(super) const TAG_LENGTH: usize = 8;

/// [`GUEST_HEADER`], as names of headers are compared.
const GUEST: HeaderName = HeaderName::from_static(GUEST_HEADER);

/// What is kept of a secret.
pub(crate) type PageHash = [u8; 32];

type Hash = PageHash;

/// The key behind a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageKey {
    /// What the database knows of its secret.
    pub(crate) secret_hash: Hash,
    /// Names it.
    pub(crate) id: String,
    /// Whose it is.
    pub(crate) owner: Owner,
    /// For whom the node made it; none where somebody has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) person: Option<PagePerson>,
}

/// A person who came from a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PagePerson {
    /// Who they are at the provider.
    pub(crate) id: Hash,
    /// The rule that let them in.
    pub(crate) rule: RuleId,
    /// When their pages end.
    pub(crate) ends_at: Timestamp,
}

/// What a request of the page shows.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PageHalves {
    cookie: Hash,
    value: Hash,
}

impl PageHalves {
    /// Both halves, where a request shows both.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        Self::shown(headers, PAGE_HEADER)
    }

    /// Those of a guest, whose page says its half in a header of its own: neither is good for the other's.
    pub(crate) fn of_guest(headers: &HeaderMap) -> Option<Self> {
        Self::shown(headers, GUEST_HEADER)
    }

    /// What a guest's page says.
    pub(crate) fn guests_value(headers: &HeaderMap) -> Option<&str> {
        headers.get(GUEST_HEADER)?.to_str().ok()
    }

    /// What a guest's request shows, and no other cookie: for the node that gave it to them.
    pub(crate) fn guests_headers(headers: &HeaderMap) -> HeaderMap {
        let mut guests = HeaderMap::new();
        let Some(value) = Self::guests_value(headers) else { return guests };
        let Some(tag) = value.get(..TAG_LENGTH) else { return guests };
        let cookie = cookies(headers, tag).next();
        let cookie = cookie.map(|cookie| format!("{COOKIE_NAME}{tag}={cookie}"));
        let cookie = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok());
        guests.extend(cookie.map(|cookie| (COOKIE, cookie)));
        guests.extend(headers.get(GUEST_HEADER).map(|shown| (GUEST, shown.clone())));
        guests
    }

    fn shown(headers: &HeaderMap, header: &str) -> Option<Self> {
        let value = headers.get(header)?.to_str().ok()?;
        let cookie = cookies(headers, value.get(..TAG_LENGTH)?).next()?;
        Some(Self { cookie: hash(cookie), value: hash(value) })
    }
}

/// A page that was signed in: both halves, this once.
pub(crate) struct NewPage {
    /// For the cookie.
    cookie: SecretString,
    /// For the page; it begins with what the cookie's name ends with.
    pub(crate) value: SecretString,
    /// When it ends.
    pub(crate) ends_at: Timestamp,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredPage {
    cookie: Hash,
    value: Hash,
    #[serde(flatten)]
    key: PageKey,
    ends_at: Timestamp,
    /// Ends its streams.
    #[serde(skip)]
    ended: CancellationToken,
}

/// A page session that was found.
#[derive(Clone)]
pub(crate) struct LivePage {
    /// The key behind it.
    pub(crate) key: PageKey,
    /// When it ends.
    pub(crate) ends_at: Timestamp,
    ended: CancellationToken,
}

impl LivePage {
    /// Waits until it has ended.
    pub(crate) async fn end(self) {
        let left = self.ends_at.duration_since(clock::now());
        let left = Duration::try_from(left).unwrap_or_default();
        // Either is the end.
        let _ = tokio::time::timeout(left, self.ended.cancelled()).await;
    }
}

/// The page sessions of a node. Cheap to clone.
#[derive(Clone)]
pub(crate) struct PageSessions(Arc<Inner>);

struct Inner {
    file: PathBuf,
    sessions: Mutex<HashMap<Hash, StoredPage>>,
    /// Held while the file is written, so that the last one written is the newest.
    writing: tokio::sync::Mutex<()>,
    turn: tokio::sync::Mutex<()>,
}

impl PageSessions {
    /// Those that a data folder knows. A file that is damaged signs everybody out.
    pub(crate) fn load(data: &DataFolder) -> Self {
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
        Self(Arc::new(Inner {
            file,
            sessions: Mutex::new(sessions),
            writing: tokio::sync::Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }))
    }

    /// Signs a page in; that is on disk when this returns.
    pub(crate) async fn open(&self, key: PageKey) -> Result<NewPage, DataError> {
        let longest = clock::now() + SESSION_LIMIT;
        let ends_at = key.person.as_ref().map_or(longest, |person| person.ends_at.min(longest));
        let opened = NewPage { cookie: random(), value: random(), ends_at };
        let cookie = hash(opened.cookie.expose_secret());
        let session = StoredPage {
            cookie,
            value: hash(opened.value.expose_secret()),
            key,
            ends_at: opened.ends_at,
            ended: CancellationToken::new(),
        };
        {
            let sessions = &mut lock(&self.0.sessions);
            let key = &session.key;
            make_room(sessions, SESSIONS_OF_A_KEY, |other| other.key.id == key.id);
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
    pub(crate) fn find(&self, shown: &PageHalves) -> Option<LivePage> {
        let sessions = lock(&self.0.sessions);
        let session = sessions.get(&shown.cookie)?;
        let is_it = session.value == shown.value && session.ends_at > clock::now();
        let (key, ended) = (session.key.clone(), session.ended.clone());
        is_it.then(|| LivePage { key, ends_at: session.ends_at, ended })
    }

    /// Signs a page out: what it has open ends at once.
    pub(crate) async fn close(&self, shown: &PageHalves) -> Result<(), DataError> {
        if let Some(session) = lock(&self.0.sessions).remove(&shown.cookie) {
            session.ended.cancel();
        }
        self.write().await
    }

    /// The key behind the pages that a person has by this rule, if there is one.
    pub(crate) fn key_of_person(&self, id: Hash, rule: RuleId) -> Option<PageKey> {
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
    pub(crate) async fn keep_rules(&self, rules: &BTreeSet<RuleId>) -> Result<(), DataError> {
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
        // A node that ends writes no more: what is on disk then counts.
        written.await.unwrap_or(Ok(()))
    }
}

/// Ends sessions that count until there is room for one more: those that have passed, else the one that ends
/// first.
fn make_room(
    sessions: &mut HashMap<Hash, StoredPage>,
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

impl NewPage {
    /// The header that gives a browser its half; `secure` where it came by TLS.
    pub(crate) fn cookie(&self, secure: bool) -> String {
        let left = self.ends_at.duration_since(clock::now());
        cookie(self.value.expose_secret(), self.cookie.expose_secret(), left, secure)
    }
}

/// Both halves of a guest's page, this once.
pub(crate) struct NewGuest {
    cookie: SecretString,
    /// For the page; it begins with what the cookie's name ends with.
    pub(crate) value: SecretString,
}

impl NewGuest {
    /// New ones, of which the page's ends with the mark of their node.
    pub(crate) fn generate(node: NodeMark) -> Self {
        Self { cookie: random(), value: marked(&random(), node) }
    }

    /// What is kept of them.
    pub(crate) fn halves(&self) -> PageHalves {
        let [cookie, value] = [&self.cookie, &self.value].map(|half| hash(half.expose_secret()));
        PageHalves { cookie, value }
    }

    /// The header that gives a browser its half for so long.
    pub(crate) fn cookie(&self, limit: SignedDuration, secure: bool) -> String {
        cookie(self.value.expose_secret(), self.cookie.expose_secret(), limit, secure)
    }
}

/// What a request shows in cookies of ours with this tag.
pub(super) fn cookies<'a>(headers: &'a HeaderMap, tag: &'a str) -> impl Iterator<Item = &'a str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.flat_map(|value| value.split(';')).map(str::trim);
    pairs.filter_map(move |pair| {
        pair.strip_prefix(COOKIE_NAME)?.strip_prefix(tag)?.strip_prefix('=')
    })
}

/// The header that takes it back from the page that shows this value.
pub(crate) fn no_cookie(value: &str, secure: bool) -> String {
    cookie(value, "", SignedDuration::ZERO, secure)
}

fn cookie(value: &str, half: &str, limit: SignedDuration, secure: bool) -> String {
    let tag = value.get(..TAG_LENGTH).unwrap_or_default();
    let name = format!("{COOKIE_NAME}{tag}");
    let seconds = limit.as_secs();
    format!(
        "{name}={half}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{}",
        self::secure(secure)
    )
}

/// The end of a cookie's header.
pub(super) fn secure(is_secure: bool) -> &'static str {
    if is_secure { "; Secure" } else { "" }
}

/// A new secret.
pub(crate) fn random() -> SecretString {
    URL_SAFE_NO_PAD.encode(rand::random::<Hash>()).into()
}

/// A secret that says by its end which node gave it out.
pub(crate) fn marked(secret: &SecretString, node: NodeMark) -> SecretString {
    format!("{}{node}", secret.expose_secret()).into()
}

/// What is shown is looked up by its hash, so the time that takes says nothing about what exists.
pub(crate) fn hash(text: &str) -> PageHash {
    Sha256::digest(text.as_bytes()).into()
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

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
        let pages = PageSessions::load(&data);
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
        let again = PageSessions::load(&data);
        assert!(again.find(&shown(&one.cookie, &one.value)).is_some());
        let streams = again.find(&shown(&two.cookie, &two.value)).unwrap();
        again.close(&shown(&two.cookie, &two.value)).await.unwrap();
        streams.end().await;
        assert!(again.find(&shown(&two.cookie, &two.value)).is_none());
        assert!(PageSessions::load(&data).find(&shown(&two.cookie, &two.value)).is_none());
    }

    #[tokio::test]
    async fn a_key_has_a_bounded_number_of_pages() {
        let (_folder, data) = folder();
        let pages = PageSessions::load(&data);
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
        let pages = PageSessions::load(&data);
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
        let again = PageSessions::load(&data);
        let streams = again.find(&shown(&one.cookie, &one.value)).unwrap();
        again.keep_rules(&[[2; 32]].into()).await.unwrap();
        streams.end().await;
        for (found, page) in [(false, &one), (true, &two), (true, &by_key)] {
            assert_eq!(again.find(&shown(&page.cookie, &page.value)).is_some(), found);
            assert_eq!(
                PageSessions::load(&data).find(&shown(&page.cookie, &page.value)).is_some(),
                found
            );
        }
    }
}
