//! Sessions go on at another node: when theirs is lost, when it is drained, and when it is told to end.

use super::{home, id, start_with};
use crate::attach::Foreign;
use crate::cdp::Tool;
use crate::identity::environment;
use crate::notes::eventually;
use axum::Router;
use axum::http::HeaderMap;
use axum::response::Html;
use axum::routing::{get, post};
use baton_api::{AttachSession, Client, ErrorCode, ListAudit, OpenCdp, OpenSession};
use baton_playground::{Site, TestNode};
use baton_session::Lifecycle;
use baton_session::egress::Egress;
use futures_util::StreamExt;
use serde_json::json;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::process::Command;
use tokio::time::sleep;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

/// Who a page is told that its browser is.
const WHO: &str = "[navigator.userAgent, navigator.languages, devicePixelRatio, \
                   navigator.hardwareConcurrency].join(' | ')";

/// A site that says which cookies it gets.
pub(super) async fn site() -> Site {
    let page = async |headers: HeaderMap| {
        let cookies = headers.get("cookie").and_then(|value| value.to_str().ok());
        Html(format!("<title>{}</title>", cookies.unwrap_or("nobody")))
    };
    Site::start(Router::new().route("/", get(page))).await.unwrap()
}

/// Opens a session at a node and signs in.
pub(super) async fn signed_in(node: &TestNode, name: &str, site: &Site) {
    sign_in(node, &open(name, site)).await;
}

async fn sign_in(node: &TestNode, wanted: &OpenSession) {
    let (client, name) = (node.client().unwrap(), wanted.name.as_str());
    client.open_session(wanted).await.unwrap();
    let access = client.open_cdp(name, &OpenCdp { reusable: false }).await.unwrap();
    let tool = Tool::connect(&access.cdp_url).await;
    tool.evaluate("document.cookie = 'login=ada; max-age=9999'").await;
    tool.page.call("Page.reload", json!({})).await.unwrap();
    client.capture_session(name).await.unwrap();
}

/// What the site says in the tab of a session.
pub(super) async fn title(client: &Client, name: &str) -> String {
    says(client, name, "document.title").await
}

/// What the tab of a session says.
async fn says(client: &Client, name: &str, text: &str) -> String {
    let access = client.open_cdp(name, &OpenCdp { reusable: false }).await.unwrap();
    let tool = Tool::connect(&access.cdp_url).await;
    tool.evaluate(text).await.as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_lost_node_held_goes_on_at_another_one_by_itself() {
    let lease = Duration::from_secs(4);
    let settings = [("BATON_CLUSTER_FAILOVER", "true".to_owned()), ("BATON_LEASE", "4".to_owned())];
    let database = baton_postgres::create_database().unwrap();
    let mut own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let site = site().await;
    signed_in(&own, "shop", &site).await;
    let sessions = [own.client().unwrap().fetch_session("shop").await.unwrap().session.id];

    own.kill_everybody(&sessions).await.unwrap();
    let killed = Instant::now();
    let client = other.client().unwrap();
    eventually("the session runs at the other node", async || {
        // Until its lease has ended it is still the lost node's, which does not answer.
        client.capture_session("shop").await.is_ok()
    })
    .await;
    let took = killed.elapsed();
    // The promise is five seconds more than a lease; a busy machine has some more.
    assert!(took > lease / 2 && took < lease + Duration::from_secs(15), "{took:?}");
    println!("back after {took:?}, with a lease of {lease:?}");
    assert_eq!(title(client, "shop").await, "login=ada");
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fits_nowhere_keeps_nobody_waiting_and_goes_back_to_its_node_when_that_is_there() {
    let failover = ("BATON_CLUSTER_FAILOVER", "true".to_owned());
    // Four browsers at once start within three quarters of it, also on a machine that has much to do.
    let lease = ("BATON_LEASE", "20".to_owned());
    let gpu = ("BATON_CLUSTER_LABELS", "gpu".to_owned());
    let database = baton_postgres::create_database().unwrap();
    let mut own =
        start_with(&database, "own", &[failover.clone(), lease.clone(), gpu.clone()]).await;
    let client = own.client().unwrap();
    let site = site().await;
    let mut sessions = Vec::new();
    // As many as are brought back at once, and then another one.
    for name in ["one", "two", "three", "four", "shop"] {
        let mut asked = open(name, &site);
        if name != "shop" {
            asked.labels.insert("gpu".parse().unwrap());
        }
        sessions.push(client.open_session(&asked).await.unwrap().session.id);
        client.capture_session(name).await.unwrap();
    }
    let other = start_with(&database, "other", &[failover, lease]).await;

    own.kill_everybody(&sessions).await.unwrap();
    let client = other.client().unwrap();
    eventually("what fits runs at the other node", async || {
        client.capture_session("shop").await.is_ok()
    })
    .await;
    assert_eq!(home(&other, "shop").await, Some(id(&other).await));
    own.start_node().await.unwrap();
    for name in ["one", "two", "three", "four"] {
        eventually("it runs where it fits", async || client.capture_session(name).await.is_ok())
            .await;
    }
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_node_had_still_to_bring_back_when_it_was_lost_itself_others_bring_back() {
    let failover = ("BATON_CLUSTER_FAILOVER", "true".to_owned());
    let lease = ("BATON_LEASE", "4".to_owned());
    let gpu = ("BATON_CLUSTER_LABELS", "gpu".to_owned());
    let all = [failover.clone(), lease.clone(), gpu];
    let database = baton_postgres::create_database().unwrap();
    let mut own = start_with(&database, "own", &all).await;
    let site = site().await;
    let mut asked = open("shop", &site);
    asked.labels.insert("gpu".parse().unwrap());
    let client = own.client().unwrap();
    let session = client.open_session(&asked).await.unwrap().session.id;
    client.capture_session("shop").await.unwrap();
    let mut heir = start_with(&database, "heir", &[failover, lease]).await;

    own.kill_everybody(&[session]).await.unwrap();
    eventually("the other node has it on its list", async || {
        let shown = heir.client().unwrap().fetch_session("shop").await;
        shown.is_ok_and(|shown| shown.session.state == Lifecycle::Recoverable)
    })
    .await;
    heir.kill_node().await.unwrap();
    let third = start_with(&database, "third", &all).await;
    eventually("the session runs where it fits", async || {
        third.client().unwrap().capture_session("shop").await.is_ok()
    })
    .await;
    own.clear().await.unwrap();
    heir.clear().await.unwrap();
    third.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nodes_with_a_broken_browser_cannot_bring_back_waits_for_one_with_another() {
    let all = [("BATON_CLUSTER_FAILOVER", "true".to_owned()), ("BATON_LEASE", "4".to_owned())];
    let database = baton_postgres::create_database().unwrap();
    let mut own = start_with(&database, "own", &all).await;
    let site = site().await;
    signed_in(&own, "shop", &site).await;
    let session = own.client().unwrap().fetch_session("shop").await.unwrap().session.id;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("chromium");
    std::fs::write(&program, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let broken = ("BATON_BROWSER", program.display().to_string());
    let [failover, lease] = all.clone();
    let broken = [failover, lease, broken];
    let first = start_with(&database, "first", &broken).await;
    let second = start_with(&database, "second", &broken).await;

    own.kill_everybody(&[session]).await.unwrap();
    let client = first.client().unwrap();
    eventually("both have tried, and one of them again", async || {
        let log = client.list_audit(&ListAudit::default()).await.unwrap().items;
        log.iter().filter(|entry| entry.action == "session.resume").count() >= 3
    })
    .await;
    let third = start_with(&database, "third", &all).await;
    eventually("the session runs where there is a browser", async || {
        third.client().unwrap().capture_session("shop").await.is_ok()
    })
    .await;
    assert_eq!(title(third.client().unwrap(), "shop").await, "login=ada");
    own.clear().await.unwrap();
    first.clear().await.unwrap();
    second.clear().await.unwrap();
    third.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_is_drained_and_its_tools_find_their_sessions_at_the_same_address() {
    let database = baton_postgres::create_database().unwrap();
    let one = ("BATON_BROWSER_MOST", "1".to_owned());
    let own = start_with(&database, "own", &[]).await;
    let mut other = start_with(&database, "other", &[one]).await;
    let site = site().await;
    signed_in(&own, "shop", &site).await;
    signed_in(&own, "bank", &site).await;

    // There is no room for both: nothing is begun.
    let (is_done, _, said) = drain(&other, &["own"]).await;
    assert!(!is_done);
    insta::assert_snapshot!(said, @"
    error: expected room for 2 browsers at the other nodes, found room for 1: other has 0 browsers and takes 1 more
      add a node, or move what finds room: baton node drain --partly
    ");
    let nodes = own.client().unwrap().list_nodes().await.unwrap().items;
    assert!(nodes.iter().all(|node| !node.is_draining));

    other.stop_node().await.unwrap();
    other = other.with("BATON_BROWSER_MOST", "3");
    other.start_node().await.unwrap();
    let client = own.client().unwrap();
    let access = client.open_cdp("shop", &OpenCdp { reusable: true }).await.unwrap();
    let (mut tool, _) = connect_async(access.cdp_url.as_str()).await.unwrap();
    let (is_done, said, _) = drain(&other, &["own"]).await;
    assert!(is_done, "{said}");
    let told: Vec<&str> = said.lines().map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(told, ["own: 2 sessions moved", "SESSION", "shop", "bank"], "{said}");
    // The tool is told that it may come again, and where it was the session is.
    let closed = loop {
        if let Message::Close(closed) = tool.next().await.unwrap().unwrap() {
            break closed.unwrap();
        }
    };
    assert_eq!(u16::from(closed.code), 1012);
    assert_eq!(closed.reason.as_str(), "the session moves to another node: connect again");
    for name in ["shop", "bank"] {
        assert_eq!(home(&own, name).await, Some(id(&other).await), "{name}");
        assert_eq!(title(client, name).await, "login=ada", "{name}");
    }
    // Nothing new comes to a node that is drained, whichever is asked, until that is ended.
    client.open_session(&open("new", &site)).await.unwrap();
    eventually("it is known that the other one is full", async || {
        // Until its next beat it is asked, and refuses.
        let full = client.open_session(&open("newer", &site)).await.unwrap_err();
        assert_eq!(full.code(), Some(ErrorCode::NoRoom));
        full.to_string().contains("own is being drained")
    })
    .await;
    let (is_done, said, _) = drain(&other, &["own", "--undo"]).await;
    assert!(is_done && said.contains("own"), "{said}");
    client.open_session(&open("newer", &site)).await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

fn open(name: &str, site: &Site) -> OpenSession {
    OpenSession::new(name.parse().unwrap(), [site.url("/").unwrap()])
}

/// Runs `baton node drain` at a node: whether it did all, and what it said.
pub(super) async fn drain(at: &TestNode, arguments: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.arg("--data").arg(at.data().path()).args(["node", "drain"]).args(arguments);
    let run = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (run.status.success(), text(run.stdout), text(run.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_of_somebodys_own_stays_where_it_is_and_nothing_is_made_ready_for_it() {
    let database = baton_postgres::create_database().unwrap();
    let own = start_with(&database, "own", &[]).await;
    let other = start_with(&database, "other", &[]).await;
    let (folder, site) = (tempfile::tempdir().unwrap(), site().await);
    let foreign = Foreign::start(folder.path(), &site.url("/").unwrap()).await;
    let asked = AttachSession {
        name: "mine".parse().unwrap(),
        description: None,
        cdp_url: foreign.address.clone(),
    };
    let client = own.client().unwrap();
    let session = client.attach_session(&asked).await.unwrap().session.id;
    client.put_file("mine", "note.txt", b"stays".to_vec()).await.unwrap();
    let (is_done, said, _) = drain(&other, &["own"]).await;
    assert!(!is_done && said.starts_with("own: 0 sessions moved, 1 stayed"), "{said}");
    let stayed = client.fetch_node("own").await.unwrap().drain.unwrap().stayed;
    assert_eq!(stayed[0].why, "a browser of somebody's own, or a sandbox, has it");
    assert!(!other.data().arriving_of(session).exists());
    assert_eq!(home(&own, "mine").await, Some(id(&own).await));
    client.capture_session("mine").await.unwrap();
    client.close_session("mine").await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_told_to_end_brings_its_sessions_to_others_first() {
    let settings = [("BATON_CLUSTER_DRAIN", "true".to_owned())];
    let database = baton_postgres::create_database().unwrap();
    let mut own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let site = site().await;
    let mut asked = open("shop", &site);
    let only = vec![format!("localhost:{}", site.url("/").unwrap().port().unwrap())];
    asked.environment = environment();
    asked.environment.egress = Some(Egress { only: only.clone(), ..Egress::default() });
    sign_in(&own, &asked).await;
    let who = says(own.client().unwrap(), "shop", WHO).await;
    assert!(who.ends_with(" | de-DE,de,en | 2 | 10"), "{who}");
    own.stop_node().await.unwrap();
    let client = other.client().unwrap();
    let found = client.fetch_session("shop").await.unwrap();
    assert_eq!(found.session.state, Lifecycle::Active);
    assert_eq!(title(client, "shop").await, "login=ada");
    // To sites it is the same browser, and it goes no further than before.
    assert_eq!(says(client, "shop", WHO).await, who);
    assert_eq!(found.egress.unwrap().only, only);
    let access = client.open_cdp("shop", &OpenCdp { reusable: false }).await.unwrap();
    let to = json!({ "url": "http://tracker.example/" });
    Tool::connect(&access.cdp_url).await.page.call("Page.navigate", to).await.unwrap();
    let hosts = client.fetch_session("shop").await.unwrap().egress.unwrap().hosts;
    let is_tracker = |host: &String| host.starts_with("tracker.example:");
    let refused = hosts.iter().find(|one| one.host.as_ref().is_some_and(is_tracker)).unwrap();
    assert_eq!((refused.connections, refused.refused > 0), (0, true), "{refused:?}");
    // The last one has nowhere to bring them: its browsers wait for it.
    other.client().unwrap().capture_session("shop").await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_files_of_a_session_come_with_it_when_its_node_is_drained() {
    let database = baton_postgres::create_database().unwrap();
    let own = start_with(&database, "own", &[]).await;
    let other = start_with(&database, "other", &[]).await;
    let site = site().await;
    let session = own.open("shop", [site.url("/").unwrap()]).await.unwrap();
    let client = own.client().unwrap();
    let odd = "Zoë & co #1%.txt";
    for (name, text) in [("note.txt", "before"), (odd, "odd"), ("note.txt", "again")] {
        client.put_file("shop", name, text.into()).await.unwrap();
    }
    let before = client.list_files("shop").await.unwrap().items;
    // What nobody can ask for stays where it is.
    let hidden = own.data().files_of(session).join(".hidden");
    std::fs::write(&hidden, "nobody's").unwrap();

    let (is_done, said, _) = drain(&other, &["own"]).await;
    assert!(is_done, "{said}");
    assert_eq!(home(&own, "shop").await, Some(id(&other).await));
    for node in [&own, &other] {
        let client = node.client().unwrap();
        let after = client.list_files("shop").await.unwrap().items;
        let told = |files: &[baton_api::SessionFile]| -> Vec<_> {
            let one = |file: &baton_api::SessionFile| {
                (file.name.clone(), file.bytes, file.changed_at.as_microsecond())
            };
            files.iter().map(one).collect()
        };
        assert_eq!(told(&after), told(&before));
        assert_eq!(client.get_file("shop", "note.txt").await.unwrap(), b"again");
        assert_eq!(client.get_file("shop", odd).await.unwrap(), b"odd");
    }
    let left = |node: &TestNode| {
        let files = std::fs::read_dir(node.data().files_of(session)).unwrap().flatten();
        let names = files.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| !name.starts_with('.')).count()
    };
    assert_eq!((left(&own), left(&other)), (0, 2));
    assert!(hidden.exists());
    // Nothing waits for a session that has come.
    assert_eq!(std::fs::read_dir(other.data().arriving()).unwrap().count(), 0);
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_came_ahead_and_are_gone_at_the_other_node_are_sent_again() {
    let database = baton_postgres::create_database().unwrap();
    let own = start_with(&database, "own", &[]).await;
    let other = start_with(&database, "other", &[]).await;
    let site = site().await;
    let session = own.open("shop", [site.url("/").unwrap()]).await.unwrap();
    let client = own.client().unwrap();
    client.put_file("shop", "first.txt", b"first".to_vec()).await.unwrap();
    client.put_file("shop", "last.txt", b"last".to_vec()).await.unwrap();
    let folder = other.data().arriving_of(session);
    let last = own.data().files_of(session).join("last.txt");
    let written = std::fs::metadata(last).unwrap().modified().unwrap();
    let micros = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap().as_micros();
    // As a node does that starts, or that waited for too long.
    let forget = async {
        eventually("all files came ahead of the session", async || {
            let found = std::fs::metadata(folder.join("files/last.txt"));
            let found = found.and_then(|found| found.modified());
            found.is_ok_and(|found| micros(found) == micros(written))
        })
        .await;
        std::fs::remove_dir_all(folder.join("files")).unwrap();
    };
    let ((is_done, said, told), ()) = tokio::join!(drain(&other, &["own"]), forget);
    assert!(is_done, "{said}{told}");
    assert_eq!(home(&own, "shop").await, Some(id(&other).await));
    for (name, text) in [("first.txt", "first"), ("last.txt", "last")] {
        assert_eq!(client.get_file("shop", name).await.unwrap(), text.as_bytes(), "{name}");
    }
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

/// A page that writes every ten milliseconds, and whose token counts once.
const RESTLESS: &str = r"<title>restless</title><script>
    const open = indexedDB.open('log', 1);
    open.onupgradeneeded = () => open.result.createObjectStore('lines');
    open.onsuccess = () => {
        const store = (mode) => open.result.transaction('lines', mode).objectStore('lines');
        const count = store('readonly').getAllKeys();
        count.onsuccess = () => {
            window.found = count.result;
            let next = count.result.length;
            setInterval(() => {
                store('readwrite').put('x'.repeat(1000), next++);
                localStorage.written = next;
            }, 10);
        };
    };
    const turn = async () => {
        const answer = await fetch('/token', { method: 'POST', body: localStorage.token ?? '' });
        localStorage.token = await answer.text();
        setTimeout(turn, 20);
    };
    turn();
</script>";

/// How far the page is from its site, in time.
const FAR: Duration = Duration::from_millis(60);

/// A site with that page, which counts the tokens that come a second time.
async fn restless(spent: Arc<AtomicUsize>) -> Site {
    let token = Arc::new(Mutex::new(String::new()));
    let turns = Arc::new(AtomicUsize::new(0));
    let rotate = async move |shown: String| {
        let next = format!("token-{}", turns.fetch_add(1, Ordering::Relaxed));
        if std::mem::replace(&mut *token.lock().unwrap(), next.clone()) != shown {
            spent.fetch_add(1, Ordering::Relaxed);
        }
        // Most of the time an answer is on its way.
        sleep(FAR).await;
        next
    };
    let routes = Router::new().route("/", get(async || Html(RESTLESS)));
    Site::start(routes.route("/token", post(rotate))).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_on_the_way_while_a_page_writes_and_its_token_rotates() {
    let database = baton_postgres::create_database().unwrap();
    let own = start_with(&database, "own", &[]).await;
    let other = start_with(&database, "other", &[]).await;
    let spent = Arc::new(AtomicUsize::new(0));
    let site = restless(Arc::clone(&spent)).await;
    own.open("shop", [site.url("/").unwrap()]).await.unwrap();
    let client = own.client().unwrap();
    let evaluate = async |script: &str| {
        let access = client.open_cdp("shop", &OpenCdp { reusable: false }).await.unwrap();
        Tool::connect(&access.cdp_url).await.evaluate(script).await
    };
    eventually("the page writes", async || {
        evaluate("Number(localStorage.written ?? 0)").await.as_u64().unwrap_or_default() > 50
    })
    .await;
    // There and back again: to a node with no profile of it, and to one with an outdated one.
    for (at, leaves) in [(&other, "own"), (&own, "other")] {
        let written = evaluate("Number(localStorage.written)").await.as_u64().unwrap();
        client.capture_session("shop").await.unwrap();
        let (is_done, said, told) = drain(at, &[leaves]).await;
        assert!(is_done, "{said}{told}");
        assert_eq!(home(&own, "shop").await, Some(id(at).await));
        eventually("the page has looked", async || evaluate("!!window.found").await == true).await;
        let found = evaluate("window.found").await;
        let found: Vec<u64> =
            found.as_array().unwrap().iter().map(|key| key.as_u64().unwrap()).collect();
        assert!(found.len() as u64 >= written, "{} of {written}", found.len());
        // None is missing in the middle.
        assert_eq!(found, (0..found.len() as u64).collect::<Vec<_>>());
        let (is_done, ..) = drain(at, &[leaves, "--undo"]).await;
        assert!(is_done);
    }
    assert_eq!(spent.load(Ordering::Relaxed), 0, "a token that was spent came back");
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
