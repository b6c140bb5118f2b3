//! Clients that are no nodes take and bring session files.

use super::pair::{Pair, edit, logged_in, save, seed, state, token};
use crate::fixture::{one_line, problem};
use baton_session::wire::{self, Head, SessionFile};
use baton_session::{SessionId, State};
use reqwest::Method;
use serde_json::{Value, json};

fn file(session: SessionId, state: &State) -> String {
    let head = Head { id: session.to_string(), name: "shop".to_owned(), ..Head::default() };
    wire::write(&SessionFile { head, state: state.clone() })
}

#[tokio::test]
async fn a_file_names_the_revision_that_it_comes_from() {
    let pair = Pair::new().await;
    let node = &pair.cloud;
    let id = seed(node, "shop", &logged_in(&[("shop.test", "one")])).await;
    let saved = save(node, "shop").await;
    let path = format!("/sync/sessions/{id}");
    let got = node.admin_request(Method::GET, &path).send().await.unwrap();
    let tag = got.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(tag, format!("\"{}\"", saved.rev));
    let text = got.text().await.unwrap();
    let (read, _) = wire::read(text.as_bytes()).unwrap();
    assert_eq!(read.head.sync.rev, Some(saved.rev));
    assert_eq!(read.head.sync.checksum, saved.checksum.to_string());
    assert_eq!(read.state, logged_in(&[("shop.test", "one")]));

    let changed = file(id, &logged_in(&[("shop.test", "two")]));
    let send = |tag: Option<String>| {
        let request = node.admin_request(Method::POST, "/sync/sessions");
        let request = request.header("content-type", "application/json").body(changed.clone());
        tag.into_iter().fold(request, |request, tag| request.header("if-match", tag)).send()
    };
    assert_eq!(send(Some(tag.clone())).await.unwrap().status(), 201);
    assert_eq!(token(&state(node, "shop").await, "shop.test").unwrap(), "two");
    // The same once more is based on what is no longer the newest.
    let refused = problem(send(Some(tag)).await.unwrap()).await;
    assert_eq!((refused.status, refused.code.as_str()), (412, "other_revision"));
    edit(node, id, &logged_in(&[("shop.test", "three")])).await;
    // Who names nothing proves nothing: what was here before is no news, and what is new conflicts.
    let said: Value = send(None).await.unwrap().json().await.unwrap();
    assert_eq!((&said["unchanged"], &said["conflicts"]), (&json!(true), &Value::Null));
    let new = file(id, &logged_in(&[("shop.test", "four")]));
    let request = node.admin_request(Method::POST, "/sync/sessions");
    let request = request.header("content-type", "application/json").body(new);
    let conflict: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(conflict["conflicts"].as_array().unwrap().len(), 1);
    pair.stop().await;
}

#[tokio::test]
async fn a_file_of_a_session_that_is_not_here_makes_it() {
    let pair = Pair::new().await;
    let id: SessionId = "0190aaaa-0000-7000-8000-000000000001".parse().unwrap();
    let body = file(id, &logged_in(&[("shop.test", "one")]));
    let request = pair.cloud.admin_request(Method::POST, "/sync/sessions");
    let made = request.header("content-type", "application/json").body(body).send().await.unwrap();
    assert_eq!(made.status(), 201);
    assert_eq!(pair.pull("shop").await.session_id, id);
    let wrong = file(id, &State::default()).replace(&id.to_string(), "../../etc/passwd");
    let request = pair.cloud.admin_request(Method::POST, "/sync/sessions");
    let refused = request.header("content-type", "application/json").body(wrong);
    let refused = problem(refused.send().await.unwrap()).await;
    insta::assert_snapshot!(one_line(&refused), @r#"422 invalid_request: in the session file, at id: expected a session id (a UUID), found "../../etc/passwd""#);
    pair.stop().await;
}

#[tokio::test]
async fn what_is_not_taken_of_a_file_is_told_and_no_other_file_is_taken_for_one() {
    let pair = Pair::new().await;
    let node = &pair.cloud;
    let send = |body: Value| {
        let request = node.admin_request(Method::POST, "/sync/sessions");
        request.header("content-type", "application/json").body(body.to_string()).send()
    };
    let cookie = |name: &str, path: &str| {
        json!({"name": name, "value": "1", "domain": "shop.test",
        "path": path, "sameSite": "None", "secure": name != "bare"})
    };
    let body = json!({
        "id": "0190aaaa-0000-7000-8000-000000000002", "name": "shop", "preview": "data:image/png",
        "state": {"cookies": [cookie("sid", "/"), cookie("bare", "/"), cookie("odd", "here")]},
    });
    let said: Value = send(body).await.unwrap().json().await.unwrap();
    let lines = said["leftOut"]["items"].as_array().unwrap().iter();
    let lines = lines.map(|item| format!("{}: {}", item["where"], item["reason"]));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    "the document": "\"preview\" is no member that is known here: it is left out"
    "shop.test/ bare": "expected Secure together with SameSite=None"
    "shop.testhere odd": "expected a path that starts with '/', found \"here\""
    "#);
    let refused = problem(send(json!([cookie("a", "/"), cookie("b", "/")])).await.unwrap()).await;
    insta::assert_snapshot!(one_line(&refused), @"422 invalid_request: this is a list of cookies; expected a session file, which has an id");
    pair.stop().await;
}
