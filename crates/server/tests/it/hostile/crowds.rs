//! Crowds without a key that are slow in every way there is, from one address and from ten: whoever has a
//! key is answered all the same, and at once.
//!
//! The places are few here, so that some hundred connections are a crowd; the long version makes five
//! thousand of each kind, with as many places as a node has.

use crate::fixture::{Folder, LIMIT, Node};
use baton_api::ListSessions;
use baton_net::connections::Bounds;
use baton_net::tls::TlsFiles;
use baton_proxy::{Access, BrowserDebug, UpstreamService};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, interval, timeout};
use tokio_util::task::AbortOnDropHandle;

/// How long the slow ones may take here for anything, beside which [`LIMIT`] is short: who is answered
/// within that has waited for none of them.
const PATIENCE: Duration = Duration::from_mins(10);

/// How long a good key waits at most, whoever else is there. Only the long version asks for that, which runs alone:
/// beside other tests everything takes as long as they let it.
const AT_ONCE: Duration = Duration::from_secs(1);

/// A way of being slow.
#[derive(Debug, Clone, Copy)]
enum Slow {
    /// Says nothing at all; where TLS is spoken, its handshake never begins.
    Silent,
    /// Begins a head, or a handshake, and does not end it.
    HalfAHead,
    /// Promises a body, and sends none.
    NoBody,
    /// Sends its body by drops.
    Drops,
    /// Asks again and again, and takes no answer.
    TakesNothing,
    /// Gets a WebSocket, and never speaks.
    SilentSocket,
}

const KINDS: [Slow; 6] = [
    Slow::Silent,
    Slow::HalfAHead,
    Slow::NoBody,
    Slow::Drops,
    Slow::TakesNothing,
    Slow::SilentSocket,
];

impl Slow {
    /// What one of them says.
    fn words(self, host: &str) -> Vec<u8> {
        let post = "POST /debug/pair/exchange HTTP/1.1";
        let json = "Content-Type: application/json\r\nContent-Length: 400";
        match self {
            Self::Silent => Vec::new(),
            Self::HalfAHead => format!("{post}\r\nHost: {host}\r\nX-Half: ").into(),
            Self::NoBody => format!("{post}\r\nHost: {host}\r\n{json}\r\n\r\n").into(),
            Self::Drops => format!("{post}\r\nHost: {host}\r\n{json}\r\n\r\n{{").into(),
            Self::TakesNothing => {
                format!("GET /openapi.json HTTP/1.1\r\nHost: {host}\r\n\r\n").repeat(64).into()
            }
            Self::SilentSocket => format!(
                "GET /api/signaling/ws HTTP/1.1\r\nHost: {host}\r\nConnection: upgrade\r\n\
                 Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                 Sec-WebSocket-Protocol: baton.v1, baton.ticket.x\r\n\r\n"
            )
            .into(),
        }
    }
}

/// How many the long version makes of each kind.
const MANY: usize = 5000;

/// Connections that are slow; those that drip do so for as long as this is there.
struct Crowd {
    _streams: Vec<TcpStream>,
    _drip: Option<AbortOnDropHandle<()>>,
}

impl Crowd {
    async fn gather(to: SocketAddr, host: &str, slow: Slow, many: usize, addresses: u8) -> Self {
        let words = slow.words(host);
        let mut streams = Vec::with_capacity(many);
        for from in (1..=addresses).cycle().take(many) {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind((Ipv4Addr::new(127, 0, 0, from), 0).into()).unwrap();
            let Ok(Ok(mut stream)) = timeout(LIMIT, socket.connect(to)).await else {
                panic!("expected that everybody is let in for a moment");
            };
            // One that has lost its place already says nothing.
            let _ = stream.write_all(&words).await;
            streams.push(stream);
        }
        if !matches!(slow, Slow::Drops) {
            return Self { _streams: streams, _drip: None };
        }
        let drip = tokio::spawn(async move {
            let mut drops = interval(Duration::from_secs(1));
            loop {
                drops.tick().await;
                for stream in &streams {
                    let _ = stream.try_write(b" ");
                }
            }
        });
        Self { _streams: Vec::new(), _drip: Some(AbortOnDropHandle::new(drip)) }
    }
}

/// Says what was measured.
#[expect(clippy::print_stdout, reason = "a long story says how it goes")]
fn note(text: &str) {
    println!("{text}");
}

/// Says how long something took, and, where that counts, that it was no longer than a good key waits.
fn expect_at_once(what: &str, took: Duration, at_once: bool) {
    note(&format!("{what} in {took:?}"));
    assert!(!at_once || took < AT_ONCE, "expected within {AT_ONCE:?}: {what} in {took:?}");
}

/// How long it takes until a good key is answered, by a client that comes new.
async fn answered(node: &Node) -> Duration {
    let begun = Instant::now();
    let listed = timeout(LIMIT, node.admin().list_sessions(&ListSessions::default())).await;
    listed.expect("a good key is answered").unwrap();
    begun.elapsed()
}

/// The longest of three.
async fn longest(node: &Node) -> Duration {
    let mut longest = Duration::ZERO;
    for _ in 0..3 {
        longest = longest.max(answered(node).await);
    }
    longest
}

fn crowded(connections: usize) -> (Folder, baton_server::Config) {
    let folder = Folder::new();
    let mut config = folder.config();
    let patient = Bounds { silence: PATIENCE, body: PATIENCE, stalled: PATIENCE, ..config.bounds };
    config.bounds = Bounds { connections, ..patient };
    (folder, config)
}

async fn crowds_at_the_node(connections: usize, many: usize) {
    let (folder, config) = crowded(connections);
    let node = folder.start_with(config).await;
    let to = node.file.url.socket_addrs(|| None).unwrap()[0];
    for slow in KINDS {
        for addresses in [1, 10] {
            let crowd = Crowd::gather(to, &to.to_string(), slow, many, addresses).await;
            let took = longest(&node).await;
            let what = format!("{many} × {slow:?} from {addresses}: a good key is answered");
            expect_at_once(&what, took, many >= MANY);
            drop(crowd);
        }
    }
    node.stop().await;
}

/// The same at a door that speaks TLS, through which the good key comes as well.
async fn crowds_at_a_handshake(connections: usize, many: usize) {
    let (folder, mut config) = crowded(connections);
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let file = |name: &str| folder.data.path().join(name);
    let files = TlsFiles { certificate: file("tls.crt"), key: file("tls.key") };
    std::fs::write(&files.certificate, cert.pem()).unwrap();
    std::fs::write(&files.key, signing_key.serialize_pem()).unwrap();
    config.exposure.tls = Some(files);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = listener.local_addr().unwrap();
    let node = folder.start_at(config, listener).await;
    let client = reqwest::Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(0)
        .add_root_certificate(reqwest::Certificate::from_pem(cert.pem().as_bytes()).unwrap())
        .build()
        .unwrap();
    // The beginning of a handshake: a record of which the rest never comes.
    let begun: &[u8] = &[0x16, 0x03, 0x01, 0x02, 0x00, 0x01];
    for (words, addresses) in [(&[][..], 1), (begun, 1), (begun, 10)] {
        let mut crowd = Vec::with_capacity(many);
        for from in (1..=addresses).cycle().take(many) {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind((Ipv4Addr::new(127, 0, 0, from), 0).into()).unwrap();
            let mut stream = timeout(LIMIT, socket.connect(to)).await.unwrap().unwrap();
            let _ = stream.write_all(words).await;
            crowd.push(stream);
        }
        let since = Instant::now();
        let call = client.get(format!("https://{to}/sessions")).bearer_auth(node.admin_key());
        let answer = timeout(LIMIT, call.send()).await.expect("a good key is answered").unwrap();
        assert_eq!(answer.status(), 200);
        let took = since.elapsed();
        let what = format!("{many} handshakes from {addresses}: a good key is answered");
        expect_at_once(&what, took, many >= MANY);
    }
    node.stop().await;
}

/// The same at the proxy, whose `WebSocket`s stay open as long as both sides like.
async fn crowds_at_the_proxy(connections: usize, many: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = [0; 4096];
                let read = stream.read(&mut head).await.unwrap_or_default();
                let head = String::from_utf8_lossy(&head[..read]);
                let answer: &[u8] = if head.to_lowercase().contains("upgrade: websocket") {
                    b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
                } else {
                    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
                };
                let _ = stream.write_all(answer).await;
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
            });
        }
    });
    let (folder, mut config) = crowded(connections);
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
    let (to, host) = (([127, 0, 0, 1], port).into(), format!("shop.localhost:{port}"));
    for slow in KINDS {
        for addresses in [1, 10] {
            let crowd = Crowd::gather(to, &host, slow, many, addresses).await;
            let begun = Instant::now();
            let mut stream = TcpStream::connect(to).await.unwrap();
            let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let answer = timeout(LIMIT, super::smuggling::head(&mut stream)).await.unwrap();
            let took = begun.elapsed();
            let what = format!("{many} × {slow:?} from {addresses}: a cocoon is answered");
            expect_at_once(&what, took, many >= MANY);
            assert!(answer.starts_with("HTTP/1.1 200"), "{slow:?}: {answer}");
            drop(crowd);
        }
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_crowds_keep_no_good_key_out() {
    crowds_at_the_node(64, 200).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handshakes_that_never_end_keep_no_good_key_out() {
    crowds_at_a_handshake(64, 200).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_crowds_keep_nobody_from_a_cocoon() {
    crowds_at_the_proxy(64, 200).await;
}

/// As many as somebody who means it makes, for `cargo xtask soak`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it takes a minute, and ten thousand sockets"]
async fn five_thousand_of_every_slow_kind_keep_no_good_key_out() {
    const PLACES: usize = 1000;
    crowds_at_the_node(PLACES, MANY).await;
    crowds_at_a_handshake(PLACES, MANY).await;
    crowds_at_the_proxy(PLACES, MANY).await;
}

/// Of one key, too, there may be so many; and whoever has another one is answered.
#[tokio::test]
async fn a_key_that_holds_its_share_is_told_so_and_keeps_nobody_out() {
    let (folder, config) = crowded(32);
    let node = folder.start_with(config).await;
    let ada = node.as_owner("ada", &[baton_api::Scope::Read]).await;
    let mut held = Vec::new();
    let refused = loop {
        match ada.follow_changes().await {
            Ok(events) => held.push(events),
            Err(error) => break error,
        }
    };
    assert_eq!(held.len(), 8, "a quarter of 32");
    assert_eq!(refused.code(), Some(baton_api::ErrorCode::TooManyRequests));
    assert!(refused.to_string().contains("expected at most 8 connections at once"), "{refused}");
    answered(&node).await;
    drop(held);
    node.stop().await;
}
