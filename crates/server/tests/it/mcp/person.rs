//! A person is asked before what cannot be taken back, about the session that it happens to.

use super::{answer, ask, call, message, told, unattended, with_a_session};
use serde_json::{Value, json};

#[tokio::test]
async fn a_person_is_asked_before_a_session_is_abandoned() {
    let node = with_a_session().await;
    let key = node.admin_key();
    let abandon = json!({"name": "session_abandon", "arguments": {"sessionId": "shop"}});
    let nobody = ask(&node, &key, "tools/call", abandon.clone()).await;
    insta::assert_snapshot!(told(&nobody), @r"
    error: a person has to confirm this, and this client cannot ask one: Abandon session shop? What happened since its last snapshot is lost, and its browser profile is removed.
    Next: ask the user to type: baton sessions abandon shop
    ");

    let can_ask = json!({"elicitation": {"form": {}}});
    let sent = message(&node, &key, "tools/call", abandon.clone(), &can_ask).send().await.unwrap();
    let asked = answer(sent).await;
    let question = &asked["result"]["inputRequests"]["confirm"];
    assert_eq!(question["method"], "elicitation/create");
    insta::assert_snapshot!(question["params"]["message"].as_str().unwrap(), @r"
    Abandon session shop? What happened since its last snapshot is lost, and its browser profile is removed.
    ");

    let mut heard = Vec::new();
    for action in ["cancel", "decline", "accept"] {
        let mut again = abandon.clone();
        again["inputResponses"] = json!({"confirm": {"action": action}});
        again["requestState"] = asked["result"]["requestState"].clone();
        let sent = message(&node, &key, "tools/call", again, &can_ask).send().await.unwrap();
        heard.push(told(&answer(sent).await).lines().next().unwrap().to_owned());
    }
    insta::assert_snapshot!(heard.join("\n"), @r"
    error: the user was asked and did not agree: Abandon session shop? What happened since its last snapshot is lost, and its browser profile is removed.
    error: the user was asked and did not agree: Abandon session shop? What happened since its last snapshot is lost, and its browser profile is removed.
    shop is closed. Last snapshot: 0s ago (request).
    ");
    node.stop().await;
}

#[tokio::test]
async fn who_agreed_to_one_session_is_asked_again_about_another() {
    let node = with_a_session().await;
    let key = node.admin_key();
    let can_ask = json!({"elicitation": {"form": {}}});
    let abandon = async |session: &str, asked: &Value| {
        let mut call = json!({"name": "session_abandon", "arguments": {"sessionId": session}});
        if let Some(state) = asked["result"].get("requestState") {
            call["requestState"] = state.clone();
            call["inputResponses"] = json!({"confirm": {"action": "accept"}});
        }
        answer(message(&node, &key, "tools/call", call, &can_ask).send().await.unwrap()).await
    };
    let exported = unattended(&node, "session_export", json!({"sessionId": "shop"})).await;
    let imported = json!({"file": exported["file"], "name": "other"});
    call(&node, &key, "session_import", imported).await;
    let asked = abandon("shop", &Value::Null).await;
    let again = abandon("other", &asked).await;
    let question = &again["result"]["inputRequests"]["confirm"]["params"]["message"];
    assert!(question.as_str().unwrap().starts_with("Abandon session other?"), "{again}");
    assert!(told(&abandon("other", &again).await).starts_with("other is closed."));
    assert!(told(&abandon("shop", &asked).await).starts_with("shop is closed."));
    node.stop().await;
}
