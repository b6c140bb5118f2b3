//! A model whose client hears progress: it has the link by that while its call goes on, and the answer says what became
//! of it.

use super::LIMIT;
use super::changed::sign_in;
use super::guests::{Guest, Scene};
use crate::mcp::{VERSION, bridge};
use crate::test_nodes;
use baton_playground::McpClient;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use url::Url;

/// The link that a client is told in the progress of its call of this token.
async fn told_link(client: &McpClient, token: &str) -> Url {
    let told = async {
        loop {
            let notifications = client.notifications();
            let ours = notifications.iter().map(|told| &told["params"]);
            let mut texts = ours
                .filter(|params| params["progressToken"] == token)
                .filter_map(|params| params["message"].as_str());
            if let Some((_, rest)) = texts.find_map(|text| text.split_once("show them ")) {
                return rest.split_whitespace().next().unwrap().parse::<Url>().unwrap();
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, told).await.expect("the link is told")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_shows_the_link_of_the_progress_and_is_told_what_the_person_changed() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let kimi = bridge(&scene.test_node, &["--as", "kimi"]);
    kimi.initialize(json!({}), VERSION).await.unwrap();
    let params = json!({
        "name": "session_ask_person", "arguments": { "sessionId": "shop", "text": "sign in" },
        "_meta": { "progressToken": "p" },
    });
    let calls = kimi.request("tools/call", params);
    let works = async {
        let link = told_link(&kimi, "p").await;
        let secret = link.fragment().unwrap().strip_prefix("/asked/").unwrap();
        let mut guest = Guest::by_link(&scene.client(), &link);
        guest.open(secret).await;
        let mut ada = guest.watch().await;
        let tab = ada.tab().await;
        sign_in(&mut ada, tab).await;
        let page = scene.page().await;
        let is_in = page.wait_for("document.cookie.includes('in=ada')");
        ada.hear_during(is_in).await.unwrap();
        drop(ada);
        assert_eq!(guest.post("asked/end", json!({ "done": true })).await.status(), 200);
    };
    let (answer, ()) = tokio::join!(calls, works);
    let answer: Value = answer.unwrap();
    assert_ne!(answer["isError"], true, "{answer}");
    let snapshot = answer["structuredContent"]["ask"]["outcome"]["snapshot"].as_str().unwrap();
    let text = answer["content"][0]["text"].as_str().unwrap().replace(snapshot, "<snapshot>");
    insta::assert_snapshot!(text, @r"
    Done by ada.
    1 cookie and 1 entry of local storage at bank.localhost are new; ends in 14 days
    snapshot <snapshot>
    ");
    kimi.close().await.unwrap();
    scene.test_node.clear().await.unwrap();
}
