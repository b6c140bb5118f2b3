//! One agent at a time drives a session, and everybody hears who.

use crate::carry::with_a_session;
use crate::fixture::{Node, one_line};
use baton_api::{
    Client, ClientError, ErrorCode, ListAudit, ListSessions, OpenCdp, PassSession, SwitchDebug,
};
use baton_session::AgentName;

fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

fn to(name: &str) -> PassSession {
    PassSession { to: Some(agent(name)), reason: None }
}

fn because(name: &str, reason: &str) -> PassSession {
    PassSession { reason: Some(reason.to_owned()), ..to(name) }
}

fn asking(node: &Node, name: &str) -> Client {
    node.admin().as_agent(Some(agent(name)))
}

async fn driver(node: &Node) -> Option<String> {
    let view = node.admin().fetch_session("shop").await.unwrap();
    view.session.agent.map(|driver| driver.agent.to_string())
}

fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> String {
    match answer.unwrap_err() {
        ClientError::Problem(problem) => {
            let hint = problem.hint.clone().unwrap_or_default();
            format!("{}\n{hint}", one_line(&problem))
        }
        error => panic!("expected a refusal, found {error}"),
    }
}

#[tokio::test]
async fn an_agent_that_drives_a_session_is_the_only_one_until_it_passes_it_on() {
    let node = with_a_session().await;
    let (kimi, codex) = (asking(&node, "kimi"), asking(&node, "codex"));
    kimi.pass_session("shop", &to("kimi")).await.unwrap();
    assert_eq!(driver(&node).await.as_deref(), Some("kimi"));
    insta::assert_snapshot!(refused(codex.resume_session("shop").await), @r"
    409 other_agent: expected the agent that drives session shop, kimi, found codex
    kimi passes it on with baton sessions pass shop --to AGENT; whoever takes it from kimi says why, with --reason
    ");
    insta::assert_snapshot!(refused(node.admin().abandon_session("shop").await), @r"
    409 other_agent: expected the agent that drives session shop, kimi, found a caller that says no agent's name
    kimi passes it on with baton sessions pass shop --to AGENT; whoever takes it from kimi says why, with --reason
    ");
    for refusal in [
        codex.close_session("shop").await.map(drop),
        codex.delete_session("shop").await,
        codex.roll_back_session("shop", "0197").await.map(drop),
        codex.pass_session("shop", &to("codex")).await.map(drop),
    ] {
        assert_eq!(refusal.unwrap_err().code(), Some(ErrorCode::OtherAgent));
    }
    // Looking is free.
    codex.fetch_state("shop", false).await.unwrap();

    let passed = kimi.pass_session("shop", &to("codex")).await.unwrap();
    assert_eq!(passed.session.agent.unwrap().fence, 2);
    assert_eq!(kimi.close_session("shop").await.unwrap_err().code(), Some(ErrorCode::OtherAgent));
    codex.close_session("shop").await.unwrap();
    assert_eq!(driver(&node).await, None, "a session that ends is let go");
    node.stop().await;
}

#[tokio::test]
async fn whoever_takes_a_session_from_an_agent_says_why_and_the_log_knows() {
    let node = with_a_session().await;
    let (kimi, codex) = (asking(&node, "kimi"), asking(&node, "codex"));
    kimi.pass_session("shop", &to("kimi")).await.unwrap();
    codex.pass_session("shop", &because("codex", "kimi hangs")).await.unwrap();
    let listed = node.admin().list_sessions(&ListSessions::default()).await.unwrap();
    let shown = listed.items[0].agent.clone().unwrap();
    assert_eq!((shown.agent.as_str(), shown.fence), ("codex", 2));
    assert_eq!(shown.reason, "kimi hangs");
    let log = node.admin().list_audit(&ListAudit::default()).await.unwrap();
    let told = log.items.iter().find(|entry| entry.action == "session.pass").unwrap();
    insta::assert_json_snapshot!(told.detail, @r#"
    {
      "by": "codex",
      "name": "shop",
      "reason": "kimi hangs",
      "to": "codex"
    }
    "#);
    // A person may let it go: then the next one that asks gets it.
    let nobody = PassSession { to: None, reason: Some("cleaning up".to_owned()) };
    node.admin().pass_session("shop", &nobody).await.unwrap();
    assert_eq!(driver(&node).await, None);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_agents_that_ask_at_once_one_gets_the_session() {
    let node = with_a_session().await;
    let mut asking_at_once = tokio::task::JoinSet::new();
    for number in 0..8 {
        let client = asking(&node, &format!("agent{number}"));
        let record = SwitchDebug { on: true, reveal: false };
        asking_at_once.spawn(async move {
            client.switch_debug("shop", record).await.err().and_then(|refused| refused.code())
        });
    }
    let answers = asking_at_once.join_all().await;
    let shut_out = answers.iter().filter(|code| **code == Some(ErrorCode::OtherAgent)).count();
    assert_eq!(shut_out, 7, "{answers:?}");
    assert!(driver(&node).await.unwrap().starts_with("agent"));
    node.stop().await;
}

#[tokio::test]
async fn what_is_no_agent_or_no_reason_is_refused() {
    let node = with_a_session().await;
    let call = node.admin_request(reqwest::Method::GET, "/sessions").header("baton-agent", "../x");
    let problem = crate::fixture::problem(call.send().await.unwrap()).await;
    insta::assert_snapshot!(one_line(&problem), @r#"422 invalid_request: expected the header Baton-Agent to be an agent's name, 1 to 64 letters, digits, '.', '_' or '-', found "../x""#);
    let kimi = asking(&node, "kimi");
    insta::assert_snapshot!(refused(kimi.pass_session("shop", &because("codex", "  ")).await), @"422 invalid_request: expected reason to be 1 to 1000 characters, found 0 characters");
    let long = "x".repeat(1001);
    assert!(kimi.pass_session("shop", &because("codex", &long)).await.is_err());
    let unknown = kimi.pass_session("bank", &to("codex")).await.unwrap_err();
    assert_eq!(unknown.code(), Some(ErrorCode::SessionNotFound));
    let closed = kimi.open_cdp("shop", &OpenCdp::default()).await.unwrap_err();
    assert_eq!(closed.code(), Some(ErrorCode::WrongState));
    assert_eq!(driver(&node).await, None, "nothing of it changed who drives");
    node.stop().await;
}
