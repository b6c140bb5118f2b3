//! Every phase of a request has its limit in the connection, and ends it.

use super::{Bounds, Listener, Visit};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, UPGRADE};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(20);
/// So short that a test can wait for it.
const SHORT: Duration = Duration::from_millis(100);
/// So long that nothing of a test takes it.
const NEVER: Duration = Duration::from_mins(10);

/// Only what a test is about ends anything.
const PATIENT: Bounds = Bounds {
    connections: 16,
    silence: NEVER,
    body: NEVER,
    bytes_per_second: 1,
    stalled: NEVER,
    freight: 1 << 20,
    freight_of_key: 1 << 20,
};

struct Inn {
    address: SocketAddr,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl Inn {
    async fn open(bounds: Bounds) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = Router::new()
            .route("/", get(async || "here"))
            .route("/body", post(body))
            .route("/much", get(async || Body::from(vec![b'x'; 64 << 20])))
            .route("/early", post(async || StatusCode::PAYLOAD_TOO_LARGE))
            .route("/late", post(async || StatusCode::GATEWAY_TIMEOUT))
            .route("/change", get(change));
        let bound =
            Listener { listener, tls: None, service, bounds, behind_proxy: true, keys: None };
        let shutdown = CancellationToken::new();
        let told = shutdown.clone();
        let task = tokio::spawn(async move { bound.answer(&told).await });
        Self { address, shutdown, task }
    }

    /// A connection on which this was said.
    async fn say(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    async fn close(self) {
        self.shutdown.cancel();
        timeout(LIMIT, self.task).await.unwrap().unwrap();
    }
}

async fn body(request: Request) -> axum::response::Response {
    let visit = request.extensions().get::<Visit>().cloned().unwrap();
    if let Ok(bytes) = axum::body::to_bytes(request.into_body(), 1 << 20).await {
        return bytes.len().to_string().into_response();
    }
    let why = visit.trouble().map(|trouble| trouble.to_string()).unwrap_or_default();
    (StatusCode::REQUEST_TIMEOUT, why).into_response()
}

/// Changes the protocol, to one that says nothing.
async fn change(mut request: Request) -> impl IntoResponse {
    let visit = request.extensions().get::<Visit>().cloned().unwrap();
    if let Some(name) = request.headers().get("name") {
        visit.show(name.to_str().unwrap(), None).unwrap();
    }
    let upgrade = request.extensions_mut().remove::<OnUpgrade>().unwrap();
    tokio::spawn(async move {
        let (mut near, _far) = duplex(1);
        let mut stream = TokioIo::new(upgrade.await.unwrap());
        let _ = copy_bidirectional(&mut stream, &mut near).await;
    });
    (StatusCode::SWITCHING_PROTOCOLS, [(CONNECTION, "upgrade"), (UPGRADE, "silence")])
}

/// All that comes until the other side hangs up.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    // One that is cut off may be reset.
    let _ = timeout(LIMIT, stream.read_to_end(&mut bytes)).await.expect("it is hung up");
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn who_falls_silent_in_a_head_or_between_two_is_hung_up_on() {
    let inn = Inn::open(Bounds { silence: SHORT, ..PATIENT }).await;
    for text in ["", "GET / HTTP/1.1\r\nHost: "] {
        assert!(!rest(inn.say(text).await).await.contains("here"));
    }
    let kept = inn.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(rest(kept).await.ends_with("here"), "one that rests is hung up on after its answer");
    inn.close().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_answered_and_then_the_connection_ends() {
    let inn = Inn::open(Bounds { silence: SHORT, ..PATIENT }).await;
    for sent in ["", "x"] {
        let head = "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n";
        let answer = rest(inn.say(&format!("{head}{sent}")).await).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.to_lowercase().contains("connection: close"), "{answer}");
        assert!(answer.ends_with("comes too slowly or not at all"), "{answer}");
    }
    inn.close().await;
}

#[tokio::test]
async fn a_body_that_comes_by_drops_earns_too_little() {
    let inn = Inn::open(Bounds { body: SHORT, bytes_per_second: 1 << 20, ..PATIENT }).await;
    let head = "POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (reader, mut writer) = inn.say(head).await.into_split();
    let drops = tokio::spawn(async move {
        while writer.write_all(b"1\r\nx\r\n").await.is_ok() {
            sleep(SHORT / 10).await;
        }
    });
    let mut answer = [0; 12];
    let mut reader = reader;
    timeout(LIMIT, reader.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    timeout(LIMIT, drops).await.expect("it is hung up").unwrap();
    inn.close().await;
}

#[tokio::test]
async fn after_something_took_too_long_the_connection_ends() {
    let inn = Inn::open(PATIENT).await;
    // Its body is never read, and never sent.
    let head = "POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n";
    assert!(rest(inn.say(head).await).await.starts_with("HTTP/1.1 504 "));
    inn.close().await;
}

#[tokio::test]
async fn an_answer_before_the_end_of_a_body_arrives_at_who_sends_all_of_it() {
    let inn = Inn::open(PATIENT).await;
    // More than the system keeps of a connection.
    let body = vec![b'x'; 64 << 20];
    let head = "POST /early HTTP/1.1\r\nHost: a\r\n";
    let length = format!("Content-Length: {}\r\n\r\n", body.len());
    let chunk = format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len());
    for framing in [length, chunk] {
        let mut stream = inn.say(&format!("{head}{framing}")).await;
        stream.write_all(&body).await.unwrap();
        assert!(rest(stream).await.starts_with("HTTP/1.1 413 "));
    }
    inn.close().await;
}

#[tokio::test]
async fn who_sends_on_after_an_answer_is_hung_up_on() {
    let inn = Inn::open(Bounds { silence: SHORT, ..PATIENT }).await;
    let head = "POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n";
    let mut stream = inn.say(head).await;
    timeout(LIMIT, async {
        while stream.write_all(b"x").await.is_ok() {
            sleep(SHORT / 10).await;
        }
    })
    .await
    .expect("it is hung up");
    inn.close().await;
}

#[tokio::test]
async fn an_answer_that_nobody_takes_ends_the_connection() {
    let inn = Inn::open(Bounds { stalled: SHORT, ..PATIENT }).await;
    let mut stream = inn.say("GET /much HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut first = [0; 1];
    timeout(LIMIT, stream.read_exact(&mut first)).await.unwrap().unwrap();
    // Nothing is read until it was given up.
    tokio::time::timeout(LIMIT, async {
        while stream.write_all(b"x").await.is_ok() {
            sleep(SHORT / 10).await;
        }
    })
    .await
    .expect("it is hung up");
    inn.close().await;
}

#[tokio::test]
async fn a_connection_that_changed_its_protocol_keeps_its_place_and_can_lose_it() {
    let inn = Inn::open(PATIENT).await;
    let change = "GET /change HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: silence\r\n";
    let head = async |stream: &mut TcpStream| {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(timeout(LIMIT, stream.read_u8()).await.unwrap().unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    };
    let mut known = inn.say(&format!("{change}Name: ada\r\n\r\n")).await;
    head(&mut known).await;
    let mut strangers = Vec::new();
    for _ in 0..PATIENT.connections {
        let mut stranger = inn.say(&format!("{change}\r\n")).await;
        head(&mut stranger).await;
        strangers.push(stranger);
    }
    // There is one more than there are places: the stranger who came first has lost theirs.
    assert_eq!(rest(strangers.remove(0)).await, "");
    for stream in strangers.iter_mut().chain([&mut known]) {
        let mut byte = [0; 1];
        let read = timeout(SHORT, stream.read(&mut byte)).await;
        assert!(read.is_err(), "the others are there: {read:?}");
    }
    drop((strangers, known));
    inn.close().await;
}
