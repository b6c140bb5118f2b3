//! Damaged parts of the newest snapshot, one at a time and all together: the one before stands in, and the
//! receipt and the audit log say so. What is damaged while a sandbox has the session takes nothing from it.

use super::scene::{Scene, reference, refused};
use crate::damage::Database;
use crate::test_nodes;
use baton_api::sandbox::{BrowserSession, CreateSandbox};
use baton_api::{ErrorCode, ListAudit, OpenSession};
use baton_playground::Page;
use baton_session::SnapshotId;
use baton_session::receipt::ItemKind;
use serde_json::json;

/// A session of two snapshots that have no part in common.
async fn begin(scene: &Scene) -> SnapshotId {
    let url = scene.site.url("/login").unwrap();
    let request = OpenSession::new("shop".parse().unwrap(), [url.clone()]);
    let id = scene.client().open_session(&request).await.unwrap().session.id;
    let page = Page::attach(&scene.test_node.keeper_socket(id), url.as_str()).await.unwrap();
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

async fn whatever_is_damaged_the_newest_whole_one_stands_in(scene: Scene, database: Database) {
    let newest = begin(&scene).await;
    let parts = database.parts(true);
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
        database.flip(part);
        stands_in(1).await;
        database.flip(part);
    }
    for part in &parts {
        database.flip(part);
    }
    stands_in(parts.len()).await;

    // Whoever asks the audit log is told, too.
    scene.client().resume_session("shop").await.unwrap();
    let entries = scene.client().list_audit(&ListAudit::default()).await.unwrap().items;
    let resumed = entries.iter().find(|entry| entry.action == "session.resume").unwrap();
    assert_eq!(resumed.detail["insteadOf"], newest.to_string());
    scene.client().abandon_session("shop").await.unwrap();

    // Where nothing can be read of any, no empty session is handed in.
    let all = database.parts(false);
    for part in all.iter().filter(|part| !parts.contains(part)) {
        database.flip(part);
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
    let database = Database::Sqlite(scene.test_node.data().database());
    whatever_is_damaged_the_newest_whole_one_stands_in(scene, database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_in_postgresql_costs_no_more_than_it_has_to() {
    let url = baton_postgres::create_database().unwrap();
    let test_node = test_nodes::build().with("BATON_DATABASE_URL", &url);
    let scene = Scene::set_in(test_node, "").await;
    whatever_is_damaged_the_newest_whole_one_stands_in(scene, Database::Postgres(url)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_damaged_while_a_sandbox_has_the_session_takes_nothing_from_it() {
    let scene = Scene::set().await;
    let database = Database::Sqlite(scene.test_node.data().database());
    let only = ["shop.example"];
    let mut state = scene.state();
    state["environment"] = json!({"egress": {"only": only}});
    let origin = &mut state["origins"][0];
    origin["storageKey"] = scene.url().into();
    origin["localStorage"] = json!([["token", "t0k3n"]]);
    origin.as_object_mut().unwrap().remove("origin");
    let mut named = Vec::new();
    for at in 0.. {
        let name = format!("shop-{at}");
        // Other files have no list of hosts.
        let id = format!("0190aaaa-0000-7000-8000-{at:012}");
        scene.session_of(&name, &json!({"id": id, "name": name, "state": state})).await;
        let snapshot = scene.client().fetch_session(&name).await.unwrap().snapshot.unwrap().id;
        let parts = database.parts_of(&snapshot.to_string());
        let Some(part) = parts.get(at) else { break };
        let sandbox = scene.sandbox_of(&name).await;
        database.flip(part);
        let ended = scene.end(&sandbox).await.browser_session.unwrap();
        assert!(ended.snapshot.is_some(), "{:?}", ended.reason);
        let damaged = ended.left_out.items.into_iter().filter(|item| item.kind == ItemKind::Part);
        named.extend(damaged.map(|item| item.place));

        let cookies = scene.cookies(&name).await;
        let refresh = ("refresh".to_owned(), "1".to_owned());
        assert!(cookies.contains(&refresh), "{named:?}: {cookies:?}");
        let held = scene.client().fetch_state(&name, true).await.unwrap().state;
        assert_eq!(held["environment"]["egress"]["only"], json!(only), "{named:?}");
        assert!(held.to_string().contains("t0k3n"), "{named:?}: {held}");
    }
    // Of the environment, and of the list in it, nothing had to be read again.
    let mut kinds: Vec<&str> = named.iter().filter_map(|place| place.split(' ').next()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["cookies", "local-storage", "tab"]);
    scene.strike().await;
}
