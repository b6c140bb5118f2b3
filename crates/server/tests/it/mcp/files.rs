//! Files: in the exchange folder or nowhere, under names that files may have.

use super::{answer, call, message, unattended, with_a_session};
use crate::fixture::{Folder, seed_snapshot, state_at};
use serde_json::json;
use std::os::unix::fs::symlink;

#[tokio::test]
async fn files_are_in_the_exchange_folder_or_nowhere() {
    let node = with_a_session().await;
    let key = node.admin_key();
    let answer = unattended(&node, "session_export", json!({"sessionId": "shop"})).await;
    assert!(!answer.to_string().contains("s3cret"), "{answer}");
    let path = answer["path"].as_str().unwrap();
    let exchange = node.folder.data.path().join("exchange/local");
    assert_eq!(std::path::Path::new(path), exchange.join("shop.session.json"));
    assert!(std::fs::read_to_string(path).unwrap().contains("s3cret"));

    symlink(node.folder.data.path().join("admin.key"), exchange.join("link")).unwrap();
    let mut heard = Vec::new();
    for file in ["shop.session.json", "../../admin.key", "/etc/passwd", "link", ".", "gone.json"] {
        let arguments = json!({"file": file, "name": "copy"});
        let told = call(&node, &key, "session_import", arguments).await;
        let told = told.replace(exchange.to_str().unwrap(), "EXCHANGE");
        heard.push(format!("{file}: {}", told.lines().next().unwrap()));
    }
    insta::assert_snapshot!(heard.join("\n"), @r"
    shop.session.json: copy is recoverable. Last snapshot: 0s ago (import).
    ../../admin.key: error: expected file to be the name of a readable file in the exchange folder, found another name; the folder is EXCHANGE
    /etc/passwd: error: expected file to be the name of a readable file in the exchange folder, found another name; the folder is EXCHANGE
    link: error: expected file to be the name of a readable file in the exchange folder, found Too many levels of symbolic links (os error 40); the folder is EXCHANGE
    .: error: expected file to be the name of a readable file in the exchange folder, found another name; the folder is EXCHANGE
    gone.json: error: expected file to be the name of a readable file in the exchange folder, found No such file or directory (os error 2); the folder is EXCHANGE
    ");
    node.stop().await;
}

#[tokio::test]
async fn a_file_has_a_name_that_files_may_have_and_none_is_overwritten_unasked() {
    let folder = Folder::new();
    let store = folder.store().await;
    let mut ids = Vec::new();
    for name in [".hidden", &"字".repeat(64)] {
        let id = folder.seed(&store, "local", name).await;
        seed_snapshot(&store, "local", id, &state_at("https://shop.test/")).await;
        ids.push(id.to_string());
    }
    store.close().await;
    let node = folder.start().await;
    for id in &ids {
        let file = &unattended(&node, "session_export", json!({"sessionId": id})).await["file"];
        assert_eq!(*file, json!(format!("{id}.session.json")));
    }
    let export = json!({"name": "session_export", "arguments": {"sessionId": ids[0]}});
    let can_ask = json!({"elicitation": {"form": {}}});
    let sent = message(&node, &node.admin_key(), "tools/call", export, &can_ask).send();
    let asked = answer(sent.await.unwrap()).await;
    let question = asked["result"]["inputRequests"]["confirm"]["params"]["message"].as_str();
    insta::assert_snapshot!(question.unwrap().replace(&ids[0], "ID"), @"Write session .hidden to a file? Whoever has the file is logged in wherever .hidden is. It takes the place of ID.session.json, which is there already.");
    node.stop().await;
}

#[tokio::test]
async fn a_file_of_the_exchange_folder_comes_to_a_session_and_goes_again() {
    let node = with_a_session().await;
    let key = node.admin_key();
    let exchange = node.folder.data.path().join("exchange/local");
    std::fs::create_dir_all(&exchange).unwrap();
    std::fs::write(exchange.join("scan.txt"), "hello").unwrap();
    symlink(node.folder.data.path().join("admin.key"), exchange.join("link")).unwrap();
    let mut heard = Vec::new();
    for arguments in [
        json!({"put": "scan.txt"}),
        json!({"put": "link"}),
        json!({"put": "../../admin.key"}),
        json!({"remove": "../../admin.key"}),
        json!({}),
        json!({"remove": "scan.txt"}),
        json!({"remove": "scan.txt"}),
    ] {
        let mut arguments = arguments;
        arguments["sessionId"] = "shop".into();
        heard.push(call(&node, &key, "session_files", arguments).await);
    }
    let id = node.admin().fetch_session("shop").await.unwrap().session.id;
    let files = node.folder.data.files_of(id);
    let heard = heard.join("\n--\n");
    let heard = heard
        .replace(files.to_str().unwrap(), "FILES")
        .replace(exchange.to_str().unwrap(), "EXCHANGE");
    insta::assert_snapshot!(heard, @r#"
    Put FILES/scan.txt.
    scan.txt 5 B FILES/scan.txt
    --
    error: expected file to be the name of a readable file in the exchange folder, found Too many levels of symbolic links (os error 40); the folder is EXCHANGE
    --
    error: expected file to be the name of a readable file in the exchange folder, found another name; the folder is EXCHANGE
    --
    error: expected name to be the name of a file: at most 200 bytes without '/', and no '.' at its beginning, found "../../admin.key"
    --
    scan.txt 5 B FILES/scan.txt
    --
    Removed scan.txt.
    No files.
    --
    error: expected a file called "scan.txt" among those of the session, found none
    Next: baton sessions files list tells which there are
    "#);
    assert!(!files.join("scan.txt").exists() && exchange.join("scan.txt").exists());
    node.stop().await;
}
