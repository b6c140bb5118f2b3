//! A story of the page, told at a node that it may stop and start; its pictures are those of the guide.

use crate::telling::{self, Story, wanted_shots};
use baton_playground::TestNode;
use std::time::Duration;
use url::Url;

/// How long a whole story may take.
const LIMIT: Duration = Duration::from_mins(8);

/// Tells a story at a node about a site; what it saw, a line each.
pub(super) async fn tell(text: &str, test_node: &mut TestNode, site: &Url) -> String {
    let folder = tempfile::tempdir().unwrap();
    let shots = wanted_shots().unwrap_or_else(|| folder.path().to_owned());
    std::fs::create_dir_all(&shots).unwrap();
    let data = test_node.data().path().to_owned();
    let variables = [("DATA", data.as_os_str()), ("SITE", site.as_str().as_ref())];
    let story = Story { text, variables: &variables, shots: Some(shots.clone()), limit: LIMIT };
    let seen = telling::tell(story, async |what| {
        help(test_node, what).await;
        "done".to_owned()
    })
    .await;
    telling::keep_pictures(&shots, &IN_THE_GUIDE);
    seen
}

/// Does what a story asks for.
async fn help(test_node: &mut TestNode, what: &str) {
    match what {
        "stop the node" => test_node.stop_node().await.unwrap(),
        "start the node" => test_node.start_node().await.unwrap(),
        other => panic!("nobody knows how to {other}"),
    }
}

/// Pictures of the stories that are in the guide, and how they are called there.
const IN_THE_GUIDE: [(&str, &str); 3] = [
    ("sessions-desktop-light.png", "page/sessions.png"),
    ("compare-desktop-light.png", "page/compare.png"),
    ("network-desktop-light.png", "page/network.png"),
];
