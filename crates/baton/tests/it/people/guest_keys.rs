//! A guest with a keyboard alone, at links of an agent: a story that Playwright tells in a real Chromium.

use super::asked::bank;
use super::guests::wanted;
use crate::telling::{Story, tell, wanted_shots};
use crate::test_nodes;
use baton_api::{AskState, WaitForAsk};
use baton_playground::Site;
use std::time::Duration;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(6);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_needs_no_mouse() {
    // Nobody follows the link to somebody else.
    let site = Site::start(bank("https://ads.test/".parse().unwrap())).await.unwrap();
    let test_node = test_nodes::test_node().await;
    test_node.open("shop", [site.url_on("bank", "/").unwrap()]).await.unwrap();
    let kimi = test_node.client().unwrap().clone().as_agent(Some("kimi".parse().unwrap()));

    let mut asks = Vec::new();
    let story = Story {
        text: include_str!("guest_keys.mjs"),
        variables: &[],
        shots: wanted_shots(),
        limit: LIMIT,
    };
    let seen = tell(story, async |what| {
        assert_eq!(what, "ask a guest");
        let made = kimi.ask_person("shop", &wanted("sign in to the bank")).await.unwrap();
        asks.push(made.view.id);
        made.link.to_string()
    })
    .await;
    insta::assert_snapshot!(seen, @"
    a link that is opened, and the focus in the picture
    signed in with a second factor, in the picture
    out of the picture, in again, and out
    done, with the focus at the end
    another link, which is declined
    a third one, for what cannot be done
    ");

    let over = WaitForAsk { wait: Some(30), after: Some(AskState::Opened) };
    let mut ends = Vec::new();
    for ask in &asks {
        let view = kimi.fetch_ask("shop", ask, &over).await.unwrap();
        ends.push((view.state, view.outcome.map(|outcome| outcome.changed)));
    }
    let changed = "2 cookies at bank.localhost are new; ends in 14 days".to_owned();
    assert_eq!(ends[0], (AskState::Done, Some(changed)));
    assert_eq!([ends[1].0, ends[2].0], [AskState::Declined; 2]);
    test_node.clear().await.unwrap();
}
