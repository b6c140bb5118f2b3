//! Damaged parts of the newest snapshot, one at a time and all together: the one before stands in, and the
//! receipt and the audit log say so.

use super::scene::{Scene, reference, refused};
use crate::houses;
use baton_api::sandbox::{BrowserSession, CreateSandbox};
use baton_api::{ErrorCode, ListAudit, OpenSession};
use baton_playground::Page;
use baton_session::SnapshotId;
use sqlx::{AnyPool, Row};

/// The database, past the program.
struct Database(AnyPool);

impl Database {
    async fn open(url: &str) -> Self {
        sqlx::any::install_default_drivers();
        Self(AnyPool::connect(url).await.unwrap())
    }

    /// The parts of a session, those that came with its newest snapshot or all.
    async fn parts(&self, newest: bool) -> Vec<String> {
        let wanted = if newest { "where since = (select max(ordinal) from snapshots)" } else { "" };
        let sql = format!("select distinct part from part_spans {wanted} order by part");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&self.0).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Damages a part, or mends what was damaged.
    async fn flip(&self, part: &str) {
        let row = sqlx::query("select sealed from parts where id = $1").bind(part);
        let mut sealed: Vec<u8> = row.fetch_one(&self.0).await.unwrap().get(0);
        sealed[8] ^= 1;
        let write = sqlx::query("update parts set sealed = $2 where id = $1");
        write.bind(part).bind(sealed).execute(&self.0).await.unwrap();
    }
}

/// A session of two snapshots that have no part in common.
async fn begin(scene: &Scene) -> SnapshotId {
    let url = scene.site.url("/login").unwrap();
    let request = OpenSession::new("shop".parse().unwrap(), [url.clone()]);
    let id = scene.client().open_session(&request).await.unwrap().session.id;
    let page = Page::attach(&scene.house.keeper_socket(id), url.as_str()).await.unwrap();
    let write = |value: &str| {
        format!(
            "localStorage.token = sessionStorage.note = '{value}';
             document.cookie = 'sid={value}; max-age=9999';
             history.replaceState('{value}', ''); document.title = '{value}'; true"
        )
    };
    assert!(page.evaluate::<bool>(&write("first")).await.unwrap());
    scene.client().capture_session("shop").await.unwrap();
    assert!(page.evaluate::<bool>(&write("second")).await.unwrap());
    scene.client().close_session("shop").await.unwrap();
    scene.client().fetch_session("shop").await.unwrap().snapshot.unwrap().id
}

/// What a copy of the session in a sandbox says of what is damaged.
async fn lost(scene: &Scene) -> Vec<(String, String)> {
    let copy = BrowserSession { shared: true, ..reference("shop") };
    let request = CreateSandbox { browser_session: Some(copy), ..CreateSandbox::default() };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    scene.end(&sandbox).await;
    let receipt = sandbox.browser_session.unwrap().receipt;
    let damaged = receipt.losses().filter(|item| item.kind.as_str() == "part");
    damaged.map(|item| (item.place.clone(), item.reason.clone().unwrap_or_default())).collect()
}

async fn whatever_is_damaged_the_newest_whole_one_stands_in(scene: Scene, database: &str) {
    let newest = begin(&scene).await;
    let database = Database::open(database).await;
    let parts = database.parts(true).await;
    assert!(parts.len() > 2, "cookies, storage and tabs: {parts:?}");
    let stands_in = async |damaged: usize| {
        let lost = lost(&scene).await;
        let [(place, why)] = &lost[..] else { panic!("expected one line: {lost:?}") };
        assert_eq!(*place, format!("snapshot {newest}"));
        let (count, _) = why.split_once(" of its ").unwrap();
        assert_eq!(count, format!("damaged are {damaged}"));
        assert!(why.contains("taken instead: the one of "), "{why}");
    };
    for part in &parts {
        database.flip(part).await;
        stands_in(1).await;
        database.flip(part).await;
    }
    for part in &parts {
        database.flip(part).await;
    }
    stands_in(parts.len()).await;

    // Whoever asks the audit log is told, too.
    scene.client().resume_session("shop").await.unwrap();
    let entries = scene.client().list_audit(&ListAudit::default()).await.unwrap().items;
    let resumed = entries.iter().find(|entry| entry.action == "session.resume").unwrap();
    assert_eq!(resumed.detail["insteadOf"], newest.to_string());
    scene.client().abandon_session("shop").await.unwrap();

    // Where nothing can be read of any, no empty session is handed in.
    let all = database.parts(false).await;
    for part in all.iter().filter(|part| !parts.contains(part)) {
        database.flip(part).await;
    }
    let request =
        CreateSandbox { browser_session: Some(reference("shop")), ..CreateSandbox::default() };
    let problem = refused(scene.client().create_sandbox(&request).await);
    assert_eq!(problem.code, ErrorCode::StorageDamaged, "{problem:?}");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_in_a_sqlite_file_costs_no_more_than_it_has_to() {
    let scene = Scene::set().await;
    let file = format!("sqlite://{}", scene.house.data().database().display());
    whatever_is_damaged_the_newest_whole_one_stands_in(scene, &file).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_in_postgresql_costs_no_more_than_it_has_to() {
    let url = baton_postgres::create_database().unwrap();
    let house = houses::build().with("BATON_DATABASE_URL", &url);
    let scene = Scene::set_in(house, "").await;
    whatever_is_damaged_the_newest_whole_one_stands_in(scene, &url).await;
}
