//! The database ends as in a crash, and comes back at the same place: nobody loses anything, what is asked meanwhile is
//! answered with what is true, and no node has to be started anew.

use super::moving::{signed_in, site, title};
use super::{code, home, id, start_with};
use crate::cdp::Tool;
use crate::notes::eventually;
use baton_api::{Client, ErrorCode, ListAudit, ListSessions, OpenCdp, OpenSession};
use baton_playground::TestNode;
use baton_playground::victims::{are_gone, is_alive};
use baton_postgres::Server;
use baton_session::Lifecycle;
use reqwest::{Method, StatusCode};
use serde_json::Value;
use tokio::task::spawn_blocking;

/// A tool that drives a session of a node.
async fn drive(client: &Client, name: &str) -> Tool {
    let access = client.open_cdp(name, &OpenCdp { reusable: true }).await.unwrap();
    Tool::connect(&access.cdp_url).await
}

/// What a node answers to a request: its status, when to ask again, and what it says.
async fn ask(
    node: &TestNode,
    method: Method,
    path: &str,
    key: &str,
) -> (StatusCode, Option<String>, Value) {
    let url = node.client().unwrap().base().join(path).unwrap();
    let answer = reqwest::Client::new().request(method, url).bearer_auth(key).send().await.unwrap();
    let again = answer.headers().get("retry-after").map(|again| again.to_str().unwrap().to_owned());
    (answer.status(), again, answer.json().await.unwrap_or_default())
}

/// What of a session was captured, as text.
async fn captured(client: &Client, name: &str) -> String {
    serde_json::to_string(&client.fetch_state(name, true).await.unwrap()).unwrap()
}

/// What nodes are asked while there is no database.
const ASKED: [(Method, &str); 8] = [
    (Method::GET, "sessions"),
    (Method::GET, "sessions/shop"),
    (Method::GET, "sessions/bank/state"),
    (Method::POST, "sessions/shop/capture"),
    (Method::POST, "sessions/bank/close"),
    (Method::POST, "sessions/bank/resume"),
    (Method::GET, "nodes"),
    (Method::GET, "keys"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_goes_on_while_the_database_restarts_and_what_is_said_meanwhile_is_true() {
    let mut server = spawn_blocking(|| Server::start().unwrap()).await.unwrap();
    let database = server.create_database().unwrap();
    // Browsers live for three quarters of it.
    let settings = [
        ("BATON_LEASE", "40".to_owned()),
        ("BATON_SESSION_SNAPSHOT_INTERVAL", "1".to_owned()),
        ("BATON_CLUSTER_FAILOVER", "true".to_owned()),
    ];
    let own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let site = site().await;
    signed_in(&own, "shop", &site).await;
    signed_in(&other, "bank", &site).await;
    let homes = [(home(&own, "shop").await, "shop"), (home(&own, "bank").await, "bank")];
    assert!(homes.iter().all(|(home, _)| home.is_some()));
    let mut holders = Vec::new();
    for (at, name) in &homes {
        let node = if *at == Some(id(&own).await) { &own } else { &other };
        let session = own.client().unwrap().fetch_session(name).await.unwrap().session.id;
        holders.extend(node.holders(session).await.unwrap());
    }
    // The one through its own node, the other through the wrong one.
    let tools =
        [drive(own.client().unwrap(), "shop").await, drive(own.client().unwrap(), "bank").await];
    let key = |node: &TestNode| std::fs::read_to_string(node.data().admin_key()).unwrap();

    let mut server = spawn_blocking(move || {
        server.stop().unwrap();
        server
    })
    .await
    .unwrap();
    for node in [&own, &other] {
        for (method, path) in ASKED {
            let (status, again, said) = ask(node, method.clone(), path, key(node).trim()).await;
            assert_eq!(status, 503, "{method} {path}: {said}");
            assert_eq!(said["code"], "storage_unavailable", "{method} {path}: {said}");
            assert!(said["detail"].as_str().unwrap().contains("the database"), "{path}: {said}");
            assert!(said["hint"].as_str().unwrap().contains("again"), "{path}: {said}");
            assert_eq!(again.as_deref(), Some("5"), "{path}");
        }
        // Whether a key is good is known to nobody now.
        let (status, ..) = ask(node, Method::GET, "sessions", "baton_wrong").await;
        assert_ne!(status, 200);
        let (status, ..) = ask(node, Method::GET, "ready", "").await;
        assert_eq!(status, 503);
        let (status, ..) = ask(node, Method::GET, "health", "").await;
        assert_eq!(status, 200, "the node lives");
        let request = OpenSession::new("new".parse().unwrap(), [site.url("/").unwrap()]);
        let refused = node.client().unwrap().open_session(&request).await.unwrap_err();
        assert_eq!(code(&refused), ErrorCode::StorageUnavailable, "{refused}");
    }
    // Browsers live, and their tools drive on.
    for tool in &tools {
        assert_eq!(tool.evaluate("document.title").await, "login=ada");
        tool.evaluate("document.cookie = 'meanwhile=yes; max-age=9999'").await;
    }
    let server = spawn_blocking(move || {
        server.restart().unwrap();
        server
    })
    .await
    .unwrap();

    for (node, name) in [(&own, "shop"), (&other, "bank"), (&own, "bank"), (&other, "shop")] {
        let client = node.client().unwrap();
        eventually("the node is ready again", async || {
            ask(node, Method::GET, "ready", "").await.0 == 200
        })
        .await;
        let state = captured(client, name).await;
        assert!(state.contains("login"), "what was acknowledged is there: {state}");
        // Nobody asks for it: the node captures by itself what it could not write.
        eventually("what happened meanwhile is captured", async || {
            captured(client, name).await.contains("meanwhile")
        })
        .await;
        let found = client.fetch_session(name).await.unwrap();
        assert_eq!(found.session.state, Lifecycle::Active);
        client.capture_session(name).await.unwrap();
    }
    // They are the same browsers, at the same nodes, driven by the same tools.
    assert!(holders.iter().all(|(_, pid)| is_alive(*pid)), "{holders:?}");
    for (at, name) in homes {
        assert_eq!(home(&other, name).await, at);
    }
    for tool in tools {
        assert_eq!(tool.evaluate("document.title").await, "login=ada");
    }
    let names = |client: Client| async move {
        let items = client.list_sessions(&ListSessions::default()).await.unwrap().items;
        items.into_iter().map(|session| session.name.to_string()).collect::<Vec<_>>()
    };
    // Of what was refused, nothing is left.
    let mut listed = names(own.client().unwrap().clone()).await;
    listed.sort();
    assert_eq!(listed, ["bank", "shop"]);
    own.client().unwrap().list_audit(&ListAudit::default()).await.unwrap();
    let client = other.client().unwrap();
    client.close_session("shop").await.unwrap();
    client.resume_session("shop").await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
    drop(server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ended_because_the_database_was_away_for_too_long_comes_back_by_itself() {
    let mut server = spawn_blocking(|| Server::start().unwrap()).await.unwrap();
    let database = server.create_database().unwrap();
    let settings = [("BATON_LEASE", "4".to_owned()), ("BATON_CLUSTER_FAILOVER", "true".to_owned())];
    let own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let site = site().await;
    let mut holders = Vec::new();
    for name in ["shop", "bank"] {
        signed_in(&own, name, &site).await;
        let session = own.client().unwrap().fetch_session(name).await.unwrap().session.id;
        let at_own = home(&own, name).await == Some(id(&own).await);
        holders.extend(if at_own { &own } else { &other }.holders(session).await.unwrap());
    }
    let mut server = spawn_blocking(move || {
        server.stop().unwrap();
        server
    })
    .await
    .unwrap();
    // Nobody could say any longer that it holds them.
    are_gone(&holders).await.unwrap();
    let server = spawn_blocking(move || {
        server.restart().unwrap();
        server
    })
    .await
    .unwrap();
    for name in ["shop", "bank"] {
        for node in [&own, &other] {
            let client = node.client().unwrap();
            eventually("it runs", async || client.capture_session(name).await.is_ok()).await;
            assert_eq!(title(client, name).await, "login=ada");
        }
    }
    own.clear().await.unwrap();
    other.clear().await.unwrap();
    drop(server);
}
