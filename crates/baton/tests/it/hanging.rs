//! Peers whose nodes are stopped where they stand (SIGSTOP), one asked in TLS and one in clear text: what they cost
//! each command and each tool, beside what that costs while they answer.

#![expect(clippy::print_stdout, reason = "what each command costs is for a person to read")]

use crate::login::log_in;
use crate::mcp::agent;
use crate::test_nodes::test_node;
use crate::two_nodes::{Story, baton, introduce, said, with_key};
use baton_playground::{McpClient, TestNode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What peers that hang may cost any command, with what a busy machine takes on top of that.
const COST: Duration = Duration::from_millis(4500);
/// How often a command is looked at on a machine that is busier than that.
const TRIES: usize = 3;

/// Commands that ask peers, at a node with a session of its own and one that a peer holds.
const COMMANDS: [&[&str]; 10] = [
    &["peers", "list"],
    &["peers", "ping", "cloud"],
    &["sync", "status"],
    &["sync", "status", "cloud"],
    &["sync", "run"],
    &["sync", "run", "third"],
    &["sync", "conflicts"],
    &["save", "bank", "--sync-to-peers"],
    &["sessions", "list"],
    &["sessions", "show", "shop"],
];

/// What models ask for, with what for.
fn tools() -> [(&'static str, Value); 6] {
    [
        ("list_sessions", json!({})),
        ("browser_sync_list_peers", json!({})),
        ("browser_sync_list_remote_sessions", json!({})),
        ("browser_sync_import_session", json!({"nodeId": "cloud", "sessionId": "shop"})),
        (
            "browser_sync_export_session",
            json!({"nodeId": "third", "sessionId": "bank", "name": "bank"}),
        ),
        ("browser_save_profile", json!({"sessionId": "bank", "name": "bank", "syncToPeers": true})),
    ]
}

async fn timed<T>(asked: impl Future<Output = T>) -> (Duration, T) {
    let begun = Instant::now();
    let came = asked.await;
    (begun.elapsed(), came)
}

/// What each command and each tool takes.
async fn times(node: &TestNode, agent: &McpClient) -> Vec<(String, Duration)> {
    let mut all = Vec::new();
    for command in COMMANDS {
        let (took, _) = timed(async { baton(node, command).success() }).await;
        all.push((format!("baton {}", command.join(" ")), took));
    }
    for (tool, arguments) in tools() {
        let (took, answer) = timed(agent.call(tool, arguments)).await;
        let answer = answer.unwrap();
        assert_ne!(answer["isError"], true, "{tool}: {answer}");
        all.push((tool.to_owned(), took));
    }
    all
}

/// Prints what something costs beside what it took before, and expects that it is not too much in one of some tries.
async fn costs(name: &str, before: Duration, ask: impl AsyncFn()) {
    let mut least = Duration::MAX;
    for _ in 0..TRIES {
        least = least.min(timed(ask()).await.0);
        if least <= before + COST {
            break;
        }
    }
    println!("{name}: {before:.1?} before, {least:.1?} with peers that hang");
    assert!(least <= before + COST, "{name}: {before:?} before, {least:?} with peers that hang");
}

/// A node that joined the cloud by an invitation, so in TLS, and knows a third one in clear text. The cloud runs
/// `shop`, and nobody runs `bank`.
async fn three() -> (Story, TestNode) {
    let (story, third) = (Story::of_strangers().await, test_node().await);
    let card = story.hosted.data().path().join("cloud.invitation");
    let card = card.to_str().unwrap();
    let invite = ["peers", "invite", "--listen", "127.0.0.1:0", "--card", card];
    baton(&story.cloud, &invite).success();
    baton(&story.hosted, &["peers", "join", "--card", card, "--name", "cloud"]).success();
    introduce(&third, "third", &story.hosted);
    story.cloud.open("shop", [story.url()]).await.unwrap();
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    baton(&story.cloud, &["save", "shop"]).success();
    story.hosted.open("bank", [story.url()]).await.unwrap();
    baton(&story.hosted, &["save", "bank"]).success();
    baton(&story.hosted, &["sessions", "close", "bank"]).success();
    baton(&story.hosted, &["sync", "run"]).success();
    (story, third)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peers_that_hang_cost_no_command_more_than_three_seconds() {
    let (story, third) = three().await;
    let here = &story.hosted;
    let agent = agent(here).await;
    let before = times(here, &agent).await;
    let resume = ["sessions", "resume", "bank"];
    let resumes = async || {
        baton(here, &resume).success();
        baton(here, &["sessions", "close", "bank"]).success();
    };
    let (free, ()) = timed(resumes()).await;
    for node in [&story.cloud, &third] {
        baton_testing::freeze(node.node_pid().unwrap()).unwrap();
    }

    let names = before.iter().map(|(_, took)| *took);
    for (command, before) in COMMANDS.into_iter().zip(names.clone()) {
        costs(&format!("baton {}", command.join(" ")), before, async || drop(baton(here, command)))
            .await;
    }
    for ((tool, arguments), before) in tools().into_iter().zip(names.skip(COMMANDS.len())) {
        let call = async || drop(agent.call(tool, arguments.clone()).await.unwrap());
        costs(tool, before, call).await;
    }
    let url = third.client().unwrap().base().to_string();
    let add = ["peers", "add", &url, "--name", "fourth"];
    let adds = async || drop(with_key(here, "a key of it", &add).failure());
    costs("baton peers add", Duration::ZERO, adds).await;

    // The holder hangs, and so does another one: it is not taken over, and both are waited for at once.
    let shop = ["sessions", "resume", "shop"];
    let refused = async || {
        let refused = said(&baton(here, &shop).code(4));
        let message = refused["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("peer cloud holds the session"), "{refused}");
    };
    costs("baton sessions resume shop (a holder that hangs)", Duration::ZERO, refused).await;
    costs("baton sessions resume bank, and close", free, resumes).await;

    for node in [&story.cloud, &third] {
        baton_testing::wake(node.node_pid().unwrap()).unwrap();
    }
    let got = said(&baton(here, &shop).success());
    assert_eq!(got["handed"]["how"], "handed_over", "{got}");
    agent.close().await.unwrap();
    third.clear().await.unwrap();
    story.end().await;
}
