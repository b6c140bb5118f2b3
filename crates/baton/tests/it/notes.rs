//! A site whose page keeps a note, and which can stop answering; and what stories do with it.

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::OpenSession;
use baton_playground::{Page, Site, TestNode};
use baton_session::{Lifecycle, SessionId};
use baton_testing::{freeze, wake};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

/// How long anything may take that is not told otherwise.
pub const LIMIT: Duration = Duration::from_mins(2);

/// The site, and whether it answers.
pub struct Notes {
    site: Site,
    answers: watch::Sender<bool>,
    forgets: Arc<AtomicBool>,
}

impl Notes {
    /// Starts the site; it answers.
    pub async fn start() -> Self {
        let (answers, open) = watch::channel(true);
        let forgets = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&forgets);
        let page = move || {
            let (mut open, told) = (open.clone(), Arc::clone(&told));
            async move {
                // A story that ended needs no answer.
                let _ = open.wait_for(|open| *open).await;
                if told.load(Ordering::Relaxed) {
                    return Html("<title>notes</title><script>localStorage.clear()</script>");
                }
                Html("<title>notes</title>")
            }
        };
        let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
        Self { site, answers, forgets }
    }

    /// From now on nobody gets an answer, but everybody gets a connection.
    pub fn stall(&self) {
        self.answers.send_replace(false);
    }

    /// From now on everybody gets an answer again, those who wait included.
    pub fn answer(&self) {
        self.answers.send_replace(true);
    }

    /// Whether whoever loads its page loses its note.
    pub fn forget(&self, whether: bool) {
        self.forgets.store(whether, Ordering::Relaxed);
    }

    /// What asks for a session with one tab at this site.
    pub fn request(&self, name: &str) -> OpenSession {
        OpenSession::new(name.parse().unwrap(), [self.site.url("/").unwrap()])
    }

    /// Opens a session, writes a note, and captures it.
    pub async fn open(&self, test_node: &TestNode, name: &str, note: &str) -> SessionId {
        let client = test_node.client().unwrap();
        let id = client.open_session(&self.request(name)).await.unwrap().session.id;
        self.write(test_node, id, note).await;
        client.capture_session(name).await.unwrap();
        id
    }

    /// The tab of a session.
    pub async fn page(&self, test_node: &TestNode, id: SessionId) -> Page {
        let url = self.site.url("/").unwrap();
        Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap()
    }

    /// Writes a note.
    pub async fn write(&self, test_node: &TestNode, id: SessionId, note: &str) {
        let page = self.page(test_node, id).await;
        let write = format!("localStorage.setItem('note', {note:?}); true");
        assert!(page.evaluate::<bool>(&write).await.unwrap());
    }

    /// The note that stands there.
    pub async fn read(&self, test_node: &TestNode, id: SessionId) -> String {
        let page = self.page(test_node, id).await;
        page.evaluate("localStorage.getItem('note') ?? 'none'").await.unwrap()
    }
}

/// A process that does not run and does not die; it goes on when this is dropped.
pub struct Paused(u32);

impl Paused {
    /// Pauses a process (SIGSTOP).
    pub fn new(pid: u32) -> Self {
        freeze(pid).unwrap();
        Self(pid)
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        // It may have been killed meanwhile.
        let _ = wake(self.0);
    }
}

/// Waits for a condition.
pub async fn eventually(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !condition().await {
        assert!(Instant::now() < end, "never: {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until a session stands there.
pub async fn wait_for_state(test_node: &TestNode, name: &str, state: Lifecycle) {
    eventually(&format!("{name} is {state}"), async || state_of(test_node, name).await == state)
        .await;
}

/// Where a session stands.
pub async fn state_of(test_node: &TestNode, name: &str) -> Lifecycle {
    test_node.client().unwrap().fetch_session(name).await.unwrap().session.state
}
