//! All stand-in browsers of some nodes with their cookies, and what must never be said of two of them.
//!
//! The one idea: the start of every browser is seen here at that moment, so that two browsers of one session
//! are noticed although they live side by side for an instant only.

use crate::real_browser::cookie;
use baton_session::{SessionId, json};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::{sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// How long a killed keeper may take to be gone.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// The browsers of the nodes of one walk. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Street(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Whether the nodes share a database, so that nothing excuses two browsers.
    is_shared: bool,
    number: AtomicU64,
    browsers: Mutex<Vec<Browser>>,
    /// Which browser of each session started last.
    newest: Mutex<BTreeMap<SessionId, u64>>,
    /// Which nodes can be asked, and when one of them last could not.
    nodes: Mutex<Vec<Reach>>,
    found: Mutex<Vec<String>>,
}

#[derive(Debug, Clone, Copy)]
struct Reach {
    is_up: bool,
    /// When it came back.
    back: Option<Instant>,
}

/// A browser, and the keeper that holds it.
#[derive(Debug, Clone)]
pub struct Browser {
    /// No other one of the street has this number.
    pub number: u64,
    /// Whose it is.
    pub session: SessionId,
    /// At which node.
    pub at: usize,
    /// When it started.
    pub born: Instant,
    pub(super) socket: PathBuf,
    pub(super) profile: PathBuf,
    pub(super) cookies: Arc<Mutex<Cookies>>,
    /// Ends it at once.
    pub(super) end: CancellationToken,
    /// Done when its socket is closed.
    pub(super) gone: CancellationToken,
    pub(super) frozen: watch::Sender<bool>,
    /// Until when it lives, if no node gives it more time.
    pub(super) hold: watch::Sender<Option<Instant>>,
}

impl Browser {
    pub(super) fn cookies(&self) -> MutexGuard<'_, Cookies> {
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets a cookie that lasts, as the site of that host would; false when it has ended.
    pub fn set_cookie(&self, name: &str, host: &str) -> bool {
        self.cookies().set(&cookie(name, host));
        self.lives()
    }

    /// The names of its cookies.
    pub fn names(&self) -> BTreeSet<String> {
        self.cookies().names().map(str::to_owned).collect()
    }

    fn lives(&self) -> bool {
        let is_late = self.hold.borrow().is_some_and(|until| until <= Instant::now());
        !self.end.is_cancelled() && !is_late
    }

    fn is_frozen(&self) -> bool {
        *self.frozen.borrow()
    }

    /// Waits until it may go on.
    pub(super) async fn thawed(&self) {
        // The sender is in this very browser, so it is there.
        let _ = self.frozen.subscribe().wait_for(|frozen| !frozen).await;
    }

    /// Waits until its time is over.
    pub(super) async fn lapsed(&self) {
        let mut hold = self.hold.subscribe();
        loop {
            let until = *hold.borrow_and_update();
            let over = async {
                match until {
                    Some(until) => sleep_until(until.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = over => {
                    // One that is stopped kills nothing, until it may go on.
                    self.thawed().await;
                    return;
                }
                _ = hold.changed() => {}
            }
        }
    }
}

impl Street {
    /// A street of `nodes` nodes without browsers.
    pub fn new(nodes: usize, is_shared: bool) -> Self {
        let reach = Reach { is_up: true, back: None };
        Self(Arc::new(Inner {
            is_shared,
            number: AtomicU64::new(1),
            browsers: Mutex::default(),
            newest: Mutex::default(),
            nodes: Mutex::new(vec![reach; nodes]),
            found: Mutex::default(),
        }))
    }

    /// Whether the nodes share a database.
    pub fn is_shared(&self) -> bool {
        self.0.is_shared
    }

    /// Notes whether a node can be asked.
    pub fn reach(&self, at: usize, is_up: bool) {
        let mut nodes = self.0.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        if is_up && !nodes[at].is_up {
            nodes[at].back = Some(Instant::now());
        }
        nodes[at].is_up = is_up;
    }

    /// Whether a node could be asked all the time since then.
    fn reached_since(&self, at: usize, since: Instant) -> bool {
        let nodes = self.0.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes[at].is_up && nodes[at].back.is_none_or(|back| back < since)
    }

    /// What must never be, and was since this was asked last.
    pub fn findings(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.found.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn find(&self, what: String) {
        self.0.found.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    fn browsers(&self) -> MutexGuard<'_, Vec<Browser>> {
        self.0.browsers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn number(&self) -> u64 {
        self.0.number.fetch_add(1, Ordering::Relaxed)
    }

    /// A browser starts.
    pub(super) fn enter(&self, browser: Browser) {
        let mut browsers = self.browsers();
        browsers.retain(|one| !one.end.is_cancelled());
        // A node that did not answer just now is excused: its session may be taken over.
        let lately = Instant::now().checked_sub(EXCUSED).unwrap_or_else(Instant::now);
        for other in browsers.iter().filter(|one| one.session == browser.session && one.lives()) {
            let excused = other.is_frozen()
                || !self.is_shared()
                    && other.at != browser.at
                    && !self.reached_since(other.at, lately);
            if !excused {
                self.find(format!(
                    "two browsers: one started at node {} while one runs at node {}",
                    browser.at, other.at
                ));
            }
        }
        let mut newest = self.0.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.insert(browser.session, browser.number);
        browsers.push(browser);
    }

    /// The browser of a session at a node.
    pub fn browser(&self, at: usize, session: SessionId) -> Option<Browser> {
        let browsers = self.browsers();
        let mut found = browsers.iter().filter(|one| one.at == at && one.session == session);
        found.find(|one| one.lives()).cloned()
    }

    /// The browser of a session, wherever it is.
    pub fn anywhere(&self, session: SessionId) -> Option<Browser> {
        let browsers = self.browsers();
        browsers.iter().rfind(|one| one.session == session && one.lives()).cloned()
    }

    /// The number of the browser of a session that started last; none when it never had one.
    pub fn newest(&self, session: SessionId) -> Option<u64> {
        self.0.newest.lock().unwrap_or_else(PoisonError::into_inner).get(&session).copied()
    }

    /// At which nodes a session has a browser.
    pub fn places(&self, session: SessionId) -> Vec<usize> {
        let browsers = self.browsers();
        let of_it = browsers.iter().filter(|one| one.session == session && one.lives());
        of_it.map(|one| one.at).collect()
    }

    /// Kills the keeper that listens at a socket; whether there was one.
    pub(super) async fn kill_at(&self, socket: &std::path::Path) -> Option<bool> {
        let found = {
            let browsers = self.browsers();
            let at_it = |one: &&Browser| one.socket == socket && !one.gone.is_cancelled();
            browsers.iter().find(at_it).cloned()
        };
        let Some(found) = found else { return Some(false) };
        found.end.cancel();
        timeout(KILL_LIMIT, found.gone.cancelled()).await.ok().map(|()| true)
    }

    /// Kills a session's browser at a node.
    pub async fn kill(&self, at: usize, session: SessionId) {
        if let Some(browser) = self.browser(at, session) {
            browser.end.cancel();
            // What does not end in time is found out by the caller that needs it gone.
            let _ = timeout(KILL_LIMIT, browser.gone.cancelled()).await;
        }
    }

    /// Stops a session's keeper, or lets it go on; false when there is none.
    pub fn freeze(&self, at: usize, session: SessionId, frozen: bool) -> bool {
        let found = self.browser(at, session);
        found.is_some_and(|browser| {
            browser.frozen.send_replace(frozen);
            true
        })
    }

    /// Lets all go on.
    pub fn thaw_all(&self) {
        for browser in self.browsers().iter() {
            browser.frozen.send_replace(false);
        }
    }

    /// Kills all.
    pub fn clear(&self) {
        for browser in self.browsers().drain(..) {
            browser.end.cancel();
        }
    }
}

/// For how long after it could not be asked a node is not yet known to be back.
const EXCUSED: Duration = Duration::from_secs(3);

/// Where the disk is in a profile: among what is kept of one while a browser is tried on it.
const DISK: &str = "Default/shared_proto_db/stand-in.json";
/// By this a profile is known to be in use.
const USED: &str = "Default/IndexedDB";

/// `Network.CookieParam`, by name, domain and path.
#[derive(Debug, Default)]
pub(super) struct Cookies(BTreeMap<[String; 3], Value>);

impl Cookies {
    /// What a profile holds.
    pub(super) fn of(profile: &Path) -> Self {
        let text = fs::read(disk(profile)).unwrap_or_default();
        let mut cookies = Self::default();
        let found: Vec<Value> = serde_json::from_slice(&text).unwrap_or_default();
        for cookie in &found {
            cookies.set(cookie);
        }
        cookies
    }

    pub(super) fn set(&mut self, cookie: &Value) {
        let text = |key: &str| cookie[key].as_str().unwrap_or_default().to_owned();
        self.0.insert(["name", "domain", "path"].map(text), cookie.clone());
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// `Network.Cookie`.
    pub(super) fn cookies(&self) -> Vec<Value> {
        let told = |cookie: &Value| {
            let mut told = cookie.clone();
            told["session"] = json!(cookie["expires"].is_null());
            told
        };
        self.0.values().map(told).collect()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|[name, ..]| name.as_str())
    }

    /// Writes all that does not end with the browser.
    pub(super) fn write(&self, profile: &Path) {
        let lasting = self.0.values().filter(|cookie| !cookie["expires"].is_null());
        let text = json::bytes(&lasting.collect::<Vec<_>>());
        let (path, used) = (disk(profile), profile.join(USED));
        let folders = [path.parent().map(Path::to_owned), Some(used)];
        folders.into_iter().flatten().for_each(|folder| drop(fs::create_dir_all(folder)));
        // As with a real browser, no node hears of a disk that is full.
        let _ = fs::write(path, text);
    }
}

fn disk(profile: &Path) -> PathBuf {
    profile.join(DISK)
}
