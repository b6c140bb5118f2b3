//! Files that mean harm, at every door that takes one: each is refused or made harmless, and costs the node
//! neither time nor its place on the disk.
//!
//! What profiles do to their reader stands beside it in `browser`, archives beside `backup` and sealed bodies
//! beside `sealing`; here is what a client, a peer or a program with the same folder can bring.

use crate::fixture::{Folder, Node, until};
use baton_server::config::{BrowserChoices, Choices};
use baton_session::wire::{self, SessionFile};
use baton_session::{SessionId, State};
use reqwest::{Method, StatusCode};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long one of them may take.
const LIMIT: Duration = Duration::from_secs(10);

/// A document of each format that is taken, with a place for something that means harm.
fn documents() -> Vec<String> {
    let cookie = r#"{"name":"sid","value":@,"domain":"shop.test","path":"/","expires":-1,"httpOnly":true,
        "secure":true,"sameSite":"Lax"}"#;
    let storage = format!(r#"{{"cookies":[{cookie}],"origins":[]}}"#);
    let origins = r#"{"cookies":[],"origins":[{"origin":"https://shop.test","localStorage":[{"name":"a","value":@}]}]}"#;
    let file = SessionFile { head: wire::Head::default(), state: State::default() };
    let session = wire::write(&file);
    let anywhere = session.replacen('{', r#"{"more":@,"#, 1);
    let sealed = r#"{"id":"x","name":"x","sealed":{"layout":"baton sync file v1","sender":@,"recipients":[],
        "contents":""},"signature":""}"#;
    vec![storage, origins.to_owned(), anywhere, sealed.to_owned(), "@".to_owned()]
}

/// What stands in that place.
fn harm() -> Vec<String> {
    let deep =
        |open: &str, close: &str, times: usize| open.repeat(times) + "1" + &close.repeat(times);
    vec![
        deep("[", "]", 100_000),
        deep(r#"{"a":"#, "}", 100_000),
        "[".repeat(100_000),
        "1e400".to_owned(),
        "-1e-400".to_owned(),
        "9".repeat(100_000),
        "18446744073709551616".to_owned(),
        r#""\u0000""#.to_owned(),
        r#""\ud800""#.to_owned(),
        r#""\udc00\ud800""#.to_owned(),
        format!("\"{}\"", "a".repeat(4 << 20)),
        r#"{"a":1,"a":2,"a":{"a":[]}}"#.to_owned(),
        "null".to_owned(),
        "[{},{},[]]".to_owned(),
        r#""../../../../etc/passwd""#.to_owned(),
        "\"\u{feff}\u{202e}\"".to_owned(),
        "\"a\u{0}b\"".to_owned(),
    ]
}

fn hostile() -> impl Iterator<Item = String> {
    let filled =
        |document: String| harm().into_iter().map(move |harm| document.replace('@', &harm));
    documents().into_iter().flat_map(filled)
}

/// Every file below a folder, but those of databases, whose pages come and go.
fn below(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            } else if !entry.file_name().to_string_lossy().starts_with("baton.db") {
                found.insert(entry.path());
            }
        }
    }
    found
}

#[tokio::test]
async fn no_document_harms_the_node_that_takes_it() {
    let node = Node::start().await;
    let data = node.folder.data.path().to_owned();
    let before = below(&data);
    let mut sent = 0;
    for text in hostile() {
        let imported = format!(r#"{{"name":"one","file":{text}}}"#);
        for (path, body) in
            [("/sessions/import", &imported), ("/sync/sessions", &text), ("/sync/files", &text)]
        {
            let begun = Instant::now();
            let request = node.admin_request(Method::POST, path);
            let request = request.header("content-type", "application/json").body(body.clone());
            let answer = request.send().await.unwrap();
            let (status, shown) = (answer.status(), &text[..text.len().min(120)]);
            assert!(!status.is_server_error(), "{path}: {status} for {shown}");
            assert!(begun.elapsed() < LIMIT, "{path}: {:?} for {shown}", begun.elapsed());
            if status == StatusCode::CREATED && path == "/sessions/import" {
                node.admin().delete_session("one").await.unwrap();
            }
            sent += 1;
        }
    }
    assert!(sent > 200, "{sent}");
    node.admin().health().await.unwrap();
    let beyond: Vec<_> = below(&data).difference(&before).cloned().collect();
    assert!(beyond.is_empty(), "{beyond:?}");
    node.stop().await;
}

#[tokio::test]
async fn nothing_in_a_sync_directory_harms_the_node_that_keeps_it() {
    let shared = tempfile::tempdir().unwrap();
    let directory = shared.path().join("sync");
    let sessions = directory.join("sessions");
    fs::create_dir_all(&sessions).unwrap();
    let place = || {
        sessions.join(format!("{}.json", SessionId::new(jiff::Timestamp::now(), rand::random())))
    };
    for text in hostile() {
        fs::write(place(), text).unwrap();
    }
    let outside = shared.path().join("outside.json");
    fs::write(&outside, "{}").unwrap();
    symlink(&outside, place()).unwrap();
    symlink("/dev/zero", place()).unwrap();
    mknodat(CWD, place(), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    fs::create_dir(place()).unwrap();
    // One of a terabyte, which is nowhere on the disk.
    fs::File::create(place()).unwrap().set_len(1 << 40).unwrap();
    for list in ["index.json", "nodes.json"] {
        fs::write(directory.join(list), "[".repeat(100_000)).unwrap();
    }
    let choices = Choices {
        sync_directory: Some(directory.clone()),
        browser: BrowserChoices::started("/nowhere/chromium".into()),
        ..Choices::default()
    };
    let folder = Folder::new();
    let config = folder.config_with(choices).unwrap();
    let node = folder.start_with(config).await;
    until("what is wrong is told", async || {
        let view = node.admin().fetch_sync_directory().await.ok()?;
        (view.refused.len() > 60).then_some(())
    })
    .await;
    assert!(
        node.admin().fetch_sync_index().await.unwrap().sessions.is_empty(),
        "nothing was taken"
    );
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}", "no link was followed");
    let begun = Instant::now();
    node.stop().await;
    assert!(begun.elapsed() < LIMIT, "it ends when it is asked to: {:?}", begun.elapsed());
}
