//! Two nodes on one database: a session has one holder at a time, and the other one takes over.

use crate::notes::{Notes, eventually, wait_for_state};
use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::{ClientError, ErrorCode};
use baton_browser::launch::{self, BrowserPlaces};
use baton_playground::{Page, Site, TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// The length of a lease in these stories, in seconds: long enough for a busy machine to renew it.
const LEASE: u64 = 12;
/// How long a browser may outlive its node, with room for a busy machine.
const END_LIMIT: Duration = Duration::from_mins(1);

const LEFT: usize = 0;
const RIGHT: usize = 1;

/// Two test nodes that share one database, and a site that remembers its visitors.
pub(crate) struct Street {
    pub(crate) test_nodes: [TestNode; 2],
    site: Site,
    _shared: TempDir,
}

impl Street {
    /// A street whose test nodes share a SQLite file.
    pub(crate) async fn build() -> Self {
        let shared = tempfile::tempdir().unwrap();
        let database = shared.path().join("baton.db");
        Self::build_on(database, shared, LEASE, "false").await
    }

    /// The same, whose nodes resume by themselves what was lost.
    async fn build_with_heirs() -> Self {
        let shared = tempfile::tempdir().unwrap();
        let database = shared.path().join("baton.db");
        Self::build_on(database, shared, LEASE, "true").await
    }

    /// The same, with leases of so many seconds.
    async fn build_with_lease(lease: u64) -> Self {
        let shared = tempfile::tempdir().unwrap();
        let database = shared.path().join("baton.db");
        Self::build_on(database, shared, lease, "false").await
    }

    /// A street whose test nodes share a database of a PostgreSQL server.
    async fn build_on_postgres() -> Self {
        let database = baton_postgres::create_database().unwrap();
        Self::build_on(database, tempfile::tempdir().unwrap(), LEASE, "false").await
    }

    async fn build_on(
        database: impl AsRef<OsStr>,
        shared: TempDir,
        lease: u64,
        rehydrates: &str,
    ) -> Self {
        let test_node = || {
            test_nodes::build()
                .with("BATON_DATABASE_URL", database.as_ref())
                .with("BATON_MASTER_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
                .with("BATON_LEASE", lease.to_string())
                .with("BATON_AUTO_REHYDRATE", rehydrates)
        };
        let (mut left, mut right) = (test_node(), test_node());
        left.start_node().await.unwrap();
        right.start_node().await.unwrap();
        let page = || async {
            Html("<script>document.cookie ||= `visit=${Math.random()}; max-age=9999`</script>")
        };
        let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
        Self { test_nodes: [left, right], site, _shared: shared }
    }

    fn left(&self) -> &TestNode {
        &self.test_nodes[LEFT]
    }

    fn right(&self) -> &TestNode {
        &self.test_nodes[RIGHT]
    }

    /// Opens a session in the left test node.
    pub(crate) async fn open(&self) -> SessionId {
        self.left().open("shop", [self.site.url("/").unwrap()]).await.unwrap()
    }

    pub(crate) async fn cookie(&self, test_node: &TestNode, id: SessionId) -> String {
        let url = self.site.url("/").unwrap();
        let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
        page.evaluate("document.cookie").await.unwrap()
    }

    /// Resumes the session in the right test node as soon as it may.
    async fn take_over(&self) {
        take_over(self.right()).await;
    }

    pub(crate) async fn clear(self) {
        for test_node in self.test_nodes {
            test_node.clear().await.unwrap();
        }
    }
}

/// Resumes the session in a test node as soon as it may.
pub(crate) async fn take_over(test_node: &TestNode) {
    let end = Instant::now() + END_LIMIT;
    while let Err(error) = test_node.client().unwrap().resume_session("shop").await {
        assert_eq!(code(&error), ErrorCode::Conflict, "{error}");
        assert!(Instant::now() < end, "the lease never ends: {error}");
        sleep(Duration::from_millis(100)).await;
    }
}

fn code(error: &ClientError) -> ErrorCode {
    match error {
        ClientError::Problem(problem) => problem.code,
        other => panic!("expected an answer of the node, found {other}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_held_is_left_alone_by_others() {
    let street = Street::build().await;
    street.open().await;
    let right = street.right().client().unwrap();
    assert_eq!(right.fetch_session("shop").await.unwrap().session.state, Lifecycle::Active);
    for error in [
        right.resume_session("shop").await.unwrap_err(),
        right.close_session("shop").await.unwrap_err(),
        right.abandon_session("shop").await.unwrap_err(),
        right.capture_session("shop").await.unwrap_err(),
    ] {
        assert_eq!(code(&error), ErrorCode::Conflict, "{error}");
    }
    // Looking at it from the other test node has changed nothing.
    street.left().client().unwrap().capture_session("shop").await.unwrap();
    // Given back, it may live anywhere.
    street.left().client().unwrap().close_session("shop").await.unwrap();
    right.resume_session("shop").await.unwrap();
    let error = street.left().client().unwrap().resume_session("shop").await.unwrap_err();
    assert_eq!(code(&error), ErrorCode::Conflict, "{error}");
    street.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_node_is_followed_on_a_sqlite_file() {
    the_session_of_a_dead_node_is_taken_over_once_its_browser_is_gone(Street::build().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_node_is_followed_on_postgresql() {
    let street = Street::build_on_postgres().await;
    the_session_of_a_dead_node_is_taken_over_once_its_browser_is_gone(street).await;
}

async fn the_session_of_a_dead_node_is_taken_over_once_its_browser_is_gone(mut street: Street) {
    let id = street.open().await;
    let cookie = street.cookie(street.left(), id).await;
    street.left().client().unwrap().capture_session("shop").await.unwrap();
    let holders = street.left().holders(id).await.unwrap();
    street.test_nodes[LEFT].kill_node().await.unwrap();
    let right = street.right().client().unwrap();
    let state = async || right.fetch_session("shop").await.unwrap().session.state;
    let is_over = async || state().await != Lifecycle::Active;
    eventually("nobody is told any longer that it runs", is_over).await;
    assert_eq!(state().await, Lifecycle::Recoverable);
    right.resume_session("shop").await.unwrap();
    // Nobody stopped them: they end by themselves before another node may begin.
    victims::are_gone(&holders).await.unwrap();
    assert_eq!(street.cookie(street.right(), id).await, cookie);
    // The first node comes back to find that the session has moved.
    street.test_nodes[LEFT].start_node().await.unwrap();
    let error = street.left().client().unwrap().resume_session("shop").await.unwrap_err();
    assert_eq!(code(&error), ErrorCode::Conflict, "{error}");
    street.right().client().unwrap().close_session("shop").await.unwrap();
    street.left().client().unwrap().resume_session("shop").await.unwrap();
    assert_eq!(street.cookie(street.left(), id).await, cookie);
    street.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_resumes_by_itself_takes_what_a_dead_one_held() {
    let mut street = Street::build_with_heirs().await;
    let id = street.open().await;
    let cookie = street.cookie(street.left(), id).await;
    street.left().client().unwrap().capture_session("shop").await.unwrap();
    street.test_nodes[LEFT].kill_node().await.unwrap();
    let right = street.right().client().unwrap();
    let is_resumed = async || {
        let now = right.fetch_session("shop").await.unwrap();
        now.session.state == Lifecycle::Active && now.receipt.is_some()
    };
    eventually("the other node has resumed it", is_resumed).await;
    assert_eq!(street.cookie(street.right(), id).await, cookie);
    // The first one comes back, and leaves it where it is.
    street.test_nodes[LEFT].start_node().await.unwrap();
    let error = street.left().client().unwrap().capture_session("shop").await.unwrap_err();
    assert_eq!(code(&error), ErrorCode::Conflict, "{error}");
    assert_eq!(street.cookie(street.right(), id).await, cookie);
    street.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_was_just_starting_it_holds_no_longer_when_it_is_back() {
    let (notes, shared) = (Notes::start().await, tempfile::tempdir().unwrap());
    let database = shared.path().join("baton.db");
    // Long enough for the node to be back before its lease has ended, so that no other one ends that.
    let mut street = Street::build_on(database, shared, 120, "true").await;
    let lost = notes.open(street.left(), "lost", "of lost").await;
    let rests = notes.open(street.left(), "rests", "of rests").await;
    street.left().client().unwrap().close_session("rests").await.unwrap();
    victims::kill_all(&street.left().holders(lost).await.unwrap()).await.unwrap();
    wait_for_state(street.left(), "lost", Lifecycle::Recoverable).await;

    notes.stall();
    let resuming = ["lost", "rests"].map(|name| {
        let client = street.left().client().unwrap().clone();
        tokio::spawn(async move { client.resume_session(name).await })
    });
    for id in [lost, rests] {
        let has_browser = async || street.left().holders(id).await.is_ok();
        eventually("its browser runs", has_browser).await;
    }
    street.test_nodes[LEFT].kill_node().await.unwrap();
    for resuming in resuming {
        resuming.await.unwrap().unwrap_err();
    }
    notes.answer();
    street.test_nodes[LEFT].start_node().await.unwrap();
    // What ran not long ago is back by itself, and the other one is anybody's.
    wait_for_state(street.left(), "lost", Lifecycle::Active).await;
    assert_eq!(notes.read(street.left(), lost).await, "of lost");
    street.right().client().unwrap().resume_session("rests").await.unwrap();
    assert_eq!(notes.read(street.right(), rests).await, "of rests");
    street.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_may_take_longer_to_start_than_a_lease_lasts() {
    const SHORT: u64 = 8;
    let (shared, machine) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = std::env::var_os("PATH");
    let real = launch::find_browser(None, &BrowserPlaces::on_path(path.as_deref())).unwrap();
    let [program, begun, go] = ["chromium", "begun", "go"].map(|name| machine.path().join(name));
    let script = format!(
        "#!/bin/sh\n\
         [ \"$1\" = --version ] && exec '{real}' --version\n\
         : > '{begun}'\n\
         while [ ! -e '{go}' ]; do sleep 0.05; done\n\
         exec '{real}' \"$@\"\n",
        real = real.display(),
        begun = begun.display(),
        go = go.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let node = test_nodes::build()
        .with("BATON_DATABASE_URL", shared.path().join("baton.db"))
        .with("BATON_MASTER_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        .with("BATON_LEASE", SHORT.to_string())
        .with("BATON_BROWSER", &program)
        // What a browser may see is made for the program that is named, and this one starts another.
        .with("BATON_BROWSER_CONFINEMENT", "off");
    let node = test_nodes::start(node).await;
    let meanwhile = async {
        eventually("its browser is being started", async || begun.exists()).await;
        let over = Instant::now() + Duration::from_secs(SHORT);
        eventually("a lease is over", async || Instant::now() > over).await;
        std::fs::write(&go, "").unwrap();
    };
    let (opened, ()) = tokio::join!(node.open("shop", []), meanwhile);
    opened.unwrap();
    node.client().unwrap().capture_session("shop").await.unwrap();
    node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_was_frozen_does_not_disturb_its_successor() {
    let street = Street::build().await;
    let id = street.open().await;
    let cookie = street.cookie(street.left(), id).await;
    street.left().client().unwrap().capture_session("shop").await.unwrap();
    let (holders, node) =
        (street.left().holders(id).await.unwrap(), street.left().node_pid().unwrap());
    baton_testing::freeze(node).unwrap();
    victims::wait_for_the_end(&holders, END_LIMIT).await.unwrap();
    street.take_over().await;
    let snapshots = street.right().client().unwrap().capture_session("shop").await.unwrap();
    baton_testing::wake(node).unwrap();
    // It looks at what it held, and finds that it holds it no more.
    let error = street.left().client().unwrap().capture_session("shop").await.unwrap_err();
    assert_eq!(code(&error), ErrorCode::Conflict, "{error}");
    let now = street.right().client().unwrap().fetch_session("shop").await.unwrap();
    assert_eq!(now.session.state, Lifecycle::Active);
    assert!(now.snapshot.unwrap().taken_at >= snapshots.taken_at);
    assert_eq!(street.cookie(street.right(), id).await, cookie);
    street.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_node_does_not_start_beside_the_original() {
    let mut street = Street::build().await;
    street.test_nodes[RIGHT].stop_node().await.unwrap();
    let id = |test_node: &TestNode| test_node.data().path().join("node.id");
    std::fs::copy(id(street.left()), id(street.right())).unwrap();
    street.test_nodes[RIGHT].start_node().await.unwrap_err();
    let log = street.right().log_tail();
    assert!(log.contains("remove its file node.id"), "{log}");
    // The original never noticed.
    street.open().await;
    street.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_hangs_costs_its_own_session_only() {
    // Shorter than a call to a keeper may take.
    let street = Street::build_with_lease(8).await;
    let hangs = street.open().await;
    let url = street.site.url("/").unwrap();
    let bank = street.left().open("bank", [url]).await.unwrap();
    street.left().client().unwrap().capture_session("bank").await.unwrap();
    let (holders, [(_, keeper), _]) =
        (street.left().holders(bank).await.unwrap(), street.left().holders(hangs).await.unwrap());
    baton_testing::freeze(keeper).unwrap();
    // Each of these took longer than a lease lasts.
    let given_up = "a keeper was not told that its session is held";
    let twice = async || street.left().log().matches(given_up).count() > 1;
    eventually("the keeper that hangs was given up twice", twice).await;
    assert!(holders.iter().all(|(_, pid)| victims::is_alive(*pid)), "the other browser runs on");
    let error = street.right().client().unwrap().resume_session("bank").await.unwrap_err();
    assert_eq!(code(&error), ErrorCode::Conflict, "{error}");
    street.left().client().unwrap().capture_session("bank").await.unwrap();
    baton_testing::wake(keeper).unwrap();
    street.clear().await;
}
