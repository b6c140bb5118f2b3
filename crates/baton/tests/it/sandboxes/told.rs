//! What an agent is told of where it is logged in.

use super::gateway::Agency;
use super::gateway_bad::{ask, ends};
use super::scene::cookie;
use serde_json::json;

/// An agent that says what it was told.
const ECHO: &str = "[[gateway.agents]]\nname = \"echo\"\ncommand = [\"cat\"]\nprompt = \"stdin\"\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_in_local_storage_is_told_and_a_tracker_is_not() {
    let agency = Agency::open("", ECHO).await;
    let scene = &agency.scene;
    let mut state = scene.state();
    let mut tracker = cookie("IDE", "1", 4_000_000_000);
    tracker["domain"] = json!(".doubleclick.net");
    state["cookies"] = json!([tracker, cookie("_ga", "1", 4_000_000_000)]);
    scene.session_of("shop", &state).await;
    let question = json!([{"role": "user", "content": "Who am I?"}]);
    let request = json!({"model": "echo", "messages": question, "browser_session_id": "shop"});
    let (_, told) = ends(ask(scene, &request).await).await;
    let told = told.replace(scene.url().trim_end_matches('/'), "SITE");
    insta::assert_snapshot!(told, @"
    ## Browser Session

    You have an authenticated browser session available for the following domains:
    - host

    To use this session, run agent-browser commands without manual login:
    ```bash
    agent-browser open SITE
    # You should already be logged in
    ```

    Who am I?
    ");
    agency.scene.strike().await;
}
