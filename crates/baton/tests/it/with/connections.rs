//! A server's connections to the browser: they last as long as the browser that is meant, and which
//! session that is, is never a surprise.

use super::bad::set;
use super::scene::{LIMIT, Scene, done, text};
use baton_api::OpenCdp;
use baton_browser::cdp::{self, Connection};
use baton_playground::McpClient;
use serde_json::{Value, json};
use tokio::time::timeout;

const ECHO: &str = "def act(id, params):\n    answer(id, 'alive')\n";

/// Connects to the address that the server was given.
async fn connect(scene: &Scene) -> Connection {
    Connection::start(cdp::connect(&scene.noted("address")).await.unwrap()).0
}

async fn lives(connection: &Connection) -> bool {
    connection.browser().call("Browser.getVersion", json!({})).await.is_ok()
}

/// A call of the server's tool, which finds out which session is meant.
async fn echo(bridge: &McpClient) {
    assert_eq!(done(&bridge.call("echo", json!({})).await.unwrap()), "alive");
}

/// What a tool of ours says that does not do what it should.
async fn refused(bridge: &McpClient, tool: &str, arguments: Value) -> String {
    let answer = bridge.call(tool, arguments).await.unwrap();
    assert_eq!(answer["isError"], true, "{answer}");
    text(&answer).lines().next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_lasts_as_long_as_its_browser_is_meant() {
    let (scene, bridge) = set(ECHO, &[]).await;
    echo(&bridge).await;
    let first = connect(&scene).await;
    for (tool, session) in [
        ("session_resume", "shop"),
        ("session_resume", "nobody"),
        ("session_close", "nobody"),
        ("session_abandon", "shop"),
    ] {
        refused(&bridge, tool, json!({"sessionId": session})).await;
        echo(&bridge).await;
        assert!(lives(&first).await, "{tool} {session} did nothing to the browser");
    }

    done(&bridge.call("session_open", json!({"name": "other"})).await.unwrap());
    let second = connect(&scene).await;
    timeout(LIMIT, first.closed()).await.unwrap();
    echo(&bridge).await;
    assert!(lives(&second).await, "it was opened when the other session was meant");

    refused(&bridge, "session_resume", json!({"sessionId": "shop"})).await;
    echo(&bridge).await;
    timeout(LIMIT, second.closed()).await.unwrap();
    let third = connect(&scene).await;
    done(&bridge.call("session_close", json!({"sessionId": "other"})).await.unwrap());
    echo(&bridge).await;
    assert!(lives(&third).await, "another session was closed");
    done(&bridge.call("session_close", json!({"sessionId": "shop"})).await.unwrap());
    timeout(LIMIT, third.closed()).await.unwrap();
    bridge.close().await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_too_many_costs_the_others_nothing() {
    let (scene, bridge) = set(ECHO, &[]).await;
    echo(&bridge).await;
    let first = connect(&scene).await;
    let node = scene.test_node.client().unwrap();
    let mut others = Vec::new();
    // The keeper of the browser has 32 places.
    for _ in 0..40 {
        let url = node.open_cdp("shop", &OpenCdp::default()).await.unwrap().cdp_url;
        match cdp::connect(url.as_str()).await {
            Ok(transport) => others.push(Connection::start(transport).0),
            Err(_) => break,
        }
    }
    assert!(others.len() < 40, "expected no place for one more");
    assert!(cdp::connect(&scene.noted("address")).await.is_err());
    echo(&bridge).await;
    assert!(lives(&first).await);
    bridge.close().await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bridge_of_one_session_stays_with_it() {
    let (scene, free) = set(ECHO, &[]).await;
    let bridge = scene.bridge("python3 server.py {cdp_url}", &["--session", "shop"]).await;
    echo(&bridge).await;
    let connection = connect(&scene).await;
    done(&bridge.call("session_open", json!({"name": "other"})).await.unwrap());
    echo(&bridge).await;
    assert!(lives(&connection).await, "another session was opened");

    let shop = scene.test_node.client().unwrap().fetch_session("shop").await.unwrap().session.id;
    let nothings = [Value::Null, json!({"sessionId": null}), json!({"session_id": null})];
    for arguments in nothings {
        let captured = bridge.call("session_capture", arguments).await.unwrap();
        done(&captured);
        assert_eq!(captured["structuredContent"]["sessionId"], json!(shop));
    }
    free.close().await.unwrap();
    bridge.close().await.unwrap();
    scene.strike().await;
}
