//! Sandboxes at any node of a cluster: which node is asked, without one that is made.

use crate::cluster::{Pair, done_by};
use crate::fixture::{one_line, problem};
use baton_api::Scope;
use baton_session::SandboxId;
use reqwest::{Method, Response};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

/// What somebody with the scope is answered at the node that does not have the session.
async fn post(pair: &Pair, key: &str, path: &str, body: &Value) -> Response {
    pair.wrong.request(Method::POST, path).bearer_auth(key).json(body).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_is_made_where_its_session_is_and_found_by_its_id() {
    let pair = Pair::start().await;
    let (right, wrong) = (pair.right.id(), pair.wrong.id());
    let key = pair.right.as_owner("ada", &[Scope::Sandbox]).await;
    let key = key.key().expose_secret();
    let session = json!({"type": "reference", "sessionId": "shop"});
    let made = post(&pair, key, "/api/sandboxes", &json!({"browserSession": session})).await;
    assert_eq!(done_by(&made), right.to_string());
    let messages = json!([{"role": "user", "content": "look"}]);
    let chat = json!({"model": "none", "messages": messages, "browser_session_id": "shop"});
    assert_eq!(done_by(&post(&pair, key, "/v1/chat/completions", &chat).await), right.to_string());
    // A session that is nowhere, and a body that makes no sense, are refused where they came.
    let unknown = json!({"browserSession": {"type": "reference", "sessionId": "none"}});
    for body in [unknown, json!({"browserSession": 7}), json!([])] {
        assert_eq!(done_by(&post(&pair, key, "/api/sandboxes", &body).await), wrong.to_string());
    }

    let ask = async |method: Method, path: String| {
        let request = pair.wrong.request(method, &path).bearer_auth(key);
        request.send().await.unwrap()
    };
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    for (node, made_by) in [(right, right), (wrong, wrong)] {
        let id = SandboxId::made_by(made_by, at, [7; 10]);
        assert!(id.is_of(made_by), "{id}");
        for path in ["", "/files?path=note.txt"] {
            let found = ask(Method::GET, format!("/api/sandboxes/{id}{path}")).await;
            assert_eq!(done_by(&found), node.to_string(), "{path}");
        }
        let ended = ask(Method::DELETE, format!("/api/sandboxes/{id}")).await;
        assert_eq!(done_by(&ended), node.to_string());
        assert_eq!(problem(ended).await.status, 404);
    }
    // The start of an id that no node has.
    let missing = ask(Method::GET, "/api/sandboxes/019b75e8".to_owned()).await;
    insta::assert_snapshot!(one_line(&problem(missing).await), @"404 sandbox_not_found: no sandbox 019b75e8");
    let listed = ask(Method::GET, "/api/sandboxes".to_owned()).await;
    assert_eq!(listed.json::<Value>().await.unwrap(), json!({"items": []}));
    pair.stop().await;
}
