//! An agent speaks with one node, and its sessions run wherever there is room.

use super::{home, id, start_with};
use crate::mcp::{agent, call, first};
use crate::notes::{Notes, eventually};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_at_one_node_uses_sessions_at_all_of_them() {
    let database = baton_postgres::create_database().unwrap();
    let one = [("BATON_BROWSER_MOST", "1".to_owned())];
    let own = start_with(&database, "own", &one).await;
    let other = start_with(&database, "other", &one).await;
    let ids = [id(&own).await, id(&other).await];
    eventually("both are known to have room", async || {
        let all = own.client().unwrap().list_nodes().await.unwrap().items;
        all.len() == 2 && all.iter().all(|node| node.places == Some(1))
    })
    .await;
    let notes = Notes::start().await;
    let url = notes.request("x").urls[0].clone();
    let agent = agent(&own).await;

    // Two sessions fill two nodes, and a third finds no room.
    let mut homes = Vec::new();
    for name in ["first", "second"] {
        let opened = call(&agent, "session_open", json!({"name": name, "urls": [url]})).await;
        assert!(first(&opened).starts_with(&format!("{name} is active.")), "{opened}");
        homes.push(home(&own, name).await.unwrap());
    }
    assert!(ids.iter().all(|id| homes.contains(id)), "{homes:?}");
    eventually("both are known to be full", async || {
        let all = own.client().unwrap().list_nodes().await.unwrap().items;
        all.iter().all(|node| node.places == Some(0))
    })
    .await;
    let full = call(&agent, "session_open", json!({"name": "third"})).await;
    assert!(full.starts_with("error: expected a node with room"), "{full}");

    // Whichever it is, it is captured, closed and brought back as one of the node itself.
    let login = other.client().unwrap().fetch_session("second").await.unwrap().session.id;
    let there = if homes[1] == ids[0] { &own } else { &other };
    notes.write(there, login, "logged in").await;
    for name in ["first", "second"] {
        let shown = json!({"sessionId": name});
        let saved = call(&agent, "session_capture", shown.clone()).await;
        assert!(saved.starts_with(&format!("Saved {name}: ")), "{saved}");
        let closed = call(&agent, "session_close", shown.clone()).await;
        assert!(first(&closed).starts_with(&format!("{name} is closed.")), "{closed}");
        let params = json!({
            "name": "session_resume", "arguments": shown, "_meta": {"progressToken": name},
        });
        let resumed = agent.request("tools/call", params).await.unwrap();
        let told = resumed["content"][0]["text"].as_str().unwrap();
        assert!(first(told).starts_with(&format!("{name} is active.")), "{told}");
    }
    assert_eq!(home(&own, "second").await, Some(homes[1]), "its profile is there");
    assert_eq!(notes.read(there, login).await, "logged in");
    // The client heard that work went on, also at the other node.
    let told = agent.notifications();
    for name in ["first", "second"] {
        let of = |told: &&Value| told["params"]["progressToken"] == name;
        let said = told.iter().find(of).unwrap_or_else(|| panic!("nothing of {name} in {told:?}"));
        assert_eq!(said["params"]["message"], format!("resuming {name}, 0 s"));
    }
    // Nobody can be asked here: the same words as for a session of the node itself.
    for name in ["first", "second"] {
        let told = call(&agent, "session_abandon", json!({"sessionId": name})).await;
        let expected = format!(
            "error: a person has to confirm this, and this client cannot ask one: Abandon session {name}?"
        );
        assert!(told.starts_with(&expected), "{told}");
    }
    agent.close().await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_that_agents_open_together_find_the_room_that_there_is() {
    let database = baton_postgres::create_database().unwrap();
    let most = |most: &str| [("BATON_BROWSER_MOST", most.to_owned())];
    let own = start_with(&database, "own", &most("1")).await;
    let other = start_with(&database, "other", &most("3")).await;
    eventually("both are known to have room", async || {
        let nodes = own.client().unwrap().list_nodes().await.unwrap().items;
        nodes.iter().filter_map(|node| node.places).sum::<u64>() == 4
    })
    .await;
    let notes = Notes::start().await;
    let url = notes.request("x").urls[0].clone();
    let agents = [agent(&own).await, agent(&own).await, agent(&own).await];
    let open = async |at: usize, name: &str| {
        call(&agents[at], "session_open", json!({"name": name, "urls": [url]})).await
    };
    // All of them see the one place of the node that is asked.
    let opened = tokio::join!(open(0, "first"), open(1, "second"), open(2, "third"));
    let mut homes = Vec::new();
    for (name, opened) in [("first", opened.0), ("second", opened.1), ("third", opened.2)] {
        assert!(first(&opened).starts_with(&format!("{name} is active.")), "{opened}");
        homes.push(home(&own, name).await.unwrap());
    }
    let own_id = id(&own).await;
    assert!(homes.iter().filter(|home| **home == own_id).count() <= 1, "{homes:?}");
    for agent in agents {
        agent.close().await.unwrap();
    }
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
