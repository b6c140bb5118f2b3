//! A browser whose only way out is the proxy in its keeper: what it reaches, and what it does not, whatever a
//! page or a client tries.

use crate::fixture::{Kept, attach, evaluate, eventually, open_page, options, spec};
use crate::site::{Page, Site};
use baton_browser::keeper::{BrowserSpec, EgressSpec, HostTally, KeeperSpec, KnownProxies, Role};
use baton_browser::launch::{Confine, LaunchOptions};
use baton_session::egress::Egress;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

/// The port of a site.
fn port_of(site: &Site) -> u16 {
    let url = site.url("a", "/");
    url.trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap()
}

/// A keeper whose browser reaches these hosts alone.
async fn fenced(only: &[String]) -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let launch = options(&folder.path().join("profile"));
    let egress = Egress { only: only.to_vec(), ..Egress::default() };
    let egress = EgressSpec::of(&egress, &KnownProxies::default()).unwrap();
    let browser = BrowserSpec::Launch(Box::new(launch));
    let spec = KeeperSpec { egress: Some(egress), ..spec(folder.path(), browser) };
    Kept::start(folder, spec).await.unwrap()
}

/// What the way out was asked for.
async fn tallies(kept: &Kept) -> Vec<HostTally> {
    let node = kept.connect(Role::Node).await;
    let told = node.connection.browser().call("Baton.egress", ()).await.unwrap();
    serde_json::from_value(told["hosts"].clone()).unwrap()
}

/// Whether anybody has connected.
fn is_reached(host: &TcpListener) -> bool {
    host.set_nonblocking(true).unwrap();
    match host.accept() {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::WouldBlock => false,
        Err(error) => panic!("{error}"),
    }
}

/// Tries every way that a page has, and ends when each has ended.
const WAYS: &str = "(async (host) => {
    const http = `http://${host}/`, tried = {};
    const settle = (promise) => promise.then(() => 'came', () => 'failed');
    const loads = (element, url) => new Promise((resolve, reject) => {
        element.onload = resolve; element.onerror = reject;
        element.src = url; document.body.append(element);
    });
    tried.fetch = await settle(fetch(http, {mode: 'no-cors'}).then((answer) => {
        if (answer.type === 'opaque') throw 'an opaque answer may be of the way out itself';
    }));
    tried.image = await settle(loads(new Image(), http));
    tried.socket = await settle(new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://${host}/`);
        socket.onopen = resolve; socket.onerror = reject;
    }));
    tried.beacon = await settle(Promise.resolve(navigator.sendBeacon(http, 'x')));
    const frame = document.createElement('iframe');
    await settle(loads(frame, http));
    const work = `fetch('${http}', {mode: 'no-cors'}).then(() => postMessage(1), () => postMessage(1))`;
    const worker = new Worker(URL.createObjectURL(new Blob([work])));
    await new Promise((resolve) => worker.onmessage = resolve);
    const link = document.createElement('link');
    link.rel = 'preconnect'; link.href = http; document.head.append(link);
    const peer = new RTCPeerConnection({iceServers: [
        {urls: `stun:${host}`}, {urls: `turn:${host}?transport=tcp`, username: 'a', credential: 'b'},
    ]});
    peer.createDataChannel('a');
    await peer.setLocalDescription(await peer.createOffer());
    await new Promise((resolve) => {
        peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve();
        if (peer.iceGatheringState === 'complete') resolve();
    });
    return JSON.stringify(tried);
})";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fenced_browser_reaches_what_is_listed_and_nothing_else() {
    let site = Site::builder().page("/", Page::html("<p id=here>here</p>")).start().await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let forbidden = other.local_addr().unwrap();
    let kept = fenced(&[format!("a.localhost:{}", port_of(&site))]).await;
    let client = kept.connect(Role::Client).await;
    let browser = client.connection.browser();
    let (_, page) = open_page(&browser, &site.url("a", "/")).await;
    assert_eq!(evaluate(&page, "document.getElementById('here').textContent").await, "here");

    let tried = evaluate(&page, &format!("{WAYS}('{forbidden}')")).await;
    let tried: Value = serde_json::from_str(tried.as_str().unwrap()).unwrap();
    assert_eq!(tried["socket"], "failed", "{tried}");
    assert_eq!(tried["image"], "failed", "{tried}");

    // A client makes a context without a proxy, and one with a proxy of its own.
    for proxy in ["direct://".to_owned(), format!("http://{forbidden}")] {
        let made = browser.call("Target.createBrowserContext", json!({"proxyServer": proxy})).await;
        let context = made.unwrap()["browserContextId"].clone();
        let params = json!({"url": "about:blank", "browserContextId": context});
        let target = browser.call("Target.createTarget", params).await.unwrap();
        let tab = attach(&browser, target["targetId"].as_str().unwrap()).await;
        let address = format!("http://{forbidden}/");
        let went = tab.call("Page.navigate", json!({"url": address})).await.unwrap();
        assert!(went["errorText"].is_string(), "{proxy}: {went}");
    }
    assert!(!is_reached(&other), "somebody came to {forbidden}");

    let tallies = tallies(&kept).await;
    let of = |host: &str| tallies.iter().find(|tally| tally.host.as_deref() == Some(host)).unwrap();
    let here = of(&format!("a.localhost:{}", port_of(&site)));
    assert!(here.connections > 0 && here.received > 0 && here.refused == 0, "{here:?}");
    let there = of(&forbidden.to_string());
    assert!(there.connections == 0 && there.refused > 3, "{there:?}");
    kept.close().await;
}

/// How many connections a page opens at once, five to each host: a browser opens six to one at most.
const AT_ONCE: usize = 250;

/// The paths that a site was asked for by somebody who is still there.
type Waiting = Arc<watch::Sender<BTreeSet<String>>>;

/// Lets whoever comes wait until so many are there at the same moment, each for a path of its own.
async fn wait_for_all(listener: TcpListener) {
    listener.set_nonblocking(true).unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let waiting = Waiting::default();
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(wait_with_others(stream, Arc::clone(&waiting)));
    }
}

async fn wait_with_others(stream: tokio::net::TcpStream, waiting: Waiting) {
    let mut stream = tokio::io::BufReader::new(stream);
    let (mut first, mut line) = (String::new(), String::new());
    while line != "\r\n" {
        line.clear();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        first = if first.is_empty() { line.clone() } else { first };
    }
    waiting.send_modify(|waiting| {
        waiting.insert(first.clone());
    });
    let mut all = waiting.subscribe();
    tokio::select! {
        _ = all.wait_for(|waiting| waiting.len() == AT_ONCE) => {}
        // Who asked for it has gone.
        _ = stream.fill_buf() => {
            waiting.send_modify(|waiting| {
                waiting.remove(&first);
            });
            return;
        }
    }
    let answer = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 3\r\n\
        Connection: close\r\n\r\nall";
    stream.get_mut().write_all(answer.as_bytes()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_and_fifty_connections_of_a_page_are_open_at_once() {
    let site = Site::builder().page("/", Page::html("")).start().await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let serving = tokio::spawn(wait_for_all(other));
    let kept = fenced(&["localhost".to_owned()]).await;
    let client = kept.connect(Role::Client).await;
    let (_, page) = open_page(&client.connection.browser(), &site.url("a", "/")).await;
    let load = format!(
        "Promise.all(Array.from({{length: {AT_ONCE}}}, async (_, at) => {{
            const answer = await fetch(`http://h${{at % 50}}.localhost:{port}/${{at}}`);
            return answer.text();
        }})).then((all) => all.filter((text) => text === 'all').length)"
    );
    let answered = tokio::time::timeout(Duration::from_mins(1), evaluate(&page, &load)).await;
    assert_eq!(answered.unwrap(), AT_ONCE);
    let tallies = tallies(&kept).await;
    let of_port = |tally: &&HostTally| {
        tally.host.as_ref().is_some_and(|host| host.ends_with(&format!(":{port}")))
    };
    let connections: u64 = tallies.iter().filter(of_port).map(|tally| tally.connections).sum();
    assert!(connections >= u64::try_from(AT_ONCE).unwrap(), "all went by the way out: {tallies:?}");
    kept.close().await;
    serving.abort();
}

/// A program in the place of a browser, which tries ports of this machine.
const TRIES: &str = "#!/bin/bash
for port in PORTS; do
    if (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; then echo came >&2; else echo failed >&2; fi
done
";

#[tokio::test]
async fn the_kernel_lets_a_fenced_browser_come_to_its_way_out_alone() {
    let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [way_out, other] = ports.each_ref().map(|port| port.local_addr().unwrap().port());
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("browser/browser");
    std::fs::create_dir(program.parent().unwrap()).unwrap();
    std::fs::write(&program, TRIES.replace("PORTS", &format!("{way_out} {other}"))).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut told = Vec::new();
    for way_out in [None, Some(way_out)] {
        let profile = folder.path().join("profile");
        let options = LaunchOptions {
            confine: Confine::Landlock,
            way_out,
            ..LaunchOptions { program: program.clone(), ..options(&profile) }
        };
        let mut launched = baton_browser::launch::start(&options).unwrap();
        let mut said = String::new();
        launched.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
        launched.child.wait().await.unwrap();
        told.push(said);
    }
    assert_eq!(told, ["came\ncame\n", "came\nfailed\n"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_other_program_may_use_the_way_out_of_a_browser() {
    let site = Site::builder().page("/", Page::html("")).start().await;
    let kept = fenced(&[format!("a.localhost:{}", port_of(&site))]).await;
    let port = way_out_of(kept.ready.browser_pid.unwrap());
    let request = format!("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", site.url("a", "/"));
    // Another user's, where the test may have any.
    let others = format!(
        "trap '' PIPE
         for n in $(seq 500); do exec 3<>/dev/tcp/127.0.0.1/{port} || exit 1; printf '{}' >&3 2> /dev/null
         [ $((n % 2)) = 0 ] || cat <&3 2> /dev/null; exec 3>&-; done",
        request.replace("\r\n", "\\r\\n")
    );
    let mut program = std::process::Command::new("bash");
    program.args(["-c", &others]).current_dir("/");
    if rustix::process::geteuid().is_root() {
        program.uid(65534).gid(65534);
    }
    let others = tokio::task::spawn_blocking(move || program.output());
    for number in 0..500 {
        let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let (mut reader, mut writer) = stream.into_split();
        // It may be closed before all is said.
        let _ = tokio::io::AsyncWriteExt::write_all(&mut writer, request.as_bytes()).await;
        if number % 2 == 0 {
            // Its owner has closed it when the proxy looks whose it is.
            continue;
        }
        let mut answer = Vec::new();
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut reader, &mut answer).await;
        assert_eq!(String::from_utf8_lossy(&answer), "");
    }
    let others = others.await.unwrap().unwrap();
    assert!(others.status.success(), "{others:?}");
    assert_eq!(String::from_utf8_lossy(&others.stdout), "");
    // What the browser itself asks for is noted, and nothing of what others asked for.
    let here = format!("a.localhost:{}", port_of(&site));
    let tallies = tallies(&kept).await;
    assert!(tallies.iter().all(|tally| tally.host.as_ref() != Some(&here)), "{tallies:?}");
    kept.close().await;
}

/// The port in the arguments of a browser.
fn way_out_of(browser: u32) -> u16 {
    let line = std::fs::read(format!("/proc/{browser}/cmdline")).unwrap();
    let line = String::from_utf8_lossy(&line).into_owned();
    // Chromium writes its arguments anew, with blanks between them.
    let proxy = line.split(['\0', ' ']).find(|word| word.starts_with("--proxy-server=")).unwrap();
    proxy.rsplit(':').next().unwrap().parse().unwrap()
}

/// Where Chromium asks which accounts are signed in, which no switch stops; and asks again, with longer and longer
/// pauses, where it does not get there.
const ACCOUNTS: &str = "accounts.google.com:443";
/// So often, it has been running for a quarter of a minute. All that a browser without our switches asks for its
/// maker's sake comes before that: updates and the time within the first seconds, hints after twelve.
const LATE: u64 = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_asks_nobody_for_its_makers_sake_but_what_is_documented() {
    let site = Site::builder().page("/", Page::html("<p id=here>here</p>")).start().await;
    let listed = format!("a.localhost:{}", port_of(&site));
    let kept = fenced(std::slice::from_ref(&listed)).await;
    let client = kept.connect(Role::Client).await;
    let (_, page) = open_page(&client.connection.browser(), &site.url("a", "/")).await;
    assert_eq!(evaluate(&page, "document.getElementById('here').textContent").await, "here");
    eventually("it has asked for accounts again and again", async || {
        let tallies = tallies(&kept).await;
        tallies.iter().any(|one| one.host.as_deref() == Some(ACCOUNTS) && one.refused >= LATE)
    })
    .await;
    // The page is there, so it need not ask whether the network wants a login first.
    let mut asked: Vec<_> = tallies(&kept).await.into_iter().filter_map(|one| one.host).collect();
    asked.sort();
    assert_eq!(asked, [listed, ACCOUNTS.to_owned()]);
    kept.close().await;
}
