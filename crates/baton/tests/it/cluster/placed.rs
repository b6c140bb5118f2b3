//! A new session goes where there is room and what it asks for, whichever node is asked.

use super::{code, home, id, settings_file, start_with};
use crate::mcp::{agent, call};
use crate::notes::eventually;
use crate::test_nodes;
use assert_cmd::cargo::cargo_bin_cmd;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::sandbox::CreateSandbox;
use baton_api::{
    AttachSession, ErrorCode, ListHistory, OpenSession, SessionView, SharedFolder, Used,
};
use baton_playground::{Site, TestNode};
use baton_session::{Lifecycle, NodeLabel};
use serde_json::json;
use std::collections::BTreeSet;

async fn site() -> Site {
    let page = async || Html("<title>shop</title><p>Welcome</p>");
    Site::start(Router::new().route("/", get(page))).await.unwrap()
}

/// Opens a session at a node, which asks for these labels.
async fn open(at: &TestNode, name: &str, labels: &[&str], site: &Site) -> SessionView {
    at.client().unwrap().open_session(&asked(name, labels, site)).await.unwrap()
}

fn asked(name: &str, labels: &[&str], site: &Site) -> OpenSession {
    let labels: BTreeSet<NodeLabel> = labels.iter().map(|label| label.parse().unwrap()).collect();
    let urls = [site.url("/").unwrap()];
    OpenSession { labels, ..OpenSession::new(name.parse().unwrap(), urls) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_goes_to_a_node_with_room_and_with_what_it_asks_for() {
    let database = baton_postgres::create_database().unwrap();
    let one = ("BATON_BROWSER_MOST", "1".to_owned());
    let own = start_with(&database, "own", std::slice::from_ref(&one)).await;
    let gpu = [one, ("BATON_CLUSTER_LABELS", "gpu,region=eu".to_owned())];
    let other = start_with(&database, "other", &gpu).await;
    let (own_id, other_id) = (id(&own).await, id(&other).await);
    let site = site().await;
    eventually("both are known to have room", async || {
        let nodes = own.client().unwrap().list_nodes().await.unwrap().items;
        nodes.len() == 2 && nodes.iter().all(|node| node.places == Some(1))
    })
    .await;

    // What asks for a label goes to the node that has it, whichever is asked.
    let first = open(&own, "first", &["gpu"], &site).await;
    assert_eq!(first.session.state, Lifecycle::Active);
    assert_eq!(home(&own, "first").await, Some(other_id));
    let nowhere = own.client().unwrap().open_session(&asked("none", &["tpu"], &site)).await;
    let nowhere = nowhere.unwrap_err();
    assert_eq!(code(&nowhere), ErrorCode::NoRoom);
    insta::assert_snapshot!(nowhere.to_string(), @"expected a node with room for one browser more, found none: other has no label tpu, own has no label tpu");

    // What asks for nothing goes where there is room.
    open(&other, "second", &[], &site).await;
    assert_eq!(home(&other, "second").await, Some(own_id));
    eventually("both are known to be full", async || {
        let nodes = other.client().unwrap().list_nodes().await.unwrap().items;
        nodes.iter().all(|node| node.places == Some(0))
    })
    .await;
    let full = other.client().unwrap().open_session(&asked("third", &[], &site)).await.unwrap_err();
    assert_eq!(code(&full), ErrorCode::NoRoom, "{full}");
    assert!(full.to_string().contains("own has 1 browser and takes 0 more"), "{full}");

    // One that is resumed goes elsewhere when its own node is full by now, and back when that is.
    let client = own.client().unwrap();
    client.close_session("second").await.unwrap();
    open(&own, "third", &[], &site).await;
    assert_eq!(home(&own, "third").await, Some(own_id));
    let full = client.resume_session("second").await.unwrap_err();
    assert_eq!(code(&full), ErrorCode::NoRoom, "{full}");
    client.close_session("first").await.unwrap();
    let second = client.resume_session("second").await.unwrap().session.session;
    assert_eq!(second.state, Lifecycle::Active);
    assert_eq!(home(&own, "second").await, Some(other_id));
    // The labels of a session count for it as long as it is there.
    client.close_session("third").await.unwrap();
    let first = client.resume_session("first").await.unwrap_err();
    assert_eq!(code(&first), ErrorCode::NoRoom, "{first}");
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_that_are_opened_together_find_the_room_that_there_is() {
    let database = baton_postgres::create_database().unwrap();
    let most = |most: &str| [("BATON_BROWSER_MOST", most.to_owned())];
    let own = start_with(&database, "own", &most("1")).await;
    let other = start_with(&database, "other", &most("3")).await;
    let site = site().await;
    eventually("both are known to have room", async || {
        let nodes = own.client().unwrap().list_nodes().await.unwrap().items;
        nodes.iter().filter_map(|node| node.places).sum::<u64>() == 4
    })
    .await;
    // All of them see the one place of the node that is asked.
    let [first, second, third] =
        ["first", "second", "third"].map(|name| open(&own, name, &[], &site));
    tokio::join!(first, second, third);
    let mut homes = Vec::new();
    for name in ["first", "second", "third"] {
        homes.push(home(&own, name).await.unwrap());
    }
    let own_id = id(&own).await;
    let here = homes.iter().filter(|home| **home == own_id).count();
    assert!(here <= 1, "{homes:?}");
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

/// Opens a session by a request of a hundred kilobytes.
async fn open_at_length(at: &TestNode, asked: &OpenSession) -> reqwest::StatusCode {
    let mut body = serde_json::to_string(asked).unwrap();
    body.extend(std::iter::repeat_n(' ', 100 << 10));
    let key = std::fs::read_to_string(at.data().admin_key()).unwrap();
    let url = at.client().unwrap().base().join("sessions").unwrap();
    let request = reqwest::Client::new().post(url).bearer_auth(key.trim());
    let request = request.header("content-type", "application/json").body(body);
    request.send().await.unwrap().status()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_request_goes_where_a_short_one_goes_and_never_stays_at_a_drained_node() {
    let database = baton_postgres::create_database().unwrap();
    let own = start_with(&database, "own", &[]).await;
    let gpu = ("BATON_CLUSTER_LABELS", "gpu".to_owned());
    let other = start_with(&database, "other", &[gpu]).await;
    let (site, other_id) = (site().await, id(&other).await);
    eventually("both are known", async || {
        own.client().unwrap().list_nodes().await.unwrap().items.len() == 2
    })
    .await;
    assert_eq!(open_at_length(&own, &asked("first", &["gpu"], &site)).await, 201);
    assert_eq!(home(&own, "first").await, Some(other_id));

    let (is_done, said, _) = super::moving::drain(&other, &["own"]).await;
    assert!(is_done, "{said}");
    assert_eq!(open_at_length(&own, &asked("second", &[], &site)).await, 201);
    assert_eq!(home(&own, "second").await, Some(other_id));
    // What can only be done at the node that is asked is not done there either.
    let folder = own.folder().join("handed");
    std::fs::create_dir(&folder).unwrap();
    let folder = SharedFolder { path: folder.to_str().unwrap().to_owned(), writable: false };
    let here = OpenSession { files: vec![folder], ..asked("third", &[], &site) };
    let refused = own.client().unwrap().open_session(&here).await.unwrap_err();
    assert_eq!(code(&refused), ErrorCode::NoRoom, "{refused}");
    assert!(refused.to_string().contains("own is being drained"), "{refused}");
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_rests_at_a_drained_node_is_started_at_another_one_or_not_at_all() {
    let database = baton_postgres::create_database().unwrap();
    let own = start_with(&database, "own", &[]).await;
    let other = start_with(&database, "other", &[]).await;
    let (own_id, other_id) = (id(&own).await, id(&other).await);
    let site = site().await;
    open(&own, "shop", &[], &site).await;
    assert_eq!(home(&own, "shop").await, Some(own_id));
    let client = own.client().unwrap();
    let kept = client.list_history("shop", &ListHistory::default()).await.unwrap().items;
    let kept = kept[0].id.to_string();
    client.close_session("shop").await.unwrap();
    let (is_done, said, _) = super::moving::drain(&other, &["own"]).await;
    assert!(is_done, "{said}");

    // It is rolled back where it is, whichever node is asked.
    for at in [&own, &other] {
        let client = at.client().unwrap();
        let refused = client.roll_back_session("shop", &kept).await.unwrap_err();
        assert_eq!(code(&refused), ErrorCode::NoRoom, "{refused}");
        assert!(refused.to_string().contains("being drained"), "{refused}");
        let state = client.fetch_session("shop").await.unwrap().session.state;
        assert_eq!(state, Lifecycle::Closed);
    }
    // Nor does it take a browser of somebody's own, which nobody could bring to another node.
    let attached = AttachSession {
        name: "mine".parse().unwrap(),
        description: None,
        cdp_url: "http://127.0.0.1:9".parse().unwrap(),
    };
    let refused = client.attach_session(&attached).await.unwrap_err();
    assert_eq!(code(&refused), ErrorCode::NoRoom, "{refused}");
    let resumed = client.resume_session("shop").await.unwrap().session.session;
    assert_eq!(resumed.state, Lifecycle::Active);
    assert_eq!(home(&own, "shop").await, Some(other_id));
    client.roll_back_session("shop", &kept).await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_by_itself_runs_as_many_browsers_as_its_settings_say() {
    let node = test_nodes::start(test_nodes::build().with("BATON_BROWSER_MOST", "1")).await;
    let site = site().await;
    open(&node, "first", &[], &site).await;
    let client = node.client().unwrap();
    let full = client.open_session(&asked("second", &[], &site)).await.unwrap_err();
    assert_eq!(code(&full), ErrorCode::NoRoom);
    insta::assert_snapshot!(full.to_string(), @"expected room for one browser more on this node, found 1 of 1 browsers running");
    // Nothing of it is left, and its name is free; it has none of the places.
    client.close_session("first").await.unwrap();
    open(&node, "second", &[], &site).await;
    let full = client.resume_session("first").await.unwrap_err();
    assert_eq!(code(&full), ErrorCode::NoRoom, "{full}");
    // That it found no room is no fault of the session.
    for _ in 0..2 {
        client.resume_session("first").await.unwrap_err();
    }
    client.close_session("second").await.unwrap();
    client.resume_session("first").await.unwrap();
    node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_goes_past_a_node_that_has_as_many_as_it_makes() {
    let database = baton_postgres::create_database().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = [settings_file(&folder, "[sandboxes]\nmost = 1\n")];
    let own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let (own_id, other_id) = (id(&own).await, id(&other).await);
    let client = own.client().unwrap();
    eventually("both are known to have room", async || {
        let nodes = client.list_nodes().await.unwrap().items;
        nodes.len() == 2 && nodes.iter().all(|node| node.sandbox_places == Some(1))
    })
    .await;

    // One node is asked for all of them: by HTTP, by a model, and once too often.
    let first = client.create_sandbox(&CreateSandbox::default()).await.unwrap();
    assert!(first.id.is_of(own_id), "the node that is asked, where another has no more room");
    let agent = agent(&own).await;
    let made = call(&agent, "sandbox_create", json!({})).await;
    agent.close().await.unwrap();
    let second = client.list_sandboxes().await.unwrap().items;
    let second = second.iter().find(|sandbox| sandbox.id != first.id).unwrap().id;
    assert!(second.is_of(other_id) && made.contains(&second.to_string()), "{made}");
    for at in [&own, &other] {
        let full = at.client().unwrap().create_sandbox(&CreateSandbox::default()).await;
        let full = full.unwrap_err();
        assert_eq!(code(&full), ErrorCode::NoRoom);
        assert_eq!(
            full.to_string(),
            "expected a node with room for one sandbox more, found none: other has 1 sandbox and takes 0 more, own has 1 sandbox and takes 0 more"
        );
    }
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(own.data().path()).args(["node", "show", "own"]);
    let shown = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let has = |word: &str| shown.lines().any(|line| line.trim_start().starts_with(word));
    assert!(has("sandboxes 1") && shown.contains(", 0 sandboxes\n"), "{shown}");

    // What ends makes room at once, for whichever node is asked.
    client.delete_sandbox(&second.to_string()).await.unwrap();
    let third = client.create_sandbox(&CreateSandbox::default()).await.unwrap();
    assert!(third.id.is_of(other_id));
    for sandbox in [first.id, third.id] {
        client.delete_sandbox(&sandbox.to_string()).await.unwrap();
    }
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_has_no_more_than_its_quota_at_all_nodes_together() {
    let database = baton_postgres::create_database().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings =
        [settings_file(&folder, "[[quotas]]\nsessions = 3\nbrowsers = 1\nsandboxes = 1\n")];
    let own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let site = site().await;
    let client = other.client().unwrap();

    open(&own, "first", &[], &site).await;
    let full = client.open_session(&asked("second", &[], &site)).await.unwrap_err();
    assert_eq!(code(&full), ErrorCode::QuotaReached);
    insta::assert_snapshot!(full.to_string(), @"expected fewer than 1 running sessions, the quota of local, found 1");
    // Nothing of it is left, and the place of one that ended is free.
    client.close_session("first").await.unwrap();
    open(&other, "second", &[], &site).await;
    let full = client.resume_session("first").await.unwrap_err();
    assert_eq!(code(&full), ErrorCode::QuotaReached, "{full}");
    // That its owner had enough is no fault of the session.
    for _ in 0..2 {
        client.resume_session("first").await.unwrap_err();
    }
    client.close_session("second").await.unwrap();
    client.resume_session("first").await.unwrap();

    // What runs when a node leaves runs on elsewhere, whatever the bound.
    let home_of_first = home(&own, "first").await.unwrap();
    let is_here = home_of_first == id(&own).await;
    let (name, stays) = if is_here { ("own", &other) } else { ("other", &own) };
    let (is_done, said, _) = super::moving::drain(stays, &[name]).await;
    assert!(is_done, "{said}");
    assert_eq!(home(&own, "first").await, Some(id(stays).await));
    let (is_done, ..) = super::moving::drain(stays, &[name, "--undo"]).await;
    assert!(is_done);

    let sandbox = client.create_sandbox(&CreateSandbox::default()).await.unwrap();
    let full = own.client().unwrap().create_sandbox(&CreateSandbox::default()).await.unwrap_err();
    assert_eq!(code(&full), ErrorCode::QuotaReached, "{full}");
    let usage = own.client().unwrap().show_usage(None).await.unwrap();
    let used = |used: Used| (used.used, used.most);
    assert_eq!(used(usage.sessions), (2, Some(3)));
    assert_eq!(used(usage.browsers), (1, Some(1)));
    assert_eq!(used(usage.sandboxes), (1, Some(1)));
    assert!(usage.stored_bytes.used > 0 && usage.stored_bytes.most.is_none());
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(own.data().path()).args(["sessions", "usage"]);
    let shown = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let (counts, stored) = shown.rsplit_once("stored").unwrap();
    assert!(stored.trim_end().ends_with("no bound"), "{stored}");
    insta::assert_snapshot!(counts, @"
    WHAT           USED      MOST
    sessions       2         3
    running now    1         1
    sandboxes now  1         1
    ");
    client.delete_sandbox(&sandbox.id.to_string()).await.unwrap();
    own.client().unwrap().create_sandbox(&CreateSandbox::default()).await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
