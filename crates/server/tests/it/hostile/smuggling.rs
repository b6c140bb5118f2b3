//! Requests that say two things at once, written as they stand on raw sockets: to the node, and through the
//! proxy to an upstream service that writes down every byte it gets.
//!
//! What counts at the node is that one request has one answer at most, and what hides in it none. What counts
//! at the proxy is what the upstream service gets: a request that is framed in one way only, or nothing.

use crate::fixture::{Folder, LIMIT, Node};
use baton_proxy::{Access, BrowserDebug, UpstreamService};
use futures_util::future::join_all;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// How long a connection rests until it is hung up on.
const SILENCE: Duration = Duration::from_millis(500);
/// How long the upstream service waits for what hides behind a request.
const BEHIND: Duration = Duration::from_millis(200);

/// What hides behind a request.
const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: HOST\r\n\r\n";

/// A request, and whether it may be taken: then once, and its body is its own.
struct Attack(&'static str, &'static str);

/// `HOST` is where it is meant for, `HIDDEN` another request.
const ATTACKS: &[Attack] = &[
    Attack(
        "both lengths",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHIDDEN",
    ),
    Attack(
        "both lengths, the other way",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nHIDDEN",
    ),
    Attack(
        "two lengths",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\nContent-Length: 40\r\n\r\nHIDDEN",
    ),
    Attack(
        "two lengths in one",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0, 40\r\n\r\nHIDDEN",
    ),
    Attack("a signed length", "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: +0\r\n\r\nHIDDEN"),
    Attack(
        "a negative length",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\nHIDDEN",
    ),
    Attack("a length in hex", "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0x0\r\n\r\nHIDDEN"),
    Attack(
        "a length beyond numbers",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999999999999999\r\n\r\nHIDDEN",
    ),
    Attack("an empty length", "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: \r\n\r\nHIDDEN"),
    Attack(
        "a space before the colon",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\nHIDDEN",
    ),
    Attack(
        "another coding last",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\nHIDDEN",
    ),
    Attack(
        "an unknown coding",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nHIDDEN",
    ),
    Attack(
        "two codings",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\nHIDDEN",
    ),
    Attack(
        "a coding in quotes",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\nHIDDEN",
    ),
    Attack(
        "a coding after a tab",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\nHIDDEN",
    ),
    Attack(
        "a coding in HTTP/1.0",
        "POST / HTTP/1.0\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHIDDEN",
    ),
    Attack(
        "a folded coding",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\nHIDDEN",
    ),
    Attack("a folded header", "GET / HTTP/1.1\r\nHost: HOST\r\nX: a\r\n\tb\r\n\r\nHIDDEN"),
    Attack("a fold before the first header", "GET / HTTP/1.1\r\n Host: HOST\r\n\r\nHIDDEN"),
    Attack(
        "bare line feeds",
        "POST / HTTP/1.1\nHost: HOST\nContent-Length: 6\nTransfer-Encoding: chunked\n\n0\r\n\r\nHIDDEN",
    ),
    Attack(
        "a bare carriage return in a value",
        "GET / HTTP/1.1\r\nHost: HOST\r\nX: a\rY: b\r\n\r\nHIDDEN",
    ),
    Attack("a NUL in a value", "GET / HTTP/1.1\r\nHost: HOST\r\nX: a\0b\r\n\r\nHIDDEN"),
    Attack("a NUL in a name", "GET / HTTP/1.1\r\nHost: HOST\r\nX\0: a\r\n\r\nHIDDEN"),
    Attack("a header without a name", "GET / HTTP/1.1\r\nHost: HOST\r\n: a\r\n\r\nHIDDEN"),
    Attack("a header without a colon", "GET / HTTP/1.1\r\nHost: HOST\r\nhello\r\n\r\nHIDDEN"),
    Attack(
        "a chunk that is none",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nHIDDEN",
    ),
    Attack(
        "a chunk beyond numbers",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\nHIDDEN",
    ),
    Attack(
        "a signed chunk",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nHIDDEN",
    ),
    Attack(
        "a chunk without its end",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab0\r\n\r\nHIDDEN",
    ),
    Attack(
        "a chunk with a long extension",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n0;LONG\r\n\r\nHIDDEN",
    ),
    Attack(
        "a trailer that frames",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n0\r\nContent-Length: 40\r\n\r\n",
    ),
    Attack(
        "another host in the target",
        "GET http://evil.test/ HTTP/1.1\r\nHost: HOST\r\n\r\nHIDDEN",
    ),
    Attack("two hosts", "GET / HTTP/1.1\r\nHost: HOST\r\nHost: evil.test\r\n\r\n"),
    Attack("no host", "GET / HTTP/1.1\r\n\r\n"),
    Attack("an authority as the target", "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\nHIDDEN"),
    Attack("a method of control characters", "G\x01T / HTTP/1.1\r\nHost: HOST\r\n\r\nHIDDEN"),
    Attack("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nHIDDEN"),
    Attack("a version that is none", "GET / HTTP/9.9\r\nHost: HOST\r\n\r\nHIDDEN"),
    Attack("a target with a space", "GET /a b HTTP/1.1\r\nHost: HOST\r\n\r\nHIDDEN"),
    Attack("a long head", "GET / HTTP/1.1\r\nHost: HOST\r\nX: LONG\r\n\r\nHIDDEN"),
];

fn written(Attack(_, text): &Attack, host: &str) -> String {
    let long = "a".repeat(1 << 20);
    text.replace("HIDDEN", HIDDEN).replace("HOST", host).replace("LONG", &long)
}

/// What is answered to these bytes until nothing more comes.
async fn answers(address: SocketAddr, bytes: &str) -> Vec<String> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let bytes = bytes.to_owned();
    let writing = tokio::spawn(async move {
        // One that is refused early is not read to its end.
        let _ = writer.write_all(bytes.as_bytes()).await;
        // Whoever hangs up before the answer gets none.
        std::future::pending::<()>().await;
    });
    let mut answer = Vec::new();
    let _ = timeout(LIMIT, reader.read_to_end(&mut answer)).await.expect("it is answered");
    writing.abort();
    let text = String::from_utf8_lossy(&answer).into_owned();
    text.split("HTTP/1.1 ").skip(1).map(str::to_owned).collect()
}

/// The head of the message that comes next.
pub(super) async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(LIMIT, stream.read_u8()).await.unwrap().unwrap());
    }
    String::from_utf8(head).unwrap()
}

#[tokio::test]
async fn the_node_gives_what_is_ambiguous_one_answer_at_most() {
    let folder = Folder::new();
    let mut config = folder.config();
    config.bounds.silence = SILENCE;
    let node = folder.start_with(config).await;
    let address = node.file.url.socket_addrs(|| None).unwrap()[0];
    let plain = answers(address, &HIDDEN.replace("HOST", &address.to_string())).await;
    assert!(plain[0].starts_with("404 "), "what hides would be answered so: {plain:?}");
    let all = ATTACKS.iter().map(async |attack| {
        (attack, answers(address, &written(attack, &address.to_string())).await)
    });
    for (attack, found) in join_all(all).await {
        let statuses: Vec<&str> = found.iter().map(|answer| &answer[..3]).collect();
        // A request that was taken whole may have another one behind it: that one hides nowhere.
        let is_whole = matches!(
            attack.0,
            "both lengths"
                | "both lengths, the other way"
                | "bare line feeds"
                | "another host in the target"
                | "an authority as the target"
        );
        let most = if is_whole { 2 } else { 1 };
        let expected =
            statuses.len() <= most && statuses.iter().all(|status| status.starts_with('4'));
        assert!(expected, "{}: {statuses:?}", attack.0);
        assert!(is_whole || !found.iter().any(|answer| answer.contains("/hidden")), "{}", attack.0);
    }
    node.stop().await;
}

/// An upstream service that writes down what it gets, and answers each connection once.
async fn witness() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let notes = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let notes = Arc::clone(&notes);
            tokio::spawn(async move {
                let mut bytes = Vec::new();
                let mut piece = [0; 4096];
                loop {
                    // All that comes within a while, so that nothing stays unseen behind a request.
                    let read = timeout(BEHIND, stream.read(&mut piece)).await;
                    match read {
                        Ok(Ok(size)) if size > 0 => bytes.extend_from_slice(&piece[..size]),
                        _ => break,
                    }
                }
                notes.lock().unwrap().push(String::from_utf8_lossy(&bytes).into_owned());
                let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
                let _ = stream.write_all(answer).await;
            });
        }
    });
    (address, seen)
}

/// A node whose proxy stands in front of `upstream`, and where it listens.
async fn in_front_of(upstream: SocketAddr) -> (Node, SocketAddr) {
    let folder = Folder::new();
    let mut config = folder.config();
    config.bounds.silence = SILENCE;
    config.proxy.listen = Some("127.0.0.1:0".parse().unwrap());
    config.proxy.services = vec![UpstreamService {
        id: "shop".parse().unwrap(),
        name: "shop".to_owned(),
        upstream: format!("http://{upstream}").parse().unwrap(),
        owner: "local".parse().unwrap(),
        access: Access::Loopback,
        browser_debug: BrowserDebug::default(),
    }];
    let node = folder.start_with(config).await;
    let services = node.admin().list_upstreams().await.unwrap();
    let port = services.items[0].urls.iter().find_map(url::Url::port).unwrap();
    (node, ([127, 0, 0, 1], port).into())
}

#[tokio::test]
async fn through_the_proxy_nothing_is_framed_in_two_ways_and_nothing_hides() {
    let (upstream, seen) = witness().await;
    let (node, address) = in_front_of(upstream).await;
    let host = format!("shop.localhost:{}", address.port());
    let all = ATTACKS.iter().map(async |attack| answers(address, &written(attack, &host)).await);
    join_all(all).await;
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    assert!(!seen.is_empty(), "what can be framed in one way is passed on");
    // A connection on which nothing came after all says nothing.
    for got in seen.into_iter().filter(|got| !got.is_empty()) {
        let (head, body) = got.split_once("\r\n\r\n").unwrap_or((&got, ""));
        let head = head.to_lowercase();
        let is_chunked = head.contains("\r\ntransfer-encoding: chunked");
        let lengths = head.matches("\r\ncontent-length:").count();
        assert!(lengths + usize::from(is_chunked) <= 1, "{got}");
        assert_eq!(head.matches("\r\nhost:").count(), 1, "{got}");
        assert!(!head.contains("transfer-encoding: ") || is_chunked, "{got}");
        assert!(!head.contains("evil.test"), "{got}");
        // Behind a request stands its own body; another request goes its own way.
        assert!(!body.contains("HTTP/1.1"), "{got}");
    }
    node.stop().await;
}

#[tokio::test]
async fn the_proxy_keeps_our_keys_and_other_protocols() {
    let (upstream, seen) = witness().await;
    let (node, address) = in_front_of(upstream).await;
    let (host, key) = (format!("shop.localhost:{}", address.port()), node.admin_key());
    let head = |headers: &str| format!("GET / HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n\r\n");
    let forms = ["Bearer {}", "Bearer\t{}", "bearer \t {}", "Basic {}", "{}", "Bearer x {}\u{e9}"];
    for form in forms {
        let value = form.replace("{}", &key);
        let found = answers(address, &head(&format!("Authorization: {value}"))).await;
        assert!(found[0].starts_with("200 "), "{form}: {found:?}");
    }
    assert_eq!(seen.lock().unwrap().len(), forms.len());
    assert!(!seen.lock().unwrap().iter().any(|got| got.contains(&key)), "{seen:?}");

    seen.lock().unwrap().clear();
    for other in ["h2c", "websocket, h2c", "TLS/1.0", "HTTP/2.0"] {
        let headers = format!(
            "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: {other}"
        );
        let found = answers(address, &head(&headers)).await;
        assert!(found[0].starts_with("400 "), "{other}: {found:?}");
    }
    assert!(seen.lock().unwrap().is_empty(), "{seen:?}");
    node.stop().await;
}

#[tokio::test]
async fn an_answer_in_chunks_has_no_other_length() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut piece = [0; 4096];
            let _ = stream.read(&mut piece).await;
            let answer =
                b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n\
                           2\r\nok\r\n0\r\n\r\n";
            let _ = stream.write_all(answer).await;
        }
    });
    let (node, address) = in_front_of(upstream).await;
    let head = format!(
        "GET / HTTP/1.1\r\nHost: shop.localhost:{}\r\nConnection: close\r\n\r\n",
        address.port()
    );
    let found = answers(address, &head).await;
    let lower = found[0].to_lowercase();
    assert!(lower.starts_with("200 ") && !lower.contains("content-length"), "{found:?}");
    assert!(lower.contains("\r\n2\r\nok\r\n0\r\n"), "{found:?}");
    node.stop().await;
}
