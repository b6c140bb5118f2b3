//! Signing out of the page: it ends, and where the node does not confirm that, the page says so.

use crate::damage::Database;
use crate::telling::{Story, tell, wanted_shots};
use crate::test_nodes;
use std::time::Duration;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(4);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_signs_out_is_out_and_hears_where_the_node_does_not_confirm_it() {
    let mut test_node = test_nodes::test_node().await;
    test_node.keep_address().unwrap();
    let data = test_node.data().path().to_owned();
    let database = Database::Sqlite(test_node.data().database());
    let story = Story {
        text: include_str!("signed_out.mjs"),
        variables: &[("DATA", data.as_os_str())],
        shots: wanted_shots(),
        limit: LIMIT,
    };
    let seen = tell(story, async |what| {
        match what {
            "take the log away" => database.take_away("audit"),
            "bring the log back" => database.bring_back("audit"),
            "stop the node" => test_node.stop_node().await.unwrap(),
            "start the node" => test_node.start_node().await.unwrap(),
            other => panic!("nobody knows how to {other}"),
        }
        "done".to_owned()
    })
    .await;
    insta::assert_snapshot!(seen, @"
    signed out
    signed out, though the log did not take it, which is said
    a node that did not hear of it, which is said
    ");
    test_node.clear().await.unwrap();
}
