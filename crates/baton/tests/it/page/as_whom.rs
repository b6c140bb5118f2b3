//! Whose page it is: an address that somebody else sent signs nobody in unasked.

use crate::telling::{Story, tell, wanted_shots};
use crate::test_nodes;
use std::time::Duration;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(4);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_of_somebody_else_asks_before_it_signs_in() {
    let test_node = test_nodes::test_node().await;
    let data = test_node.data().path().to_owned();
    let story = Story {
        text: include_str!("as_whom.mjs"),
        variables: &[("DATA", data.as_os_str())],
        shots: wanted_shots(),
        limit: LIMIT,
    };
    let seen = tell(story, async |what| panic!("nobody knows how to {what}")).await;
    insta::assert_snapshot!(seen, @"
    in at once where nobody was, and it says as whom
    asked in a new tab of a browser in which somebody else is
    asked where somebody else is signed in, who stays so
    an address that does not count ends nothing
    another address of the same owner, in at once
    somebody else who is wanted, and nobody asked after a sign-out
    ");
    test_node.clear().await.unwrap();
}
