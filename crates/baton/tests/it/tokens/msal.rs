//! A node is let in by tokens that it gets by itself.

use super::story::{Story, told};
use crate::two_nodes::{baton, said};
use baton_playground::tools::ProviderSettings;
use std::fs;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_is_let_in_by_a_token_and_another_one_by_a_key() {
    let story = Story::begin(&ProviderSettings::default()).await;
    story.push("shop").success();
    assert_eq!(story.at_the_cloud(), ["shop"]);
    // One token was enough for all that.
    assert_eq!(story.provider.asked("POST /token").unwrap(), 1);
    assert_eq!(story.provider.asked("GET /jwks").unwrap(), 1);
    // The other way to be let in works beside it.
    let desk = crate::test_nodes::test_node().await;
    crate::two_nodes::introduce(&story.cloud, "cloud", &desk);
    baton(&desk, &["sync", "run"]).success();
    let listed = said(&baton(&desk, &["sessions", "list"]).success());
    assert_eq!(listed["items"][0]["name"], "shop", "{listed}");
    let known = said(&baton(&story.cloud, &["peers", "list"]).success());
    assert_eq!(known["items"].as_array().unwrap().len(), 2, "{known}");
    // The audit log of the cloud says who asked.
    let audit = said(&baton(&story.cloud, &["audit"]).success()).to_string();
    let client = format!("client laptop of {}", story.provider.issuer());
    assert!(audit.contains(&client), "{audit}");
    desk.clear().await.unwrap();
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_may_want_the_secret_in_the_header_or_sign_with_a_curve() {
    let settings = ProviderSettings {
        proof: "client_secret_basic".to_owned(),
        algorithm: "ES256".to_owned(),
        ..ProviderSettings::default()
    };
    let story = Story::begin(&settings).await;
    story.push("shop").success();
    assert_eq!(story.at_the_cloud(), ["shop"]);
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_secret_of_a_client_is_nowhere_to_be_read() {
    let mut story = Story::begin(&ProviderSettings::default()).await;
    let shown = told(&story.push("shop"))
        + &told(&baton(&story.laptop, &["peers", "list"]))
        + &told(&baton(&story.laptop, &["audit"]));
    story.laptop.stop_node().await.unwrap();
    story.cloud.stop_node().await.unwrap();
    let mut read = vec![("what was said".to_owned(), shown.into_bytes())];
    for test_node in [&story.laptop, &story.cloud] {
        read.push(("the log".to_owned(), test_node.log().into_bytes()));
        for file in fs::read_dir(test_node.data().path()).unwrap() {
            let path = file.unwrap().path();
            if path.is_file() {
                read.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    let token = story.token("laptop", super::story::AUDIENCE).await;
    // Every token of the provider begins as this one does.
    let header = token.split('.').next().unwrap();
    for (place, bytes) in read {
        for secret in ["laptop-secret", header] {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "expected no {secret} in {place}");
        }
    }
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_stays_with_the_node_that_showed_it_first() {
    let story = Story::begin(&ProviderSettings::default()).await;
    story.push("shop").success();
    // Whoever has the secret as well is another node, and not let in.
    let thief = Story { laptop: crate::test_nodes::test_node().await, ..story };
    thief.register(&thief.client()).success();
    thief.confirm();
    let run = baton(&thief.laptop, &["sync", "run"]).failure();
    assert!(told(&run).contains("which was registered, found"), "{}", told(&run));
    let audit = said(&baton(&thief.cloud, &["audit"]).success());
    let refused = audit["items"].as_array().unwrap().iter();
    let refused = refused.filter(|item| item["action"] == "peer.admit");
    assert!(refused.filter(|item| item["outcome"] == "failed").count() > 0, "{audit}");
    thief.end().await;
}
