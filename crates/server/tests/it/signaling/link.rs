//! A browser tells, somebody asks, and the link between them comes back.

use super::{Link, browser, console, page_token, pair};
use crate::changes;
use crate::fixture::{Node, until};
use baton_api::client::NodeChange;
use serde_json::json;

#[tokio::test]
async fn what_a_browser_tells_is_answered_to_whoever_asks_in_every_way() {
    let node = Node::start().await;
    let key = pair(&node, "b-1").await;
    let mut browser = browser(&node, &key).await;
    let (token, ..) = browser.offer(&page_token(&node, "local"), 1).await;
    let sent = json!({
        "request_id": "1", "timestamp": super::now().get(), "method": "GET",
        "url": "http://shop.localhost/api?token=abcsecret",
    });
    browser
        .send(&json!({
            "type": "browser_debug_network_event", "token": token, "seq": 1, "source": "debugger",
            "event": "request", "data": sent,
        }))
        .await;
    browser.write(&token, 2, "hello").await;

    let mut client = Link::client(&node, &node.admin_key()).await;
    let tabs = client.ask(json!({"type": "browser_debug_list_tabs"})).await;
    let tab = &tabs["tabs"][0];
    assert_eq!(
        (&tab["token"], &tab["cocoon_id"], &tab["title"]),
        (&json!(token), &json!("shop"), &json!("Cart"))
    );
    let ask = json!({"type": "browser_debug_get_network", "request_id": "q-1", "token": token});
    let answer = client.ask(ask).await;
    assert_eq!(answer["type"], "browser_debug_network_data");
    assert_eq!(answer["request_id"], "q-1");
    assert_eq!(answer["requests"][0]["url"], "http://shop.localhost/api?token=[redacted]");
    let ask = json!({
        "type": "browser_debug_get_console", "request_id": "q-2", "token": token,
        "filters": {"level": ["log"], "limit": 1},
    });
    assert_eq!(client.ask(ask).await["entries"][0]["message"], "hello");
    assert_eq!(console(&node, &token).await.0, ["hello"]);

    browser
        .send(&json!({
            "type": "browser_debug_tab_updated", "token": token,
            "url": "http://shop.localhost/paid", "title": "Thanks",
        }))
        .await;
    until("the tab shows another page", async || {
        let tabs = node.admin().list_tabs().await.unwrap().items;
        (tabs[0].title == "Thanks").then_some(())
    })
    .await;
    browser.send(&json!({"type": "browser_debug_tab_closed", "token": token})).await;
    until("the tab is gone", async || {
        node.admin().list_tabs().await.unwrap().items.is_empty().then_some(())
    })
    .await;
    let ask = json!({"type": "browser_debug_get_network", "request_id": "q-3", "token": token});
    let gone = client.ask(ask).await;
    assert_eq!(
        (&gone["type"], &gone["code"], &gone["request_id"]),
        (&json!("browser_debug_error"), &json!("tab_gone"), &json!("q-3"))
    );
    node.stop().await;
}

#[tokio::test]
async fn tabs_that_come_and_go_are_told_to_whoever_may_look_into_them() {
    let node = Node::start().await;
    let key = pair(&node, "b-1").await;
    let mut events = node.admin().follow_changes().await.unwrap();
    let mut browser = browser(&node, &key).await;
    let (token, _, _) = browser.offer(&page_token(&node, "local"), 1).await;
    assert_eq!(changes::next(&mut events).await, Some(NodeChange::Tabs));
    let update = json!({
        "type": "browser_debug_tab_updated", "token": token,
        "url": "http://shop.localhost/paid", "title": "Paid",
    });
    browser.send(&update).await;
    assert_eq!(changes::next(&mut events).await, Some(NodeChange::Tabs));
    // Its browser is gone, and with it everything but what it told.
    drop(browser);
    assert_eq!(changes::next(&mut events).await, Some(NodeChange::Tabs));
    assert!(node.admin().list_tabs().await.unwrap().items[0].offline);
    node.stop().await;
}

#[tokio::test]
async fn a_browser_that_comes_back_goes_on_and_what_was_lost_is_marked() {
    let node = Node::start().await;
    let key = pair(&node, "b-1").await;
    let mut first = browser(&node, &key).await;
    let (token, grant, last) = first.offer(&page_token(&node, "local"), 7).await;
    assert_eq!(last, 0);
    first.write(&token, 1, "one").await;
    first.write(&token, 2, "two").await;
    drop(first);
    until("the end of the connection is marked", async || {
        (console(&node, &token).await.1 == ["disconnected"]).then_some(())
    })
    .await;
    let mut second = browser(&node, &key).await;
    let (again, _, last) = second.offer(&grant, 7).await;
    assert_eq!((&again, last), (&token, 2));
    // It sends again what it is not sure of, and lost one.
    second.write(&token, 2, "two").await;
    second.write(&token, 4, "four").await;
    let (lines, gaps) = console(&node, &token).await;
    assert_eq!(lines, ["one", "two", "four"]);
    assert_eq!(gaps, ["disconnected", "events_lost 1"]);
    // It began to count anew.
    let (_, _, last) = second.offer(&grant, 8).await;
    assert_eq!(last, 0);
    second.write(&token, 1, "anew").await;
    assert_eq!(console(&node, &token).await.0.last().unwrap(), "anew");
    node.stop().await;
}

#[tokio::test]
async fn a_tab_survives_the_relay() {
    let node = Node::start().await;
    let key = pair(&node, "b-1").await;
    let mut first = browser(&node, &key).await;
    let (token, grant, _) = first.offer(&page_token(&node, "local"), 7).await;
    first.write(&token, 1, "one").await;
    let folder = node.stop().await;
    assert_eq!(first.next().await.unwrap_err(), 1001);

    let node = folder.start().await;
    let mut second = browser(&node, &key).await;
    let (again, _, last) = second.offer(&grant, 7).await;
    assert_eq!((&again, last), (&token, 0));
    second.write(&token, 1, "one").await;
    second.write(&token, 2, "two").await;
    let (lines, gaps) = console(&node, &token).await;
    assert_eq!(
        (lines, gaps),
        (vec!["one".to_owned(), "two".to_owned()], vec!["restarted".to_owned()])
    );
    node.stop().await;
}

#[tokio::test]
async fn a_tab_for_which_there_is_no_room_is_told_so_and_its_token_still_counts() {
    let node = Node::start().await;
    let key = pair(&node, "b-1").await;
    let mut browser = browser(&node, &key).await;
    let mut taken = Vec::new();
    let refused = loop {
        let by = page_token(&node, "local");
        let answer = browser.ask(super::offer(&by, 1)).await;
        if answer["type"] == "browser_debug_error" {
            break (by, answer);
        }
        taken.push(answer["token"].clone());
        assert!(taken.len() < 1000, "there is no bound");
    };
    let (by, answer) = refused;
    assert_eq!((&answer["code"], &answer["offered"]), (&json!("too_many_tabs"), &json!(by)));
    browser.send(&json!({"type": "browser_debug_tab_closed", "token": taken[0]})).await;
    browser.offer(&by, 1).await;
    // Now it was used.
    let again = browser.ask(super::offer(&by, 1)).await;
    assert_eq!(again["code"], "untrusted");
    node.stop().await;
}
