//! Models at any node of a cluster: a tool is called where what it is about is, and a session of an older protocol
//! goes on at the node that began it.

use crate::cluster::{Pair, done_by};
use crate::fixture::{Node, one_line, problem};
use crate::mcp::handshake::{hello, of};
use crate::mcp::{answer, call, message, told};
use baton_api::Scope;
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::path::Path;

/// The first line of what a tool answers.
async fn first(node: &Node, key: &str, tool: &str, arguments: Value) -> String {
    call(node, key, tool, arguments).await.lines().next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_is_called_at_the_node_that_has_what_it_is_about() {
    let pair = Pair::start().await;
    let shop = json!({"sessionId": "shop"});
    pair.client().put_file("shop", "note.txt", b"by hand".to_vec()).await.unwrap();
    let files = first(&pair.wrong, &pair.ada, "session_files", shop.clone()).await;
    let folder = pair.right.folder.data.path().display().to_string();
    assert!(files.starts_with("note.txt 7 B ") && files.contains(&folder), "{files}");
    // A refusal is that of the session's node, with what a model does next.
    let refused = call(&pair.wrong, &pair.ada, "session_capture", shop.clone()).await;
    assert_eq!(refused, call(&pair.right, &pair.ada, "session_capture", shop.clone()).await);
    insta::assert_snapshot!(refused, @r"
    error: expected session shop to be active, found it recoverable
    Next: list_sessions tells the state: an active session is used as it is or closed first, any other is brought back with session_resume
    ");
    // What the database says, and what is nobody's, any node says.
    let history = first(&pair.wrong, &pair.ada, "session_history", shop.clone()).await;
    insta::assert_snapshot!(history, @"1 snapshot of shop; * is what a resume takes");
    let missing = first(&pair.wrong, &pair.ada, "session_files", json!({"sessionId": "x"})).await;
    insta::assert_snapshot!(missing, @r#"error: no session "x""#);
    // No word is passed on for who may not.
    let reader = pair.right.as_owner("ada", &[Scope::Read]).await;
    let refused = first(&pair.wrong, reader.key().expose_secret(), "session_files", shop).await;
    insta::assert_snapshot!(refused, @"error: expected a key with the scope drive, found one with read");
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_asked_by_the_node_that_the_client_speaks_with() {
    let pair = Pair::start().await;
    let mut params = json!({"name": "session_export", "arguments": {"sessionId": "shop"}});
    // A client that can ask nobody.
    let refused = told(&ask(&pair, &params, &json!({})).await);
    insta::assert_snapshot!(refused, @r"
    error: a person has to confirm this, and this client cannot ask one: Write session shop to a file? Whoever has the file is logged in wherever shop is.
    Next: ask the user to type: baton export shop --format session -o FILE
    ");
    // One that asks, and calls again with the answer.
    let can_ask = json!({"elicitation": {"form": {}}});
    let asked = ask(&pair, &params, &can_ask).await;
    let question = asked["result"]["inputRequests"]["confirm"]["params"]["message"].as_str();
    insta::assert_snapshot!(question.unwrap(), @"Write session shop to a file? Whoever has the file is logged in wherever shop is.");
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({"confirm": {"action": "decline"}});
    insta::assert_snapshot!(told(&ask(&pair, &params, &can_ask).await), @r"
    error: the user was asked and did not agree: Write session shop to a file? Whoever has the file is logged in wherever shop is.
    Next: do something else, or ask the user what they want
    ");
    params["inputResponses"] = json!({"confirm": {"action": "accept", "content": {}}});
    let written = ask(&pair, &params, &can_ask).await;
    let path = written["result"]["structuredContent"]["path"].as_str().unwrap().to_owned();
    let folder = pair.right.folder.data.path();
    assert!(Path::new(&path).starts_with(folder), "{path} is the session's node's");
    assert!(std::fs::read_to_string(&path).unwrap().contains("shop.test"));
    pair.stop().await;
}

/// What Ada is answered at the node that does not have her session.
async fn ask(pair: &Pair, params: &Value, asks: &Value) -> Value {
    let sent = message(&pair.wrong, &pair.ada, "tools/call", params.clone(), asks).send();
    answer(sent.await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_of_an_older_protocol_goes_on_through_any_node_until_its_own_has_ended() {
    let pair = Pair::start().await;
    let (right, wrong) = (pair.right.id().to_string(), pair.wrong.id().to_string());
    let begun = hello(&pair.right, "2025-06-18", &pair.ada).send().await.unwrap();
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let within = |node: &Node, method: Method, key: &str| {
        of(node, method, key).header("mcp-session-id", &session)
    };
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let sent = within(&pair.wrong, Method::POST, &pair.ada).json(&ready).send().await.unwrap();
    assert_eq!((sent.status().as_u16(), done_by(&sent)), (202, right.as_str()));
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    for (node, key) in [(&pair.wrong, &pair.ada), (&pair.right, &pair.ada)] {
        let listed = within(node, Method::POST, key).json(&list).send().await.unwrap();
        assert_eq!(done_by(&listed), right);
        assert_eq!(answer(listed).await["result"]["tools"].as_array().unwrap().len(), 37);
    }
    // It is no other key's at any node.
    let eve = pair.right.as_owner("eve", &[Scope::Read]).await;
    let eve = eve.key().expose_secret();
    let stolen = within(&pair.wrong, Method::POST, eve).json(&list).send().await.unwrap();
    insta::assert_snapshot!(one_line(&problem(stolen).await), @"404 route_not_found: expected a session of the protocol that this key began, found none");
    // What the node has to tell besides its answers comes through the other as well.
    let told = within(&pair.wrong, Method::GET, &pair.ada).send().await.unwrap();
    assert_eq!((told.status().as_u16(), done_by(&told)), (200, right.as_str()));
    drop(told);

    // A client hears that its node has ended, and begins anew where it is.
    let Pair { right: own, wrong: other, store, ada, .. } = pair;
    own.stop().await;
    let late = within(&other, Method::POST, &ada).json(&list).send().await.unwrap();
    assert_eq!(done_by(&late), wrong);
    insta::assert_snapshot!(one_line(&problem(late).await), @"404 route_not_found: expected a session of the protocol that this key began, found none");
    assert_eq!(hello(&other, "2025-06-18", &ada).send().await.unwrap().status(), 200);
    other.stop().await;
    store.close().await;
}
