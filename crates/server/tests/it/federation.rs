//! The board over HTTP: read, changed, and followed.

use crate::carry::with_a_session;
use crate::fixture::{Node, one_line, problem};
use baton_api::client::FederationEvents;
use baton_api::{ChangeFederation, ClientError, ErrorCode, FederationView, PassSession, Scope};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// How long it may take until what happened is told.
const LIMIT: Duration = Duration::from_mins(1);

/// Waits until the board is as expected: changes that come together are told as one.
async fn until(
    events: &mut FederationEvents,
    is: impl Fn(&FederationView) -> bool,
) -> FederationView {
    let told = async {
        loop {
            let view = events.next().await.unwrap().expect("the node is there");
            if is(&view) {
                return view;
            }
        }
    };
    timeout(LIMIT, told).await.expect("what happened is told")
}

fn status(view: &FederationView, agent: &str) -> Option<String> {
    let status = view.board.as_ref()?.pointer(&format!("/agents/{agent}/status"))?;
    status.as_str().map(ToOwned::to_owned)
}

fn active(task: &str) -> ChangeFederation {
    ChangeFederation::UpdateAgent {
        agent: Some("kimi".parse().unwrap()),
        status: "active".to_owned(),
        current_task: Some(task.to_owned()),
        workspace: None,
        model: None,
    }
}

async fn change(node: &Node, agent: Option<&str>, body: Value) -> reqwest::Response {
    let request = node.admin_request(Method::POST, "/federation").json(&body);
    let request = match agent {
        Some(agent) => request.header("baton-agent", agent),
        None => request,
    };
    request.send().await.unwrap()
}

#[tokio::test]
async fn a_task_goes_from_the_first_word_to_the_archive() {
    let node = Node::start().await;
    let admin = node.admin();
    assert_eq!(admin.show_federation().await.unwrap(), FederationView::default());

    let add = json!({"operation": "add_task", "description": "write the docs", "priority": "high"});
    let added: Value = change(&node, Some("kimi"), add).await.json().await.unwrap();
    let id = added["task"]["id"].as_str().unwrap().to_owned();
    // Who acts is said in the header, or in the request.
    let claim = json!({"operation": "claim_task"});
    let claimed: Value = change(&node, Some("codex"), claim).await.json().await.unwrap();
    assert_eq!(
        (&claimed["task"]["id"], &claimed["task"]["status"]),
        (&json!(id), &json!("claimed"))
    );
    for operation in ["start_task", "complete_task"] {
        let held = json!({"operation": operation, "agent": "kimi", "task": id});
        let refused = problem(change(&node, Some("codex"), held).await).await;
        assert_eq!(refused.status, 409, "{}", one_line(&refused));
        let held = json!({"operation": operation, "task": id, "fence": 1});
        assert_eq!(change(&node, Some("codex"), held).await.status(), 200);
    }
    let view = admin.show_federation().await.unwrap();
    assert_eq!(view.board.unwrap()["tasks"][0]["status"], "completed");

    let end = json!({"operation": "end_sprint"});
    let ended: Value = change(&node, None, end).await.json().await.unwrap();
    assert!(ended["archived"].as_str().unwrap().contains('T'), "{ended}");
    assert_eq!(admin.show_federation().await.unwrap().board, None);
    node.stop().await;
}

#[tokio::test]
async fn what_cannot_be_done_says_why() {
    let node = Node::start().await;
    let mut told = Vec::new();
    for body in [
        json!({"operation": "claim_task"}),
        json!({"operation": "fly"}),
        json!({"operation": "update_agent", "agent": "../kimi", "status": "active"}),
        json!({"operation": "heartbeat", "agent": "kimi", "more": 1}),
        json!({"operation": "update_agent", "agent": "kimi", "status": ""}),
        json!({"operation": "close", "agent": "kimi"}),
        json!({"operation": "set_router", "accuracy": 2}),
    ] {
        told.push(one_line(&problem(change(&node, None, body).await).await));
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    422 invalid_request: expected agent to be an agent's name, here or in the header Baton-Agent, found none
    422 invalid_request: in the body, operation: unknown variant `fly`, expected one of `update_agent`, `heartbeat`, `add_task`, `claim_task`, `start_task`, `complete_task`, `release_task`, `block_task`, `set_router`, `set_sprint`, `end_sprint`, `close` at line 1 column 18
    422 invalid_request: in the body, expected an agent's name: 1 to 64 letters, digits, '.', '_' or '-'
    422 invalid_request: in the body, unknown field `more`, expected `agent`
    422 invalid_request: expected a status, found an empty text
    404 not_on_board: expected an active session, found none
    422 invalid_request: expected an accuracy from 0 to 1, found 2
    ");
    // Only whoever may drive changes it, and it is nobody else's.
    let reader = node.as_owner("local", &[Scope::Read]).await;
    assert_eq!(
        reader.change_federation(&active("x")).await.unwrap_err().code(),
        Some(ErrorCode::Forbidden)
    );
    reader.show_federation().await.unwrap();
    let bob = node.as_owner("bob", &[Scope::Read, Scope::Drive]).await;
    for refused in [
        bob.show_federation().await.map(drop),
        bob.change_federation(&active("x")).await.map(drop),
        bob.follow_federation().await.map(drop),
    ] {
        assert_eq!(refused.unwrap_err().code(), Some(ErrorCode::NotOnBoard));
    }
    // His sessions are his, though.
    assert_eq!(bob.list_driven_sessions().await.unwrap().items, []);
    node.stop().await;
}

#[tokio::test]
async fn whoever_follows_hears_of_every_change() {
    let node = with_a_session().await;
    let (admin, reader) = (node.admin(), node.as_owner("local", &[Scope::Read]).await);
    let mut followed =
        [admin.follow_federation().await.unwrap(), reader.follow_federation().await.unwrap()];
    for events in &mut followed {
        let first = timeout(LIMIT, events.next()).await.unwrap().unwrap().unwrap();
        assert_eq!(first, FederationView::default());
    }
    // A change by the node, one by another program, and one of who drives a session.
    admin.change_federation(&active("testing")).await.unwrap();
    for events in &mut followed {
        until(events, |view| status(view, "kimi").as_deref() == Some("active")).await;
    }
    let file = node.folder.board().join("sessions/active-session.json");
    let mut board: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    board["agents"]["claude"] = json!({"status": "idle", "mood": "good"});
    std::fs::write(file.with_extension("tmp"), board.to_string()).unwrap();
    std::fs::rename(file.with_extension("tmp"), &file).unwrap();
    for events in &mut followed {
        let view = until(events, |view| status(view, "claude").is_some()).await;
        assert_eq!(view.board.unwrap()["agents"]["claude"]["mood"], "good");
    }
    let to = PassSession { to: Some("kimi".parse().unwrap()), reason: None };
    admin.pass_session("shop", &to).await.unwrap();
    for events in &mut followed {
        let view = until(events, |view| !view.sessions.is_empty()).await;
        assert_eq!(
            (view.sessions[0].session.as_str(), view.sessions[0].agent.as_str()),
            ("shop", "kimi")
        );
    }
    node.stop().await;
}

#[tokio::test]
async fn a_board_that_cannot_be_read_is_told_and_waited_for() {
    let node = Node::start().await;
    let admin = node.admin();
    admin.change_federation(&active("testing")).await.unwrap();
    let mut events = admin.follow_federation().await.unwrap();
    until(&mut events, |view| view.board.is_some()).await;
    let file = node.folder.board().join("sessions/active-session.json");
    let good = std::fs::read(&file).unwrap();
    std::fs::write(&file, &good[..good.len() / 2]).unwrap();
    let failed = timeout(LIMIT, events.next()).await.unwrap().unwrap_err();
    assert!(matches!(failed, ClientError::Problem(_)), "{failed}");
    std::fs::write(&file, &good).unwrap();
    until(&mut events, |view| view.board.is_some()).await;
    node.stop().await;
}

#[tokio::test]
async fn who_follows_is_let_go_when_the_node_ends_or_the_key_is_revoked() {
    let node = Node::start().await;
    let reader = baton_api::CreateKey {
        name: "reader".to_owned(),
        owner: None,
        scopes: [Scope::Read].into(),
        for_node: None,
    };
    let reader = node.admin().create_key(&reader).await.unwrap();
    let mut revoked = node.client(&reader.secret).follow_federation().await.unwrap();
    let mut ended = node.admin().follow_federation().await.unwrap();
    for events in [&mut revoked, &mut ended] {
        timeout(LIMIT, events.next()).await.unwrap().unwrap().unwrap();
    }
    node.admin().revoke_key("reader", None).await.unwrap();
    assert_eq!(timeout(LIMIT, revoked.next()).await.unwrap().unwrap(), None);
    let (_, last) = tokio::join!(node.stop(), timeout(LIMIT, ended.next()));
    assert_eq!(last.unwrap().unwrap(), None);
}
