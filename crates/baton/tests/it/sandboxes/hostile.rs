//! What runs in a sandbox and means harm: to the node that reads what it left, and to whoever has the session
//! afterwards. What a sandbox itself refuses is tried in the tests of `baton-sandbox`.

use super::scene::{Scene, reference, refused};
use baton_api::sandbox::{BrowserSession, CreateSandbox, SandboxView, TakeBack};
use baton_api::{Client, ListAudit};
use baton_session::Permission;
use serde_json::Value;
use std::time::{Duration, Instant};

/// How much memory a process has, in bytes.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_without_an_end_holds_neither_time_nor_memory_of_the_node() {
    let scene = Scene::set().await;
    let sandbox = scene.sandbox().await;
    let id = sandbox.id.to_string();
    scene.says(&sandbox, "mkfifo pipe; truncate -s 65M large; head -c 60M /dev/zero > long").await;
    let pid = scene.test_node.node_pid().unwrap();
    let (before, begun) = (memory(pid), Instant::now());
    let mut reads = Vec::new();
    for path in ["/dev/zero", "/dev/full", "pipe", "large", "/workspace"].repeat(8) {
        let (client, id) = (scene.client().clone(), id.clone());
        reads.push(tokio::spawn(async move {
            refused(client.read_sandbox_file(&id, path).await).detail
        }));
    }
    let mut told = std::collections::BTreeSet::new();
    for read in reads {
        told.insert(read.await.unwrap());
    }
    let told = told.into_iter().collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(told, @r"
    /dev/full: expected a plain file, found another kind
    /dev/zero: expected a plain file, found another kind
    /workspace/: expected a plain file, found another kind
    /workspace/large: expected at most 67108864 bytes, found more
    /workspace/pipe: expected a plain file, found another kind
    ");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    // Whoever wants a long file and does not take it holds little of it.
    let mut held = Vec::new();
    for _ in 0..24 {
        held.push(slow(scene.client(), scene.test_node.data().admin_key(), &id, "long").await);
    }
    let grown = memory(pid).saturating_sub(before);
    assert!(grown < 200 << 20, "{} MiB", grown >> 20);
    drop(held);
    assert_eq!(scene.client().read_sandbox_file(&id, "long").await.unwrap().len(), 60 << 20);
    scene.strike().await;
}

/// Asks for a file, and takes only the head of the answer.
async fn slow(
    client: &Client,
    key: std::path::PathBuf,
    id: &str,
    path: &str,
) -> tokio::net::TcpStream {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let address = client.base().socket_addrs(|| None).unwrap()[0];
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let key = std::fs::read_to_string(key).unwrap();
    let request = format!(
        "GET /api/sandboxes/{id}/files?path={path} HTTP/1.1\r\nHost: {address}\r\n\
         Authorization: Bearer {}\r\n\r\n",
        key.trim()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    stream
}

/// Plants cookies of sites that nobody lent, and says what these and the one that was lent may do, as whoever has the
/// profile can.
const PLANT: &str = "python3 - << 'END'
import json, sqlite3
store = sqlite3.connect('/workspace/.browser-profile/Default/Cookies')
columns = [row[1] for row in store.execute('pragma table_info(cookies)')]
row = dict(zip(columns, store.execute('select * from cookies').fetchone()))
for host in ('.bank.test', 'accounts.google.com', '.github.com', 'host'):
    planted = dict(row, host_key=host, name='planted', value='ATTACKER', encrypted_value=b'')
    marks = ','.join('?' * len(columns))
    store.execute(f'insert into cookies values({marks})', [planted[name] for name in columns])
store.commit()
here, bank, allow, deny = 'http://host:80,*', 'https://www.bank.test:443,*', dict(setting=1), dict(setting=2)
exceptions = dict(notifications={here: deny}, media_stream_camera={here: allow, bank: allow})
with open('/workspace/.browser-profile/Default/Preferences', 'w') as settings:
    json.dump(dict(profile=dict(content_settings=dict(exceptions=exceptions))), settings)
END";

async fn with(scene: &Scene, take_back: TakeBack) -> SandboxView {
    let session = BrowserSession { take_back, ..reference("shop") };
    let request = CreateSandbox { browser_session: Some(session), ..CreateSandbox::default() };
    scene.client().create_sandbox(&request).await.unwrap()
}

/// The domains of the planted cookies in the session.
async fn planted(scene: &Scene) -> Vec<String> {
    let state = scene.client().fetch_state("shop", true).await.unwrap().state;
    let cookies = state["cookies"].as_array().unwrap().iter();
    let planted = cookies.filter(|cookie| cookie["name"] == "planted");
    let mut domains: Vec<_> =
        planted.map(|cookie| cookie["domain"].as_str().unwrap().to_owned()).collect();
    domains.sort();
    domains
}

/// What the session says of the wishes of sites.
async fn permissions(scene: &Scene) -> Vec<String> {
    let view = scene.client().fetch_session("shop").await.unwrap();
    let line = |one: &Permission| format!("{} {}", one.place(), one.setting);
    view.permissions.iter().map(line).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_plants_nothing_of_sites_that_it_was_not_lent() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = with(&scene, TakeBack::Lent).await;
    scene.says(&sandbox, PLANT).await;
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!(planted(&scene).await, ["host"]);
    let left: Vec<&str> = ended.left_out.items.iter().map(|item| &*item.place).collect();
    assert_eq!(
        left,
        [
            ".bank.test/ planted",
            ".github.com/ planted",
            "accounts.google.com/ planted",
            "camera https://www.bank.test",
            "camera http://host",
        ]
    );
    // Of the site that was lent, what it may not; a person says what it may.
    assert_eq!(permissions(&scene).await, ["notifications http://host deny"]);
    let noted = scene.client().list_audit(&ListAudit::default()).await.unwrap().items;
    let noted = noted.iter().find(|entry| entry.action == "sandbox.delete").unwrap();
    let sites: Vec<&Value> = noted.detail["left_out_sites"].as_array().unwrap().iter().collect();
    assert_eq!(sites, ["bank.test", "github.com", "google.com"]);

    // Whoever wants all of it says so before.
    let sandbox = with(&scene, TakeBack::All).await;
    scene.says(&sandbox, PLANT.replace("'host')", ")").as_str()).await;
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert!(ended.left_out.items.is_empty(), "{ended:?}");
    let all = [".bank.test", ".github.com", "accounts.google.com", "host"];
    assert_eq!(planted(&scene).await, all);
    let all = [
        "camera http://host allow",
        "camera https://www.bank.test allow",
        "notifications http://host deny",
    ];
    assert_eq!(permissions(&scene).await, all);
    let copy = BrowserSession { shared: true, take_back: TakeBack::All, ..reference("shop") };
    let request = CreateSandbox { browser_session: Some(copy), ..CreateSandbox::default() };
    let problem = refused(scene.client().create_sandbox(&request).await);
    insta::assert_snapshot!(problem.detail, @"expected browserSession to be without takeBack where nothing is written back, found both");
    scene.strike().await;
}

/// Waits for the tool that packs the profile, whatever asks it to end meanwhile, and then writes an archive
/// of its own into the tool's output: one file, described with three gigabytes.
const AMBUSH: &str = "cat > ambush.py << 'END'
import glob, os, signal
for number in range(1, 32):
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_IGN)
if os.fork():
    os._exit(0)
os.setsid()
open('ready', 'w').close()
header = bytearray(512)
header[0:1], header[100:107], header[108:115], header[116:123] = b'x', b'0000644', b'0000000', b'0000000'
header[124:135], header[136:147], header[156:157] = b'30000000000', b'00000000000', b'x'
header[257:263], header[263:265], header[148:156] = b'ustar\\0', b'00', b' ' * 8
header[148:154] = b'%06o' % sum(header)
header[154:156] = b'\\0 '
while True:
    for path in glob.glob('/proc/[0-9]*/cmdline'):
        try:
            if b'pack' in open(path, 'rb').read().split(b'\\0'):
                output = open(os.path.dirname(path) + '/fd/1', 'wb', buffering=0)
                os.kill(int(path.split('/')[2]), signal.SIGSTOP)
                output.write(header)
                while True:
                    output.write(bytes(1 << 20))
        except OSError:
            pass
END
python3 ambush.py; until [ -e ready ]; do sleep 0.01; done";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_taken_back_from_under_whoever_lies_in_wait() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = scene.sandbox_of("shop").await;
    scene.says(&sandbox, AMBUSH).await;
    let pid = scene.test_node.node_pid().unwrap();
    let (before, begun) = (memory(pid), Instant::now());
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    // It was whole, and quick: nobody was there any more to write anything else.
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    assert!(ended.snapshot.is_some() && begun.elapsed() < Duration::from_secs(30));
    let grown = memory(pid).saturating_sub(before);
    assert!(grown < 200 << 20, "{} MiB", grown >> 20);
    scene.strike().await;
}

/// Changes a cookie, and then closes what a profile lies in, from the inside out.
const CLOSE: &str = "cd .browser-profile && python3 - << 'END' && chmod 0 Default/Cookies 'Default/Local Storage' Default .. .
import sqlite3
store = sqlite3.connect('Default/Cookies')
store.execute(\"update cookies set value = 'rotated' where name = 'refresh'\")
store.commit()
END";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_sandbox_has_closed_is_read_and_does_not_count_as_deleted() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = scene.sandbox_of("shop").await;
    scene.says(&sandbox, CLOSE).await;
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    assert!(ended.left_out.items.is_empty(), "{:?}", ended.left_out);
    let cookies = scene.cookies("shop").await;
    assert!(cookies.contains(&("refresh".to_owned(), "rotated".to_owned())), "{cookies:?}");
    let state = scene.client().fetch_state("shop", true).await.unwrap().state;
    let stored = &state["origins"][&scene.url()]["localStorage"];
    assert_eq!(stored.to_string(), r#"[["token","t0k3n"]]"#);
    scene.strike().await;
}
