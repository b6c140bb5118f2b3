//! A session that people carry from one machine to another as a file, with no network between the nodes.

use crate::login::{SHOWN, log_in};
use crate::two_nodes::{Story, baton, introduce_back, said};
use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_playground::TestNode;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const WHOLE: &str = r#"theme=dark; sid=ada | "first" | 2 | 3 | 5 | one"#;

/// A session that is logged in at the cloud, and a stick to carry it on.
async fn logged_in(story: &Story) -> (TempDir, PathBuf) {
    story.cloud.open("shop", [story.url()]).await.unwrap();
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    let stick = tempfile::tempdir().unwrap();
    let file = stick.path().join("shop.baton");
    (stick, file)
}

fn with_passphrase(test_node: &TestNode, passphrase: &str, args: &[&str]) -> Assert {
    let mut command = cargo_bin_cmd!("baton");
    command.env("BATON_BUNDLE_PASSPHRASE", passphrase);
    command.arg("--data").arg(test_node.data().path()).args(args).write_stdin("").assert()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_for_a_peer_is_the_same_session_there_and_nothing_elsewhere() {
    let story = Story::begin().await;
    introduce_back(&story.hosted, "hosted", &story.cloud);
    let (_stick, file) = logged_in(&story).await;
    let path = file.to_str().unwrap();
    let sealed = baton(&story.cloud, &["export", "shop", "--to", "hosted", "-o", path]).success();
    assert_eq!(said(&sealed)["peer"], "hosted");
    assert!(!fs::read_to_string(&file).unwrap().contains("first"));
    let taken = said(&baton(&story.hosted, &["import", path]).success());
    assert_eq!((&taken["name"], &taken["changed"]), (&"shop".into(), &true.into()), "{taken}");
    assert_eq!(said(&sealed)["id"], taken["id"], "it is the same session");
    baton(&story.hosted, &["sessions", "resume", "shop"]).success();
    assert_eq!(story.at::<String>(&story.hosted, SHOWN).await, WHOLE);
    // Once more it brings nothing, and the node that made it cannot open it.
    let again = said(&baton(&story.hosted, &["import", path]).success());
    assert_eq!(again["changed"], false, "{again}");
    baton(&story.hosted, &["import", path, "--name", "other"]).code(2);
    let changed = fs::read_to_string(&file).unwrap().replacen("\"shop\"", "\"shoq\"", 1);
    fs::write(&file, changed).unwrap();
    let refused = baton(&story.hosted, &["import", path]).code(5);
    let told = said(&refused).to_string();
    assert!(told.contains("found one that was changed"), "{told}");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_a_passphrase_opens_for_whoever_knows_it() {
    let story = Story::of_strangers().await;
    let (_stick, file) = logged_in(&story).await;
    let path = file.to_str().unwrap();
    let words = "correct horse battery staple";
    with_passphrase(&story.cloud, "short", &["export", "shop", "--passphrase", "-o", path])
        .failure();
    with_passphrase(&story.cloud, words, &["export", "shop", "--passphrase", "-o", path]).success();
    with_passphrase(&story.hosted, "another horse entirely", &["import", path]).failure();
    with_passphrase(&story.hosted, words, &["import", path]).success();
    baton(&story.hosted, &["sessions", "resume", "shop"]).success();
    assert_eq!(story.at::<String>(&story.hosted, SHOWN).await, WHOLE);
    story.end().await;
}
