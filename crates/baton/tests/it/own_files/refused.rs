//! What no server would get is told as that, and what is no file of ours by what it is.

use super::{Scene, lines, told};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_that_no_server_gets_is_never_told_as_restored() {
    let scene = Scene::set().await;
    let cookie = |name: &str| {
        json!({"name": name, "value": "1", "domain": "shop.localhost",
        "path": "/", "sameSite": "None", "secure": name == "good"})
    };
    let file = json!({"name": "own", "state": {"cookies": [cookie("bad"), cookie("good")]}});
    let (left, sent) = scene.brings("own", file.to_string().as_bytes(), 6).await;
    assert_eq!(sent, "good=1");
    insta::assert_snapshot!(left.join("\n"), @"cookie shop.localhost/ bad: expected Secure together with SameSite=None");
    let (file, profile) = (scene.file("own"), scene.file("profile"));
    let paths = [&file, &profile].map(|path| path.to_str().unwrap());
    let run = scene.baton(&["profile", "compile", paths[0], paths[1]]).code(6);
    let lost = lines(&told(&run)["receipt"]);
    assert!(lost.contains(&left[0]), "{lost:?}");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_with_bytes_that_are_no_text_is_told_as_lost_and_not_cut() {
    let scene = Scene::set().await;
    let url = scene.url("/strange");
    scene.test_node.open("shop", [url.clone()]).await.unwrap();
    let before = scene.sends("shop", url.as_str()).await;
    assert!(before.starts_with("strange=caf") && before.ends_with("tail; plain=1"), "{before}");
    let captured = told(&scene.baton(&["sessions", "capture", "shop"]).success());
    assert_eq!(captured["unread"][0]["place"], "shop.localhost/ strange", "{captured}");
    scene.baton(&["sessions", "close", "shop"]).success();
    let run = scene.baton(&["sessions", "resume", "shop"]).code(6);
    let lost = lines(&told(&run)["receipt"]);
    insta::assert_snapshot!(lost.join("\n"), @"cookie shop.localhost/ strange: its name or value has bytes that are not UTF-8, which no browser tells or takes over its protocol");
    let tab = scene.test_node.client().unwrap().fetch_session("shop").await.unwrap();
    assert_eq!(scene.sends("shop", tab.tabs[0].url.as_str()).await, "plain=1");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_file_of_a_browser_is_refused_by_what_it_is() {
    let scene = Scene::set().await;
    let files: [(&str, &[u8]); 4] = [
        ("cookies.sqlite", b"SQLite format 3\0"),
        ("page.html", b"<!doctype html>"),
        ("list.json", b"[\"a\"]"),
        ("notes.txt", b"remember the milk"),
    ];
    let mut said = Vec::new();
    for (name, bytes) in files {
        let path = scene.file(name);
        std::fs::write(&path, bytes).unwrap();
        let run = scene.baton(&["import", path.to_str().unwrap(), "--name", "shop"]).code(2);
        let error = told(&run)["error"].clone();
        let part = |name: &str| error[name].as_str().unwrap_or("no hint").to_owned();
        said.extend([part("message"), format!("  {}", part("hint"))]);
    }
    let said = said.join("\n").replace(scene.folder.path().to_str().unwrap(), "FOLDER");
    insta::assert_snapshot!(said, @r"
    FOLDER/cookies.sqlite: this is a database of SQLite; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
      the folder of the profile that it lies in is taken: baton import FOLDER
    FOLDER/page.html: this is a page in HTML or XML; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
      no hint
    this is a JSON list of another kind; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
      no hint
    FOLDER/notes.txt: this is a text of another kind; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
      no hint
    ");
    scene.strike().await;
}
