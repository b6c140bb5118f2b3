//! Test nodes for stories: with the program that is being tested, and with their node running.

use baton_playground::TestNode;

/// An empty test node.
pub(crate) fn build() -> TestNode {
    TestNode::build(env!("CARGO_BIN_EXE_baton")).unwrap()
}

/// The test node with its node running.
pub(crate) async fn start(mut test_node: TestNode) -> TestNode {
    test_node.start_node().await.unwrap();
    test_node
}

/// A test node with its node running, and all settings as usual.
pub(crate) async fn test_node() -> TestNode {
    start(build()).await
}
