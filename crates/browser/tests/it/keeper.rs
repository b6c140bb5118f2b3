//! Clients of a keeper: who sees what, and what becomes of the others when one goes.

use crate::fixture::{Kept, attach, evaluate, eventually, open_page, options, site, spec, targets};
use baton_browser::cdp::Event;
use baton_browser::keeper::{self, KeeperError, KeeperLink, Role};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

#[tokio::test]
async fn two_clients_see_each_others_pages_and_one_leaving_does_not_disturb_the_other() {
    let kept = Kept::new().await;
    let (first, second) = (kept.connect(Role::Client).await, kept.connect(Role::Client).await);
    let (mine, yours) = (first.connection.browser(), second.connection.browser());
    assert!(targets(&mine).await.is_empty(), "the anchor is hidden");
    let (target, page) = open_page(&mine, &site("<title>shared</title>").await).await;
    assert!(targets(&yours).await.contains(&target));
    let seen = attach(&yours, &target).await;
    assert_eq!(evaluate(&seen, "window.mark = 7; document.title").await, json!("shared"));
    let foreign = second.connection.session(page.id().unwrap().clone());
    let refused = foreign.call("Page.enable", ()).await.unwrap_err();
    assert!(refused.says("Session with given id not found."), "{refused}");
    drop((first, mine, page));
    assert_eq!(evaluate(&seen, "window.mark").await, json!(7));
    kept.close().await;
}

#[tokio::test]
async fn a_node_that_dies_leaves_browser_pages_and_clients_as_they_are() {
    let kept = Kept::new().await;
    let node = kept.connect(Role::Node).await;
    assert_eq!(node.welcome.browser_pid, kept.ready.browser_pid);
    let client = kept.connect(Role::Client).await;
    let (target, _) = open_page(&node.connection.browser(), &site("").await).await;
    let page = attach(&client.connection.browser(), &target).await;
    evaluate(&page, "window.mark = 'before'").await;
    drop(node);
    let node = kept.connect(Role::Node).await;
    assert_eq!(evaluate(&page, "window.mark").await, json!("before"));
    let again = attach(&node.connection.browser(), &target).await;
    assert_eq!(evaluate(&again, "window.mark").await, json!("before"));
    kept.close().await;
}

#[tokio::test]
async fn a_newer_node_replaces_the_older() {
    let kept = Kept::new().await;
    let older = kept.connect(Role::Node).await;
    let newer = kept.connect(Role::Node).await;
    older.connection.closed().await;
    let status = newer.connection.browser().call("Baton.status", ()).await.unwrap();
    assert_eq!((&status["clients"], &status["not_understood"]), (&json!(1), &json!(0)));
    kept.close().await;
}

#[tokio::test]
async fn a_full_house_has_a_place_for_the_node() {
    let kept = Kept::new().await;
    let mut clients = Vec::new();
    for _ in 0..32 {
        clients.push(kept.connect(Role::Client).await);
    }
    let refused = keeper::connect(&kept.spec.socket, Role::Client).await.unwrap_err();
    let expected = "the keeper refused the connection: expected at most 32 clients, found one more";
    assert_eq!(refused.to_string(), expected);
    kept.connect(Role::Node).await;
    drop(clients);
    kept.close().await;
}

#[tokio::test]
async fn garbage_closes_the_connection_of_its_sender_only() {
    let kept = Kept::new().await;
    let good = kept.connect(Role::Client).await;
    for garbage in ["nonsense\0", "{\"hello\":{\"role\":\"client\",\"version\":99}}\0", "half"] {
        let answer = say(&kept, garbage).await;
        assert!(answer.contains("refused") || garbage == "half", "{answer}");
    }
    let (transport, _) = keeper::knock(&kept.spec.socket, Role::Client).await.unwrap();
    let (mut reader, mut writer) = transport.split();
    writer.send(b"nonsense".to_vec()).await.unwrap();
    assert_eq!(reader.next().await.unwrap(), None);
    good.connection.browser().call("Browser.getVersion", ()).await.unwrap();
    kept.close().await;
}

#[tokio::test]
async fn whoever_does_not_know_the_secret_beside_the_socket_is_refused() {
    let kept = Kept::new().await;
    let key = kept.spec.socket.with_extension("key");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let secret = fs::read(&key).unwrap();
    let old = say(&kept, "{\"hello\":{\"role\":\"node\",\"version\":1}}\0").await;
    assert!(old.contains("expected version 2 of the protocol, found 1"), "{old}");
    let nonce = "A".repeat(43);
    let hello =
        format!("{{\"hello\":{{\"role\":\"node\",\"version\":2,\"nonce\":\"{nonce}\"}}}}\0");
    let guessed = say(&kept, &format!("{hello}{{\"proof\":\"{nonce}\"}}\0")).await;
    assert!(guessed.contains("challenge") && guessed.contains("found none"), "{guessed}");
    fs::write(&key, [7; 32]).unwrap();
    let error = keeper::connect(&kept.spec.socket, Role::Node).await.unwrap_err().to_string();
    insta::assert_snapshot!(error, @"expected the keeper whose secret lies beside its socket, found one that does not know it");
    fs::write(&key, secret).unwrap();
    kept.close().await;
    assert!(!key.exists());
}

#[tokio::test]
async fn a_process_of_a_browser_is_no_client() {
    let kept = Kept::new().await;
    // It bears the mark of our browsers, and leads its group.
    let mut command = tokio::process::Command::new("python3");
    let script = "import socket, sys\n\
                  s = socket.socket(socket.AF_UNIX)\n\
                  s.connect(sys.argv[1])\n\
                  print(s.recv(1000).decode())";
    command.args(["-c", script]).arg(&kept.spec.socket).arg("--held-by-baton").process_group(0);
    let told = command.output().await.unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("found a process of a browser"), "{told}");
    kept.close().await;
}

#[tokio::test]
async fn a_keeper_of_the_version_before_is_spoken_to_and_says_nothing_of_rules() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("keeper.sock");
    let listener = tokio::net::UnixListener::bind(&socket).unwrap();
    let keeper = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = [0; 100];
        let read = stream.read(&mut hello).await.unwrap();
        assert_eq!(&hello[..read], b"{\"hello\":{\"role\":\"client\",\"version\":1}}\0");
        let welcome = json!({ "welcome": {
            "session": "01900000-0000-7000-8000-000000000000", "pid": 1, "browser_pid": 2,
            "browser_version": "Chrome/1", "attached": false,
        } });
        stream.write_all(format!("{welcome}\0").as_bytes()).await.unwrap();
    };
    let (knocked, ()) = tokio::join!(keeper::knock(&socket, Role::Client), keeper);
    assert_eq!(knocked.unwrap().1.confinement, None);
}

/// Says `words`, ends, and returns all that the keeper answers until it closes.
async fn say(kept: &Kept, words: &str) -> String {
    let mut stream = UnixStream::connect(&kept.spec.socket).await.unwrap();
    stream.write_all(words.as_bytes()).await.unwrap();
    if words == "half" {
        stream.shutdown().await.unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_client_that_closes_the_browser_closes_only_its_own_connection() {
    let kept = Kept::new().await;
    let client = kept.connect(Role::Client).await;
    client.connection.browser().call("Browser.close", ()).await.unwrap();
    client.connection.closed().await;
    let other = kept.connect(Role::Client).await;
    other.connection.browser().call("Browser.getVersion", ()).await.unwrap();
    let refused = keeper::kill(&other.connection).await.unwrap_err();
    assert!(refused.to_string().contains("'Baton.kill' wasn't found"), "{refused}");
    kept.close().await;
}

#[tokio::test]
async fn events_reach_the_client_that_asked_for_them() {
    let kept = Kept::new().await;
    let (asks, other) = (kept.connect(Role::Client).await, kept.connect(Role::Client).await);
    let (mine, yours) = (asks.connection.browser(), other.connection.browser());
    mine.call("Target.setDiscoverTargets", json!({"discover": true})).await.unwrap();
    let (target, _) = open_page(&yours, "about:blank").await;
    let KeeperLink { mut events, .. } = asks;
    loop {
        if let Some(Event::Message { session: None, method, params }) = events.next().await
            && method == "Target.targetCreated"
            && params.get().contains(&target)
        {
            break;
        }
    }
    kept.close().await;
}

#[tokio::test]
async fn a_socket_is_for_its_user_and_for_one_keeper() {
    use std::os::unix::fs::PermissionsExt;
    let kept = Kept::new().await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&kept.spec.socket), 0o600);
    assert_eq!(mode(kept.spec.socket.parent().unwrap()), 0o700);
    let folder = tempfile::tempdir().unwrap();
    let refused = Kept::start(folder, kept.spec.clone()).await.err().unwrap();
    let socket = kept.spec.socket.display();
    assert_eq!(
        refused,
        format!("expected a free socket at {socket}, found a keeper running there")
    );
    kept.close().await;
}

#[tokio::test]
async fn a_socket_that_a_dead_keeper_left_behind_is_no_keeper_and_is_replaced() {
    let kept = Kept::new().await;
    let stale = kept.folder.path().join("stale.sock");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    let absent = keeper::connect(&stale, Role::Node).await.unwrap_err();
    assert!(matches!(absent, KeeperError::NotRunning { .. }), "{absent}");
    kept.close().await;
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    let spec = spec(folder.path(), keeper::BrowserSpec::Launch(Box::new(options(&profile))));
    fs::create_dir(spec.socket.parent().unwrap()).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&spec.socket).unwrap());
    Kept::start(folder, spec).await.unwrap().close().await;
}

#[tokio::test]
async fn a_socket_path_that_is_too_long_is_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    let mut spec = spec(folder.path(), keeper::BrowserSpec::Launch(Box::new(options(&profile))));
    spec.socket = folder.path().join("x".repeat(120));
    let error = keeper::connect(&spec.socket, Role::Node).await.unwrap_err().to_string();
    assert!(error.starts_with("expected a socket path of at most 107 bytes, found "), "{error}");
    assert_eq!(Kept::start(folder, spec).await.err(), Some(error));
}

#[tokio::test]
async fn clients_come_and_go_without_leaving_sessions_behind() {
    let kept = Kept::new().await;
    for _ in 0..40 {
        let client = kept.connect(Role::Client).await;
        client.connection.browser().post("Target.setDiscoverTargets", json!({"discover": true}));
    }
    let node = kept.connect(Role::Node).await;
    let browser = node.connection.browser();
    eventually("only the node is left", async || {
        let status = browser.call("Baton.status", ()).await.unwrap();
        status["clients"] == 1 && status["cdp_sessions"] == 1 && status["waiting_calls"] == 0
    })
    .await;
    kept.close().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected_and_nobody_waits_for_it() {
    let kept = Kept::new().await;
    let node = kept.connect(Role::Node).await;
    let mut slow = UnixStream::connect(&kept.spec.socket).await.unwrap();
    let hello = "{\"hello\":{\"role\":\"client\",\"version\":1}}\0";
    slow.write_all(hello.as_bytes()).await.unwrap();
    let call = b"{\"id\":1,\"method\":\"Browser.getVersion\"}\0";
    let (mut silent, mut asking) = slow.into_split();
    let asking = tokio::spawn(async move { while asking.write_all(call).await.is_ok() {} });
    asking.await.unwrap();
    let status = node.connection.browser().call("Baton.status", ()).await.unwrap();
    assert_eq!(status["clients"], 1);
    let _ = silent.read(&mut [0]).await;
    kept.close().await;
}
