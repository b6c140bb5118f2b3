//! Damaged parts of the newest snapshot: what an export gives out, a history shows and a rollback brings back.

use super::Database;
use crate::test_nodes;
use crate::two_nodes::{baton, said};
use axum::response::Html;
use axum::routing::get;
use baton_api::{ErrorCode, ExportFormat, ExportSession, History, ListAudit, ListHistory};
use baton_playground::{Page, Site, TestNode};
use baton_session::{Lifecycle, SnapshotId};
use serde_json::Value;
use url::Url;

/// A file of the session.
const EXPORT: ExportSession = ExportSession { format: ExportFormat::Session, deep: false };

/// A test node with a session, and the database that it is in.
pub(super) struct Scene {
    pub(super) test_node: TestNode,
    pub(super) database: Database,
    site: Site,
}

impl Scene {
    pub(super) async fn in_sqlite() -> Self {
        let test_node = test_nodes::test_node().await;
        let database = Database::Sqlite(test_node.data().database());
        Self::of(test_node, database).await
    }

    pub(super) async fn in_postgresql() -> Self {
        let url = baton_postgres::create_database().unwrap();
        let test_node =
            test_nodes::start(test_nodes::build().with("BATON_DATABASE_URL", &url)).await;
        Self::of(test_node, Database::Postgres(url)).await
    }

    async fn of(test_node: TestNode, database: Database) -> Self {
        let page = get(async || Html("<title>shop</title>"));
        let site = Site::start(crate::login::site().route("/", page)).await.unwrap();
        test_node.open("shop", [site.url("/").unwrap()]).await.unwrap();
        Self { test_node, database, site }
    }

    fn url(&self) -> Url {
        self.site.url("/").unwrap()
    }

    async fn page(&self) -> Page {
        let id = self.test_node.client().unwrap().fetch_session("shop").await.unwrap().session.id;
        Page::attach(&self.test_node.keeper_socket(id), self.url().as_str()).await.unwrap()
    }

    /// Writes this everywhere in the page, so that no part of a snapshot stays what it was.
    pub(super) async fn write(&self, value: &str) {
        let script = format!(
            "localStorage.token = sessionStorage.note = '{value}';
             for (const name of ['theme', 'sid'])
                 document.cookie = `${{name}}={value}; max-age=9999`;
             history.replaceState('{value}', ''); document.title = '{value}'; true"
        );
        assert!(self.page().await.evaluate::<bool>(&script).await.unwrap());
    }

    /// What stands in the page, which the server is sent as well.
    pub(super) async fn token(&self) -> String {
        let page = self.page().await;
        let token: String = page.evaluate("localStorage.token").await.unwrap();
        let sent: String = page.evaluate(crate::login::SENT).await.unwrap();
        assert_eq!(sent, format!("theme={token}; sid={token}"));
        token
    }

    /// Two snapshots that have no part in common, of a session that is closed. Returns the newest one.
    async fn begin(&self) -> SnapshotId {
        self.write("first").await;
        self.test_node.client().unwrap().capture_session("shop").await.unwrap();
        self.write("second").await;
        self.close().await
    }

    /// Closes the session, and returns its newest snapshot.
    pub(super) async fn close(&self) -> SnapshotId {
        let client = self.test_node.client().unwrap();
        client.close_session("shop").await.unwrap();
        client.fetch_session("shop").await.unwrap().snapshot.unwrap().id
    }

    async fn history(&self, verify: bool) -> History {
        let query = ListHistory { limit: Some(200), after: None, verify };
        self.test_node.client().unwrap().list_history("shop", &query).await.unwrap()
    }

    /// The detail of the newest entry of this action in the audit log.
    pub(super) async fn noted(&self, action: &str) -> Value {
        let client = self.test_node.client().unwrap();
        let entries = client.list_audit(&ListAudit::default()).await.unwrap().items;
        entries.into_iter().find(|entry| entry.action == action).unwrap().detail
    }
}

/// The token in a file.
fn token_in(file: &str) -> String {
    let file: Value = serde_json::from_str(file).unwrap();
    let cookies = file["state"]["cookies"].as_array().unwrap();
    cookies.iter().find(|cookie| cookie["name"] == "sid").unwrap()["value"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn everybody_takes_the_newest_whole_one_and_says_so(scene: Scene) {
    let newest = scene.begin().await;
    let client = scene.test_node.client().unwrap().clone();
    let parts = scene.database.parts(true);
    scene.database.flip(&parts[0]);

    let exported = client.export_session("shop", &EXPORT).await.unwrap();
    assert_ne!(exported.snapshot, newest);
    assert_eq!(token_in(exported.file.as_str()), "first");
    let lost: Vec<_> = exported.receipt.losses().collect();
    assert_eq!(lost.len(), 1, "{lost:#?}");
    assert_eq!(lost[0].place, format!("snapshot {newest}"));
    let noted = scene.noted("session.export").await;
    assert_eq!((&noted["insteadOf"], &noted["lost"]), (&newest.to_string().into(), &1.into()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.json");
    let written =
        baton(&scene.test_node, &["export", "shop", "-o", path.to_str().unwrap()]).code(6);
    assert_eq!(said(&written)["snapshot"], exported.snapshot.to_string());

    // Lists of parts say nothing of this; who reads them all is told which one a resume takes.
    let (seen, verified) = (scene.history(false).await, scene.history(true).await);
    assert_eq!(seen.resumes_from, Some(newest));
    assert!(seen.items.iter().all(|item| item.damaged == 0));
    assert_eq!(verified.resumes_from, Some(exported.snapshot));
    let damaged = verified.items.iter().filter(|item| item.damaged > 0);
    let damaged: Vec<_> = damaged.map(|item| (item.id, item.damaged)).collect();
    assert_eq!(damaged, [(newest, 1)]);

    // Nothing is left of the newest: nobody goes back to it, and its session stands where it stood.
    parts[1..].iter().for_each(|part| scene.database.flip(part));
    let refused = client.roll_back_session("shop", &newest.to_string()).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::StorageDamaged), "{refused}");
    assert_eq!(client.fetch_session("shop").await.unwrap().session.state, Lifecycle::Closed);

    let resumed = client.resume_session("shop").await.unwrap();
    assert!(resumed.session.receipt.unwrap().has_losses());
    assert_eq!(scene.token().await, "first");
    client.abandon_session("shop").await.unwrap();

    // Nothing is left of any: no empty file is given out.
    let all = scene.database.parts(false);
    all.iter().filter(|part| !parts.contains(part)).for_each(|part| scene.database.flip(part));
    let export = client.export_session("shop", &EXPORT).await;
    assert_eq!(export.unwrap_err().code(), Some(ErrorCode::StorageDamaged));
    assert_eq!(scene.history(true).await.resumes_from, None);
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_and_a_history_name_what_stands_in_in_a_sqlite_file() {
    everybody_takes_the_newest_whole_one_and_says_so(Scene::in_sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_and_a_history_name_what_stands_in_in_postgresql() {
    everybody_takes_the_newest_whole_one_and_says_so(Scene::in_postgresql().await).await;
}

async fn a_browser_that_runs_gives_back_what_is_damaged(scene: Scene) {
    scene.write("kept").await;
    let client = scene.test_node.client().unwrap().clone();
    let newest = client.capture_session("shop").await.unwrap().id;
    for part in scene.database.parts(false) {
        scene.database.flip(&part);
    }

    // To go back would cost what the browser holds: it runs on.
    let refused = client.roll_back_session("shop", &newest.to_string()).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::StorageDamaged), "{refused}");
    assert_eq!(client.fetch_session("shop").await.unwrap().session.state, Lifecycle::Active);
    assert_eq!(scene.token().await, "kept");

    let exported = client.export_session("shop", &EXPORT).await.unwrap();
    assert!(!exported.receipt.has_losses(), "{:#?}", exported.receipt);
    assert_eq!(token_in(exported.file.as_str()), "kept");
    assert!(scene.noted("session.export").await["lost"].is_null());
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_runs_gives_back_what_is_damaged_in_a_sqlite_file() {
    a_browser_that_runs_gives_back_what_is_damaged(Scene::in_sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_runs_gives_back_what_is_damaged_in_postgresql() {
    a_browser_that_runs_gives_back_what_is_damaged(Scene::in_postgresql().await).await;
}
