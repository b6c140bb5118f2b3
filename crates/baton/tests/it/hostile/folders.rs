//! Folders of this machine that browsers see beside their own: those of the owner for whom the node runs,
//! and of nobody else.

use super::machine::{SHOWN, WRITTEN, key_of_bob};
use crate::notes::eventually;
use crate::test_nodes;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_api::{Client, CreateKey, ErrorCode, OpenSession, Scope, SharedFolder};
use baton_playground::{Page, TestNode};
use baton_session::SessionId;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder to read and one to write, each with a file in it.
fn folders(test_node: &TestNode) -> [PathBuf; 2] {
    ["scans", "receipts"].map(|name| {
        let folder = test_node.folder().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("page.html"), format!("<title>{name}</title><p>{SHOWN}</p>"))
            .unwrap();
        folder
    })
}

/// Runs a command; answers with what it writes, or what went wrong.
fn baton(test_node: &TestNode, words: &[&str]) -> Result<String, String> {
    let mut command = cargo_bin_cmd!("baton");
    let run = command.arg("--data").arg(test_node.data().path()).args(words).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    if run.status.success() { Ok(text(&run.stdout)) } else { Err(text(&run.stderr)) }
}

fn url(folder: &Path) -> String {
    format!("file://{}/page.html", folder.display())
}

/// What a client of a session's browser is shown of a folder, or why it is not.
async fn shows(test_node: &TestNode, id: SessionId, folder: &Path) -> Result<String, String> {
    let socket = test_node.keeper_socket(id);
    let page = Page::open(&socket, &url(folder)).await.map_err(|error| format!("{error:#}"))?;
    page.wait_for("document.readyState === 'complete' && location.protocol !== 'about:'")
        .await
        .unwrap();
    Ok(page.evaluate("document.documentElement.textContent").await.unwrap())
}

/// What a page reads of a file that a client gives it, or why the client may not.
async fn uploads(test_node: &TestNode, id: SessionId, folder: &Path) -> Result<String, String> {
    let page = Page::open(&test_node.keeper_socket(id), "about:blank").await.unwrap();
    let made = "document.body.append(globalThis.input = Object.assign(\
                document.createElement('input'), { type: 'file' })), true";
    page.evaluate::<bool>(made).await.unwrap();
    let params = json!({ "expression": "globalThis.input" });
    let input = page.session().call("Runtime.evaluate", params).await.unwrap();
    let files = json!([folder.join("page.html")]);
    let params = json!({ "files": files, "objectId": input["result"]["objectId"] });
    let given = page.session().call("DOM.setFileInputFiles", params).await;
    given.map_err(|error| error.to_string())?;
    Ok(page.evaluate("globalThis.input.files[0].text()").await.unwrap())
}

/// Has a page download a file, which its client wants in a folder; answers where it came.
async fn downloads(test_node: &TestNode, id: SessionId, folder: &Path, name: &str) -> PathBuf {
    let page = Page::open(&test_node.keeper_socket(id), "about:blank").await.unwrap();
    let params = json!({ "behavior": "allow", "downloadPath": folder });
    page.session().call("Browser.setDownloadBehavior", params).await.unwrap();
    let click = format!(
        "(Object.assign(document.createElement('a'), {{ download: '{name}', \
         href: 'data:text/plain,{WRITTEN}' }}).click(), true)"
    );
    page.evaluate::<bool>(&click).await.unwrap();
    let places = [folder.join(name), test_node.data().files_of(id).join(name)];
    let whole = |path: &&PathBuf| fs::read_to_string(path).is_ok_and(|text| text == WRITTEN);
    eventually("the file is there", async || places.iter().any(|path| whole(&path))).await;
    places.iter().find(whole).unwrap().clone()
}

/// One that its owner shows is read, and one that says so is written.
async fn are_seen(test_node: &TestNode, id: SessionId, [scans, receipts]: &[PathBuf; 2]) {
    for folder in [scans, receipts] {
        assert!(shows(test_node, id, folder).await.unwrap().contains(SHOWN));
        assert!(uploads(test_node, id, folder).await.unwrap().contains(SHOWN));
    }
    let came = downloads(test_node, id, receipts, "receipt.txt").await;
    assert_eq!(came, receipts.join("receipt.txt"));
    let came = downloads(test_node, id, scans, "scan.txt").await;
    assert_eq!(came, test_node.data().files_of(id).join("scan.txt"));
    assert!(!scans.join("scan.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_shows_a_session_is_seen_and_only_written_where_they_say_so() {
    let test_node = test_nodes::test_node().await;
    let folders = folders(&test_node);
    let [scans, receipts] = &folders;
    let writable = format!("{}:rw", receipts.display());
    let words =
        ["open", "--name", "forms", "--files", scans.to_str().unwrap(), "--files", &writable];
    baton(&test_node, &words).unwrap();
    let client = test_node.client().unwrap();
    let id = client.fetch_session("forms").await.unwrap().session.id;
    are_seen(&test_node, id, &folders).await;
    // Another session of the same owner sees nothing of them.
    let other = test_node.open("other", []).await.unwrap();
    for folder in &folders {
        let refused = shows(&test_node, other, folder).await.unwrap_err();
        assert!(refused.contains("baton sessions files put"), "{refused}");
        uploads(&test_node, other, folder).await.unwrap_err();
    }

    // They stay with the session, and one that has gone meanwhile is no longer there.
    client.close_session("forms").await.unwrap();
    fs::remove_file(receipts.join("receipt.txt")).unwrap();
    fs::rename(scans, scans.with_extension("away")).unwrap();
    client.resume_session("forms").await.unwrap();
    assert!(shows(&test_node, id, receipts).await.unwrap().contains(SHOWN));
    let came = downloads(&test_node, id, receipts, "receipt.txt").await;
    assert_eq!(came, receipts.join("receipt.txt"));
    shows(&test_node, id, scans).await.unwrap_err();

    let missing = ["open", "--name", "none", "--files", scans.to_str().unwrap()];
    let refused = baton(&test_node, &missing).unwrap_err();
    assert!(refused.contains("expected files to be folders that are there"), "{refused}");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folders_of_the_settings_are_for_the_owner_of_the_node_alone() {
    let mut test_node = test_nodes::build();
    let folders = folders(&test_node);
    let [scans, receipts] = &folders;
    let text = format!("{},{}:rw", scans.display(), receipts.display());
    test_node = test_node.with("BATON_BROWSER_FILES", text);
    test_node.start_node().await.unwrap();
    let mine = test_node.open("mine", []).await.unwrap();
    are_seen(&test_node, mine, &folders).await;

    let (bob, _) = key_of_bob(&test_node).await;
    let request = OpenSession::new("own".parse().unwrap(), []);
    let own = bob.open_session(&request).await.unwrap().session.id;
    for folder in &folders {
        let refused = shows(&test_node, own, folder).await.unwrap_err();
        assert!(refused.contains("baton sessions files put"), "{refused}");
        uploads(&test_node, own, folder).await.unwrap_err();
        let came = downloads(&test_node, own, folder, "of-bob.txt").await;
        assert_eq!(came, test_node.data().files_of(own).join("of-bob.txt"));
    }

    // Nor can a key ask for more than the person at the machine: neither another owner's, whatever its
    // scopes, nor one that may only drive.
    let client = test_node.client().unwrap();
    let all = Scope::ALL.into_iter().collect();
    for (name, owner, scopes, code) in [
        ("eve", Some("eve".parse().unwrap()), all, ErrorCode::InvalidRequest),
        ("agent", None, [Scope::Drive].into(), ErrorCode::Forbidden),
    ] {
        let wanted = CreateKey { name: name.to_owned(), owner, scopes, for_node: None };
        let secret = client.create_key(&wanted).await.unwrap().secret;
        let asks = Client::new(client.base().clone(), secret.into()).unwrap();
        let files =
            vec![SharedFolder { path: scans.to_str().unwrap().to_owned(), writable: false }];
        let request = OpenSession { files, ..OpenSession::new("more".parse().unwrap(), []) };
        let refused = asks.open_session(&request).await.unwrap_err();
        assert_eq!(refused.code(), Some(code), "{name}: {refused}");
    }
    test_node.clear().await.unwrap();
}
