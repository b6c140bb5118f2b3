//! A node of no use ends itself.

use crate::fixture::{Folder, LIMIT};
use baton_store::data::NodeFile;
use std::time::Duration;
use tokio::time::timeout;

#[tokio::test]
async fn a_node_without_use_ends_and_says_goodbye() {
    let folder = Folder::new();
    let mut config = folder.config();
    config.idle_exit = Some(Duration::from_millis(200));
    let node = folder.start_with(config).await;
    let folder = timeout(LIMIT, node.ended()).await.unwrap();
    assert_eq!(NodeFile::read(&folder.data).unwrap(), None);
}
