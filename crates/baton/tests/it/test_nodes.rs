//! Test nodes for stories: with the program that is being tested, and with their node running.

use baton_playground::TestNode;

/// An empty test node. It takes snapshots when it is asked: those that it takes because time has passed, which a slow
/// machine sees more of, are for stories that say so.
pub(crate) fn build() -> TestNode {
    let test_node = TestNode::build(env!("CARGO_BIN_EXE_baton")).unwrap();
    test_node.with("BATON_SESSION_SNAPSHOT_INTERVAL", "3600")
}

/// The test node with its node running.
pub(crate) async fn start(mut test_node: TestNode) -> TestNode {
    test_node.start_node().await.unwrap();
    test_node
}

/// A test node with its node running.
pub(crate) async fn test_node() -> TestNode {
    start(build()).await
}
