//! Servers that misbehave, and strangers: small scripts stand in for them.

use super::scene::{Scene, done, text};
use baton_playground::tools::Room;
use baton_playground::{McpClient, victims};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// How long an end may take.
const LIMIT: Duration = Duration::from_mins(1);

/// What they all share: they speak the protocol, and tell who they are. `act` is what differs.
const SERVER: &str = r#"
import json, os, sys, time
def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
def answer(id, text):
    say({"id": id, "result": {"content": [{"type": "text", "text": text}]}})
def read():
    return json.loads(sys.stdin.readline() or sys.exit())
def main():
    open("pid", "w").write(str(os.getpid()))
    open("address", "w").write(sys.argv[1])
    while True:
        message = read()
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            say({"id": id, "result": {"protocolVersion": message["params"]["protocolVersion"],
                 "capabilities": {"tools": {}}, "serverInfo": {"name": "toy", "version": "1"}}})
        elif method == "tools/list":
            say({"id": id, "result": {"tools": [
                {"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}})
        elif method == "tools/call":
            act(id, message["params"])
        else:
            other(message)
def other(message):
    pass
TOOLS = ["echo", "list_sessions"]
"#;

/// A scene with a session, and a bridge whose other server acts like this.
pub(super) async fn set(act: &str, args: &[&str]) -> (Scene, McpClient) {
    let room = Room::build().unwrap();
    let script = format!("{SERVER}\n{act}\nmain()\n");
    fs::write(room.path().join("server.py"), script).unwrap();
    let scene = Scene::set(room).await;
    let bridge = scene.bridge("python3 server.py {cdp_url}", args).await;
    done(&bridge.call("session_open", json!({"name": "shop"})).await.unwrap());
    (scene, bridge)
}

impl Scene {
    pub(super) fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.room.path().join(name)).unwrap_or_default()
    }

    fn server(&self) -> u32 {
        self.noted("pid").parse().unwrap()
    }
}

/// Begins a call that is not answered, until the server tells so.
async fn begin(bridge: &McpClient) {
    let begun = async {
        while bridge.notifications().is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        answer = bridge.call("echo", json!({})) => panic!("expected none, found {answer:?}"),
        begun = timeout(LIMIT, begun) => begun.unwrap(),
    }
}

async fn strike(scene: Scene, bridge: McpClient) {
    bridge.close().await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_client_says_arrives_unchanged_and_our_names_win() {
    let act = r#"
def act(id, params):
    token = params.get("_meta", {}).get("progressToken")
    say({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})
    say({"method": "notifications/progress", "params": {"progressToken": "nobody", "progress": 1}})
    say({"id": "roots", "method": "roots/list"})
    roots = read()
    answer(id, json.dumps([params, roots]))
"#;
    let (scene, bridge) = set(act, &[]).await;
    let names: Vec<Value> = bridge.list_tools().await.unwrap();
    let count = |name: &str| names.iter().filter(|tool| tool["name"] == name).count();
    assert_eq!((count("echo"), count("list_sessions")), (1, 1));
    assert!(done(&bridge.call("list_sessions", json!({})).await.unwrap()).contains("shop active"));
    let params = json!({
        "name": "echo", "arguments": {"z": 1e300, "a": 9_007_199_254_740_993_u64},
        "_meta": {"progressToken": 7},
    });
    let said = done(&bridge.request("tools/call", params.clone()).await.unwrap());
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said[0], params);
    assert_eq!(said[1], json!({"jsonrpc": "2.0", "id": "roots", "result": {"roots": []}}));
    let told = bridge.notifications();
    let progress = told.iter().filter(|told| told["method"] == "notifications/progress");
    assert_eq!(progress.count(), 1, "only what was asked for: {told:?}");
    strike(scene, bridge).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_dies_says_so_and_comes_back() {
    let act = r#"
def act(id, params):
    if params["arguments"].get("die"):
        os._exit(3)
    answer(id, "alive")
"#;
    let (scene, bridge) = set(act, &[]).await;
    let died = bridge.call("echo", json!({"die": true})).await.unwrap();
    assert_eq!(died["isError"], true);
    insta::assert_snapshot!(text(&died), @"
    python3 ended before it had answered
    Next: call it again: the server is started anew
    ");
    assert_eq!(done(&bridge.call("echo", json!({})).await.unwrap()), "alive");
    for _ in 0..3 {
        bridge.call("echo", json!({"die": true})).await.unwrap();
        bridge.call("echo", json!({})).await.unwrap();
    }
    bridge.call("echo", json!({"die": true})).await.unwrap();
    let tired = bridge.call("echo", json!({})).await.unwrap();
    insta::assert_snapshot!(text(&tired), @"
    python3 was started 5 times within a minute, and ended
    Next: tell the user; the tools of Baton itself work
    ");
    done(&bridge.call("list_sessions", json!({})).await.unwrap());
    strike(scene, bridge).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_hangs_is_given_up_and_told() {
    let act = r#"
def act(id, params):
    if not params["arguments"].get("hang"):
        answer(id, "alive")
def other(message):
    if message.get("method") == "notifications/cancelled":
        open("cancelled", "w").write("yes")
"#;
    let (scene, bridge) = set(act, &["--with-limit", "2s"]).await;
    let silent = bridge.call("echo", json!({"hang": true})).await.unwrap();
    insta::assert_snapshot!(text(&silent), @"
    expected python3 to answer or to tell progress within 2 s, found that it was silent
    Next: look at the page, it may have done it all the same; or call it again
    ");
    assert_eq!(done(&bridge.call("echo", json!({})).await.unwrap()), "alive");
    assert_eq!(scene.noted("cancelled"), "yes");
    strike(scene, bridge).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_client_cancels_is_cancelled_there_too() {
    let act = r#"
def act(id, params):
    global call
    call = id
    say({"method": "notifications/message", "params": {"level": "info", "data": "begun"}})
def other(message):
    if message.get("method") == "notifications/cancelled":
        open("cancelled", "w").write("yes" if message["params"]["requestId"] == call else "another")
"#;
    let (scene, bridge) = set(act, &[]).await;
    begin(&bridge).await;
    // The third request of this client, after its introduction and `session_open`.
    bridge.notify("notifications/cancelled", json!({"requestId": 3})).await.unwrap();
    let told = async {
        while scene.noted("cancelled").is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, told).await.unwrap();
    assert_eq!(scene.noted("cancelled"), "yes");
    strike(scene, bridge).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_does_not_keep_ours_from_answering() {
    let act = r#"
def act(id, params):
    for n in range(3000):
        say({"method": "notifications/message", "params": {"level": "info", "data": "x" * 4096}})
        sys.stderr.write("y" * 5000 + "\n")
    answer(id, "done")
"#;
    let (scene, bridge) = set(act, &[]).await;
    let (flood, ours) =
        tokio::join!(bridge.call("echo", json!({})), bridge.call("list_sessions", json!({})),);
    assert_eq!(done(&flood.unwrap()), "done");
    done(&ours.unwrap());
    strike(scene, bridge).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_stays_behind_when_the_client_leaves_in_the_middle() {
    let act = r#"
import signal, subprocess
def act(id, params):
    child = subprocess.Popen(["sleep", "600"])
    open("child", "w").write(str(child.pid))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say({"method": "notifications/message", "params": {"level": "info", "data": "begun"}})
    time.sleep(600)
"#;
    let (scene, bridge) = set(act, &[]).await;
    begin(&bridge).await;
    let left = [("server", scene.server()), ("child", scene.noted("child").parse().unwrap())];
    bridge.close().await.unwrap();
    victims::wait_for_the_end(&left, LIMIT).await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_told_to_end_takes_the_server_along() {
    let act = "def act(id, params):\n    answer(id, 'alive')\n";
    let (scene, bridge) = set(act, &[]).await;
    done(&bridge.call("echo", json!({})).await.unwrap());
    let left = [("server", scene.server()), ("bridge", bridge.pid().unwrap())];
    victims::ask_to_end(bridge.pid().unwrap()).unwrap();
    victims::wait_for_the_end(&left, LIMIT).await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_address_of_the_browser_stays_between_the_two() {
    let act = r#"
def act(id, params):
    sys.stderr.write("could not connect to " + sys.argv[1] + "\n")
    say({"method": "notifications/message", "params": {"level": "error", "data": sys.argv[1]}})
    if params["arguments"].get("refuse"):
        say({"id": id, "error": {"code": -32000, "message": "no " + sys.argv[1]}})
    else:
        answer(id, "connected to " + sys.argv[1])
"#;
    let (scene, bridge) = set(act, &[]).await;
    let told = done(&bridge.call("echo", json!({})).await.unwrap());
    let refused = bridge.call("echo", json!({"refuse": true})).await.unwrap_err();
    let address = scene.noted("address");
    let (before, secret) = address.rsplit_once('/').unwrap();
    assert_eq!(told, format!("connected to {before}/[redacted]"));
    let heard = format!("{refused:#} {:?}", bridge.notifications());
    assert!(heard.matches(&format!("{before}/[redacted]")).count() >= 3, "{heard}");
    assert!(!heard.contains(secret), "{heard}");
    strike(scene, bridge).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_says_how_much_is_logged() {
    let act = r#"
def act(id, params):
    answer(id, open("level").read())
def other(message):
    if message.get("method") == "logging/setLevel":
        open("level", "w").write(message["params"]["level"])
        say({"id": message["id"], "result": {}})
"#;
    let room = Room::build().unwrap();
    fs::write(room.path().join("server.py"), format!("{SERVER}\n{act}\nmain()\n")).unwrap();
    let scene = Scene::set(room).await;
    let bridge = scene.silent_bridge("python3 server.py {cdp_url}", &[]);
    let hello = bridge.initialize(json!({}), "2025-11-25").await.unwrap();
    assert_eq!(hello["capabilities"]["logging"], json!({}));
    bridge.request("logging/setLevel", json!({"level": "loud"})).await.unwrap_err();
    bridge.request("logging/setLevel", json!({"level": "notice"})).await.unwrap();
    done(&bridge.call("session_open", json!({"name": "shop"})).await.unwrap());
    assert_eq!(done(&bridge.call("echo", json!({})).await.unwrap()), "notice");
    bridge.request("logging/setLevel", json!({"level": "debug"})).await.unwrap();
    assert_eq!(done(&bridge.call("echo", json!({})).await.unwrap()), "debug");
    strike(scene, bridge).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_told_to_end_does_not_wait_for_a_person() {
    let act = "def act(id, params):\n    answer(id, 'alive')\n";
    let (scene, first) = set(act, &[]).await;
    let mut command = scene.command("python3 server.py {cdp_url}", &[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut bridge = command.spawn().unwrap();
    let mut input = bridge.stdin.take().unwrap();
    let mut output = BufReader::new(bridge.stdout.take().unwrap()).lines();
    let begins = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let asks = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "session_abandon", "arguments": {"sessionId": "shop"},
    }});
    input.write_all(format!("{begins}\n{asks}\n").as_bytes()).await.unwrap();
    let asked = async {
        while !output.next_line().await.unwrap().unwrap().contains("elicitation/create") {}
    };
    timeout(LIMIT, asked).await.unwrap();
    victims::ask_to_end(bridge.id().unwrap()).unwrap();
    // A client that something is written to is given 5 s to read it.
    timeout(Duration::from_secs(4), bridge.wait()).await.unwrap().unwrap();
    strike(scene, first).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_does_not_start_leaves_ours_alone() {
    let scene = Scene::set(Room::build().unwrap()).await;
    let bridge = scene.bridge("false {cdp_url}", &[]).await;
    let tools = bridge.list_tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "list_sessions"));
    done(&bridge.call("session_open", json!({"name": "shop"})).await.unwrap());
    let failed = bridge.call("browser_navigate", json!({})).await.unwrap();
    insta::assert_snapshot!(text(&failed), @"
    false ended before it had answered
    Next: tell the user; the tools of Baton itself work
    ");
    strike(scene, bridge).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_address_opens_for_nobody_who_does_not_know_it() {
    let act = "def act(id, params):\n    answer(id, 'alive')\n";
    let (scene, bridge) = set(act, &[]).await;
    done(&bridge.call("echo", json!({})).await.unwrap());
    let address = scene.noted("address");
    let (authority, token) = address.strip_prefix("ws://").unwrap().split_once('/').unwrap();
    assert_eq!(token.len(), 64, "256 bits");
    let ask = async |path: &str, more: &str| {
        let mut stream = TcpStream::connect(authority).await.unwrap();
        let head = format!(
            "GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut first = [0; 12];
        timeout(LIMIT, stream.read_exact(&mut first)).await.unwrap().unwrap();
        String::from_utf8_lossy(&first).into_owned()
    };
    // Whoever says nothing takes no place of those who do.
    let mut silent = Vec::new();
    for _ in 0..16 {
        silent.push(TcpStream::connect(authority).await.unwrap());
    }
    assert_eq!(ask(&"0".repeat(64), "").await, "HTTP/1.1 403");
    assert_eq!(ask("", "").await, "HTTP/1.1 403");
    assert_eq!(ask(token, "Origin: http://evil.example\r\n").await, "HTTP/1.1 403");
    assert_eq!(ask(token, "").await, "HTTP/1.1 101");
    strike(scene, bridge).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_the_newest_protocol_is_served_without_a_handshake() {
    let act = "def act(id, params):\n    answer(id, 'alive')\n";
    let (scene, bridge) = set(act, &[]).await;
    let fresh = scene.silent_bridge("python3 server.py {cdp_url}", &["--session", "shop"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let listed = fresh.request("tools/list", json!({"_meta": meta})).await.unwrap();
    assert_eq!(listed["resultType"], "complete");
    assert!(listed["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "echo"));
    let params = json!({"name": "echo", "arguments": {}, "_meta": meta});
    // The other server speaks an older one, which has no kinds of results.
    let answered = fresh.request("tools/call", params.clone()).await.unwrap();
    assert_eq!((done(&answered).as_str(), &answered["resultType"]), ("alive", &json!("complete")));
    fresh.close().await.unwrap();
    let lost = scene.silent_bridge("python3 server.py {cdp_url}", &["--session", "nothing"]);
    let refused = lost.request("tools/call", params).await.unwrap();
    assert_eq!((&refused["isError"], &refused["resultType"]), (&json!(true), &json!("complete")));
    lost.close().await.unwrap();
    strike(scene, bridge).await;
}
