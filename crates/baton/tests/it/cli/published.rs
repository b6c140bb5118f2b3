//! A node in a container, as the machine around it reaches it.

use super::fixture::{Folder, stderr};
use reqwest::StatusCode;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// How long anything may take.
const LIMIT: Duration = Duration::from_mins(1);

/// Starts a node as an image does; the host shows it at another port than its own.
fn start(folder: &Folder) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    let kept = std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME");
    command.env_clear().envs(kept).env("BATON_DATA", folder.data());
    command.args(["serve", "--listen", "0.0.0.0:0", "--published", "127.0.0.1:8420"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Where the node listens, as its folder says.
async fn address(folder: &Folder) -> String {
    let read = async || loop {
        let text = std::fs::read(folder.data().join("node.json")).unwrap_or_default();
        match serde_json::from_slice::<Value>(&text) {
            Ok(file) => return file["url"].as_str().unwrap().trim_end_matches('/').to_owned(),
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    };
    timeout(LIMIT, read()).await.unwrap()
}

#[tokio::test]
async fn it_says_its_first_key_once_and_answers_to_where_it_is_shown_alone() {
    let folder = Folder::new();
    let mut node = start(&folder);
    let mut said = BufReader::new(node.stdout.take().unwrap()).lines();
    let mut line = async || timeout(LIMIT, said.next_line()).await.unwrap().unwrap().unwrap();
    insta::assert_snapshot!(line().await, @"A key for http://127.0.0.1:8420, shown this once; baton keys revoke ends it:");
    let key = line().await;
    let here = address(&folder).await;

    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let ask = async |host: &str, key: Option<&str>| {
        let mut request = client.get(format!("{here}/sessions")).header("host", host);
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        request.send().await.unwrap().status()
    };
    for shown in ["127.0.0.1:8420", "localhost:8420", "[::1]:8420"] {
        assert_eq!(ask(shown, Some(&key)).await, StatusCode::OK, "{shown}");
        assert_eq!(ask(shown, None).await, StatusCode::UNAUTHORIZED, "{shown}");
    }
    // Another machine that comes past the host, and a page under a name that leads here.
    for other in ["192.0.2.7:8420", "rebound.example:8420", "127.0.0.1:9"] {
        assert_eq!(ask(other, Some(&key)).await, StatusCode::FORBIDDEN, "{other}");
    }
    // Commands in the container need no key of it, and the page is where its host shows it.
    let (code, ticket) = folder.json(&["dashboard", "--print"]);
    assert_eq!(code, 0, "{ticket}");
    let page: reqwest::Url = ticket["url"].as_str().unwrap().parse().unwrap();
    assert!(page.host_str().unwrap().ends_with(".localhost") && page.port() == Some(8420));
    folder.stop_node();
    assert!(node.wait().await.unwrap().success());

    let mut again = start(&folder);
    address(&folder).await;
    folder.stop_node();
    let mut said = String::new();
    timeout(LIMIT, again.stdout.take().unwrap().read_to_string(&mut said)).await.unwrap().unwrap();
    assert_eq!(said, "", "a key is shown once");
    assert!(again.wait().await.unwrap().success());
}

#[test]
fn it_is_shown_to_its_host_alone() {
    let folder = Folder::new();
    let mut refused = String::new();
    for published in ["0.0.0.0:7420", "127.0.0.1:0"] {
        let run = folder.run(&["serve", "--published", published]).code(2);
        refused += &stderr(&run, &folder.data());
    }
    insta::assert_snapshot!(refused, @r#"
    error: the flags and BATON_* variables: expected server.published to be a loopback address such as 127.0.0.1:9100, found 0.0.0.0:7420
    error: the flags and BATON_* variables: expected server.published to be the port at which the host shows it, found port 0
    "#);
}

/// What a node says that is started as an image starts it, on a volume that a command mounts before.
fn on_a_volume(mount: &str) -> String {
    let folder = Folder::new();
    std::fs::create_dir(folder.data()).unwrap();
    let script = format!("{mount} \"$1\" || exit 77; shift; exec \"$@\"");
    let run = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"])
        .arg(folder.data())
        .arg(env!("CARGO_BIN_EXE_baton"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("BATON_DATA", folder.data())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_ne!(run.status.code(), Some(77), "a namespace of the test's own mounts nothing");
    let told = String::from_utf8(run.stderr).unwrap();
    assert!(!run.status.success(), "{told}");
    let told = told.replace(&folder.data().display().to_string(), "/data");
    told[told.find("error: ").unwrap()..].trim_end().to_owned()
}

#[test]
fn a_volume_that_takes_nothing_is_told_with_what_to_do() {
    insta::assert_snapshot!(on_a_volume("mount -t tmpfs -o ro,mode=700 tmpfs"), @r"
    error: /data/run: Read-only file system (os error 30)
      mount it so that it can be written, or choose another folder with --data
    ");
    insta::assert_snapshot!(on_a_volume("mount -t tmpfs -o size=16k,mode=700 tmpfs"), @"error: cannot reach /data/baton.db: disk I/O error: its disk is full, fails, or takes no writes");
}
