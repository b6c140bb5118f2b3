//! Who is signed in to the page of a cluster: at any node, also once the one is gone at which that was.
//!
//! The one idea: the database says who is. A node remembers for a moment what it read there, so that a page which asks
//! much costs little, and it looks whether those pages are still there that have something open here: once a second at
//! most, and at once when another node says that pages have ended.

use super::halves::{NewPage, PageHalves, PageHash};
use super::live::{LivePage, PageKey, PagePerson, SESSIONS_OF_A_KEY};
use crate::cluster::Cluster;
use baton_store::{PageLimits, PersonOfPage, SignedInPage, Store, StoreError};
use baton_sync::oidc::RuleId;
use jiff::Timestamp;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How many pages may be signed in to in a cluster.
const LIMITS: PageLimits = PageLimits { of_a_key: SESSIONS_OF_A_KEY, in_all: 65_536 };
/// For how long it is believed that a page which was found is still there.
const FRESH: Duration = Duration::from_millis(250);
/// How often it is looked whether those that have something open are still there.
const LOOK_PAUSE: Duration = Duration::from_millis(600);
/// How long after a look the next one follows that was asked for.
const TOGETHER: Duration = Duration::from_millis(50);
/// How many pages a node remembers that have nothing open.
const MOST_IDLE: usize = 4096;

/// The page sessions of a cluster. Cheap to clone.
#[derive(Clone)]
pub(crate) struct SharedPages(Arc<SharedPagesState>);

struct SharedPagesState {
    store: Store,
    cluster: Cluster,
    known: Mutex<HashMap<PageHash, CachedPage>>,
}

/// A page that was found.
struct CachedPage {
    value: PageHash,
    page: LivePage,
    /// When it was there; none where it may have ended since.
    seen: Option<Instant>,
}

impl CachedPage {
    fn is_fresh(&self) -> bool {
        self.seen.is_some_and(|seen| seen.elapsed() < FRESH)
    }
}

impl SharedPages {
    pub(super) fn new(store: Store, cluster: Cluster) -> Self {
        Self(Arc::new(SharedPagesState { store, cluster, known: Mutex::default() }))
    }

    /// What time it is by the clock that says when pages end.
    pub(super) fn now(&self) -> Timestamp {
        self.0.cluster.now()
    }

    /// Signs a page in; none where its key is gone.
    pub(super) async fn open(&self, key: &PageKey) -> Result<Option<NewPage>, StoreError> {
        let opened = key.new_page(self.now());
        let page = row(&opened.halves(), key, opened.ends_at);
        let ended = self.0.store.create_page(self.name(), &page, LIMITS).await?;
        if ended.is_some_and(|ended| ended > 0) {
            self.0.cluster.pages_ended();
        }
        Ok(ended.map(|_| opened))
    }

    /// The page session whose both halves a request shows, while it lasts.
    pub(super) async fn find(&self, shown: &PageHalves) -> Result<Option<LivePage>, StoreError> {
        let known = self.known().get(&shown.cookie).filter(|known| known.is_fresh()).map(shows);
        let found = match known {
            Some(found) => Some(found),
            None => self.look_up(shown.cookie).await?,
        };
        Ok(found.filter(|(value, _)| *value == shown.value).map(|(_, page)| page))
    }

    /// That of which another node says that both halves were shown there.
    pub(super) async fn find_passed(
        &self,
        cookie: PageHash,
    ) -> Result<Option<LivePage>, StoreError> {
        Ok(self.look_up(cookie).await?.map(|(_, page)| page))
    }

    async fn look_up(&self, cookie: PageHash) -> Result<Option<(PageHash, LivePage)>, StoreError> {
        let seen = Some(Instant::now());
        let found = self.0.store.find_page(self.name(), cookie).await?;
        let mut known = self.known();
        let Some(found) = found else {
            if let Some(gone) = known.remove(&cookie) {
                gone.page.ended.cancel();
            }
            return Ok(None);
        };
        let (value, page) = (found.value_hash, self.live(found));
        let entry = known.entry(cookie).or_insert(CachedPage { value, page, seen });
        entry.seen = seen;
        let shown = shows(entry);
        if known.len() > MOST_IDLE {
            known.retain(|_, known| known.page.is_open() || known.is_fresh());
        }
        Ok(Some(shown))
    }

    fn live(&self, found: SignedInPage) -> LivePage {
        let SignedInPage { cookie_hash, ends_at, .. } = found;
        let left = ends_at.duration_since(self.now());
        LivePage::new(cookie_hash, key_of(found), ends_at, left, Arc::default())
    }

    /// Signs a page out: what it has open ends at once here, and soon everywhere.
    pub(super) async fn close(&self, shown: &PageHalves) -> Result<(), StoreError> {
        // What is open here ends also where the database does not answer.
        if let Some(gone) = self.known().remove(&shown.cookie) {
            gone.page.ended.cancel();
        }
        self.0.store.delete_page(self.name(), shown.cookie).await?;
        // Somebody may have asked in its name in between.
        if let Some(gone) = self.known().remove(&shown.cookie) {
            gone.page.ended.cancel();
        }
        self.0.cluster.pages_ended();
        Ok(())
    }

    /// The key behind the pages that a person has by this rule, if there is one.
    pub(super) async fn key_of_person(
        &self,
        id: PageHash,
        rule: RuleId,
    ) -> Result<Option<PageKey>, StoreError> {
        let found = self.0.store.find_page_of(self.name(), id, rule).await?;
        Ok(found.map(key_of))
    }

    /// Ends the pages of persons whom none of these rules let in.
    pub(super) async fn keep_rules(&self, rules: &BTreeSet<RuleId>) -> Result<(), StoreError> {
        if self.0.store.delete_pages_of_other_rules(self.name(), rules).await? > 0 {
            self.0.cluster.pages_ended();
        }
        Ok(())
    }

    /// Removes the keys of this age whose ids begin so and behind which there is no page; returns how many that were.
    pub(crate) async fn remove_keys(
        &self,
        beginning: &str,
        age: Duration,
    ) -> Result<usize, StoreError> {
        self.0.store.remove_keys_without_page(self.name(), beginning, age).await
    }

    /// Ends what pages have open here that have ended anywhere, until `ending`.
    pub(crate) async fn watch(self, ending: CancellationToken) {
        let mut ended = self.0.cluster.watch_pages();
        let look = async {
            let mut has_failed = false;
            loop {
                if timeout(LOOK_PAUSE, ended.changed()).await.is_ok() {
                    for known in self.known().values_mut() {
                        known.seen = None;
                    }
                }
                let looked = self.look().await;
                if let (Err(error), false) = (&looked, has_failed) {
                    tracing::warn!(%error, "it cannot be seen whether pages are still signed in");
                }
                has_failed = looked.is_err();
                sleep(TOGETHER).await;
            }
        };
        ending.run_until_cancelled(look).await;
    }

    async fn look(&self) -> Result<(), StoreError> {
        let open: Vec<PageHash> = {
            let mut known = self.known();
            known.retain(|_, known| known.page.is_open() || known.is_fresh());
            let open = known.iter().filter(|(_, known)| known.page.is_open());
            open.map(|(cookie, _)| *cookie).collect()
        };
        if open.is_empty() {
            return Ok(());
        }
        let living = self.0.store.living_pages(self.name(), &open).await?;
        let mut known = self.known();
        for cookie in open.iter().filter(|cookie| !living.contains(*cookie)) {
            if let Some(gone) = known.remove(cookie) {
                gone.page.ended.cancel();
            }
        }
        Ok(())
    }

    fn name(&self) -> &str {
        self.0.cluster.cluster()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PageHash, CachedPage>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is said of a page that is known: the hash of the page's half, and the page.
fn shows(known: &CachedPage) -> (PageHash, LivePage) {
    (known.value, known.page.clone())
}

fn row(halves: &PageHalves, key: &PageKey, ends_at: Timestamp) -> SignedInPage {
    let &PageHalves { cookie, value } = halves;
    let person = key.person.as_ref();
    SignedInPage {
        cookie_hash: cookie,
        value_hash: value,
        key_hash: key.secret_hash,
        key_id: key.id.clone(),
        owner: key.owner.clone(),
        person: person.map(|person| PersonOfPage {
            id: person.id,
            rule: person.rule,
            ends_at: person.ends_at,
        }),
        ends_at,
    }
}

fn key_of(page: SignedInPage) -> PageKey {
    let SignedInPage { key_hash, key_id, owner, person, .. } = page;
    let person = person.map(|PersonOfPage { id, rule, ends_at }| PagePerson { id, rule, ends_at });
    PageKey { secret_hash: key_hash, id: key_id, owner, person }
}
