//! Agents share a board through the tools: each task is one agent's, and everybody sees who does what.

use super::{call, unattended, with_a_session};
use crate::fixture::Node;
use baton_api::{PassSession, Scope};
use serde_json::{Value, json};

/// The id of a task that was added.
async fn add(node: &Node, description: &str, more: Value) -> String {
    let mut arguments = json!({"description": description, "agent": "kimi"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let added = unattended(node, "federation_add_task", arguments).await;
    added["task"]["id"].as_str().unwrap().to_owned()
}

/// What is told, without what differs from run to run.
async fn told(node: &Node, tool: &str, arguments: Value, ids: &[(&str, &str)]) -> String {
    let text = call(node, &node.admin_key(), tool, arguments).await;
    ids.iter().fold(text, |text, (id, name)| text.replace(id, name))
}

#[tokio::test]
async fn agents_share_a_board_and_each_task_is_one_agents() {
    let node = with_a_session().await;
    let empty = told(&node, "federation_status", json!({}), &[]).await;
    insta::assert_snapshot!(empty, @"The board is empty; federation_update or federation_add_task begins one.");

    let update = json!({"agent": "kimi", "status": "active", "task": "testing the router"});
    told(&node, "federation_update", update, &[]).await;
    let tests = add(&node, "run the tests", json!({"priority": "high"})).await;
    let docs = add(&node, "publish the docs", json!({"after": [tests]})).await;
    let ids = [(tests.as_str(), "TESTS"), (docs.as_str(), "DOCS")];

    // Without a name of a task, the best that is free; and nobody else gets it.
    let claimed = told(&node, "federation_claim_task", json!({"agent": "codex"}), &ids).await;
    insta::assert_snapshot!(claimed, @"task TESTS high claimed by codex, fence 1: run the tests");
    let held = json!({"agent": "kimi", "taskId": tests});
    let refused = told(&node, "federation_claim_task", held.clone(), &ids).await;
    let first = refused.lines().next().unwrap();
    assert!(first.starts_with("error: ") && first.contains("codex"), "{refused}");
    let refused = told(&node, "federation_finish_task", held, &ids).await;
    assert!(refused.starts_with("error: ") && refused.contains("codex"), "{refused}");

    // The board shows who drives a session, too.
    let kimi = node.admin().as_agent(Some("kimi".parse().unwrap()));
    let to = PassSession { to: Some("kimi".parse().unwrap()), reason: None };
    kimi.pass_session("shop", &to).await.unwrap();
    let board = told(&node, "federation_status", json!({}), &ids).await;
    let seen =
        (0..60).fold(board, |board, age| board.replace(&format!("seen {age}s ago"), "seen NOW"));
    insta::assert_snapshot!(seen, @r"
    agent codex active, seen NOW
    agent kimi active, seen NOW: testing the router
    task TESTS high claimed by codex, fence 1: run the tests
    task DOCS normal pending: publish the docs, waits for TESTS
    2 tasks open, 0 completed
    session shop: kimi drives it
    ");

    let done = json!({"agent": "codex", "taskId": tests, "fence": 1});
    let done = told(&node, "federation_finish_task", done, &ids).await;
    insta::assert_snapshot!(done, @"task TESTS high completed by codex: run the tests");
    let next = told(&node, "federation_claim_task", json!({"agent": "kimi"}), &ids).await;
    insta::assert_snapshot!(next, @"task DOCS normal claimed by kimi, fence 2: publish the docs");
    let back = json!({"agent": "kimi", "taskId": docs, "release": true});
    let back = told(&node, "federation_finish_task", back, &ids).await;
    insta::assert_snapshot!(back, @"task DOCS normal pending: publish the docs");
    node.stop().await;
}

#[tokio::test]
async fn whoever_is_no_agent_or_not_of_this_machine_is_told_so() {
    let node = with_a_session().await;
    let nameless = told(&node, "federation_claim_task", json!({}), &[]).await;
    insta::assert_snapshot!(nameless, @r"
    error: expected arguments as the tool's schema says: no agent; give agent, or start the client with BATON_AGENT
    Next: call it again with these corrected
    ");
    let path = json!({"agent": "../kimi", "status": "active"});
    let refused = told(&node, "federation_update", path, &[]).await;
    assert!(refused.starts_with("error: "), "{refused}");
    let nothing = json!({"agent": "kimi", "taskId": "task-zzzzzz"});
    let nothing = told(&node, "federation_finish_task", nothing, &[]).await;
    assert!(nothing.starts_with("error: "), "{nothing}");

    // The board is the machine's user's, and nobody else's.
    let scopes = [Scope::Read, Scope::Drive].into();
    let name = "bob".to_owned();
    let request =
        baton_api::CreateKey { name, owner: Some("bob".parse().unwrap()), scopes, for_node: None };
    let bob = node.admin().create_key(&request).await.unwrap();
    for (tool, arguments) in [
        ("federation_status", json!({})),
        ("federation_update", json!({"agent": "bob", "status": "active"})),
    ] {
        let refused = call(&node, &bob.secret, tool, arguments).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused, @r"
            error: expected a board of yours at this node, found none
            Next: baton federation works on its files
            ");
        }
    }
    node.stop().await;
}
