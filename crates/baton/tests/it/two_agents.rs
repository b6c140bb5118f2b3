//! A session goes from one node to another and back, by agents over MCP, with a real browser at each
//! side: the eight steps again, and what is left to a person in them.

use crate::login::{SHOWN, log_in};
use crate::mcp::{VERSION, agent, bridge, call, first};
use crate::two_nodes::Story;
use baton_playground::{McpClient, TestNode};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const WHOLE: &str = r#"theme=dark; sid=ada | "first" | 2 | 3 | 5 | one"#;

/// An agent whose user agrees to what shows this fingerprint, and to nothing else; and what the user
/// was asked.
async fn agent_of_a_person(
    test_node: &TestNode,
    seen: String,
) -> (McpClient, Arc<Mutex<Vec<String>>>) {
    let client = bridge(test_node, &[]);
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let questions = Arc::clone(&asked);
    client.answer_elicitations(move |question| {
        let question = question["message"].as_str().unwrap().to_owned();
        let action = if question.contains(&seen) { "accept" } else { "decline" };
        questions.lock().unwrap().push(question);
        json!({ "action": action })
    });
    client.initialize(json!({"elicitation": {}}), VERSION).await.unwrap();
    (client, asked)
}

/// What a tool answers in data; it must have done it.
async fn done(client: &McpClient, tool: &str, arguments: Value) -> Value {
    let mut answer = client.call(tool, arguments).await.unwrap();
    assert_ne!(answer["isError"], true, "{tool}: {answer}");
    answer["structuredContent"].take()
}

/// The agent opens the session and logs in, saves it, and leaves it.
async fn leave_a_login(story: &Story, agent: &McpClient) {
    done(agent, "session_open", json!({"name": "shop", "urls": [story.url()]})).await;
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    let saved = done(agent, "browser_save_profile", json!({"name": "shop"})).await;
    assert_eq!((&saved["name"], &saved["unchanged"]), (&json!("shop"), &json!(false)), "{saved}");
    done(agent, "session_close", json!({})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_take_a_session_from_one_node_to_another_and_back() {
    let story = Story::of_strangers().await;
    let cloud = agent(&story.cloud).await;
    let (hosted, asked) = agent_of_a_person(&story.hosted, story.fingerprint()).await;
    // It starts at the cloud, and is saved there.
    leave_a_login(&story, &cloud).await;
    // The hosted agent registers the cloud: its user compares fingerprints, and gives the key.
    let url = story.cloud.client().unwrap().base().clone();
    let register = json!({"url": url, "name": "cloud", "authMethod": "apikey"});
    let registered = done(&hosted, "browser_sync_register_peer", register).await;
    assert_eq!(registered["state"], "confirmed", "{registered}");
    assert_eq!(registered["next"], format!("baton peers add {url} --name cloud"));
    assert_eq!(asked.lock().unwrap().len(), 1);
    let import = json!({"nodeId": "cloud", "sessionId": "shop", "resume": true});
    let refused = call(&hosted, "browser_sync_import_session", import.clone()).await;
    assert_eq!(first(&refused), "error: expected an API key of peer cloud, found none");
    assert_eq!(story.give_key()["state"], "confirmed");
    let peers = done(&hosted, "browser_sync_list_peers", json!({})).await;
    let cloud_row = &peers["rows"][0].as_array().unwrap()[..3];
    assert_eq!(cloud_row, [json!("cloud"), json!("confirmed"), json!("online")]);
    // It imports the session, and is logged in.
    let remote = done(&hosted, "browser_sync_list_remote_sessions", json!({})).await;
    assert_eq!((&remote["rows"][0][0], &remote["silent"]), (&json!("shop"), &json!([])));
    let imported = done(&hosted, "browser_sync_import_session", import).await;
    assert_eq!(imported["outcome"], "moved", "{imported}");
    assert_eq!(imported["resumed"]["state"], "active", "{imported}");
    assert_eq!(imported["resumed"]["receipt"]["rejected"], 0, "{imported}");
    assert_eq!(story.at::<String>(&story.hosted, SHOWN).await, WHOLE);
    // It goes on there, and back.
    let more = "localStorage.setItem('token', 'second'); sessionStorage.setItem('step', '3'); true";
    assert!(story.at::<bool>(&story.hosted, more).await);
    let export = json!({"nodeId": "cloud", "name": "shop"});
    let exported = done(&hosted, "browser_sync_export_session", export).await;
    assert_eq!(exported["outcome"], "moved", "{exported}");
    done(&hosted, "session_close", json!({})).await;
    done(&cloud, "session_resume", json!({"sessionId": "shop"})).await;
    let whole = r#"theme=dark; sid=ada | "second" | 3 | 3 | 5 | one"#;
    assert_eq!(story.at::<String>(&story.cloud, SHOWN).await, whole);
    let conflicts = call(&hosted, "browser_sync_conflicts", json!({})).await;
    assert_eq!(conflicts, "No conflicts.");
    for agent in [cloud, hosted] {
        agent.close().await.unwrap();
    }
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_resumes_what_an_agent_elsewhere_saved() {
    let story = Story::begin().await;
    let (cloud, hosted) = (agent(&story.cloud).await, agent(&story.hosted).await);
    leave_a_login(&story, &cloud).await;
    // Nobody says where the session is.
    let resume = json!({"sessionId": "shop"});
    let resumed = done(&hosted, "browser_sync_resume_session", resume.clone()).await;
    assert_eq!(resumed["moved"][0]["peer"], "cloud", "{resumed}");
    assert_eq!(resumed["moved"][0]["outcome"], "moved", "{resumed}");
    assert_eq!((&resumed["state"], &resumed["receipt"]["rejected"]), (&json!("active"), &json!(0)));
    assert_eq!(story.at::<String>(&story.hosted, SHOWN).await, WHOLE);
    let again = call(&hosted, "browser_sync_resume_session", resume).await;
    assert!(again.starts_with("error: "), "its browser runs already: {again}");
    for agent in [cloud, hosted] {
        agent.close().await.unwrap();
    }
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_gets_a_session_of_another_agent_is_told_so_and_so_is_who_had_it() {
    let story = Story::begin().await;
    let (cloud, hosted) = (agent(&story.cloud).await, agent(&story.hosted).await);
    done(&cloud, "session_open", json!({"name": "shop", "urls": [story.url()]})).await;
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    done(&cloud, "browser_save_profile", json!({"name": "shop"})).await;
    let import = json!({"nodeId": "cloud", "sessionId": "shop"});
    done(&hosted, "browser_sync_import_session", import).await;
    // It runs there still.
    let resume = json!({"sessionId": "shop"});
    let told = call(&hosted, "session_resume", resume).await;
    let line = told.lines().find(|line| line.contains("handed")).unwrap_or(&told);
    insta::assert_snapshot!(line, @"cloud saved it and handed it over: it does not run there any more.");
    assert_eq!(story.at::<String>(&story.hosted, SHOWN).await, WHOLE);
    let listed = call(&cloud, "list_sessions", json!({})).await;
    let (here, there) = listed.split_once('\n').unwrap();
    assert_eq!(here, "No sessions here.");
    assert!(there.starts_with("shop is held by "), "{there}");
    assert!(there.ends_with("; session_resume brings it here"), "{there}");
    for agent in [cloud, hosted] {
        agent.close().await.unwrap();
    }
    story.end().await;
}
