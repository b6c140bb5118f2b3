//! A service whose page does a little of everything, one thing after the other.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any, get, post};
use baton_browser::keeper;
use baton_playground::Site;
use baton_testing::Nobody;
use futures_util::{SinkExt as _, StreamExt as _, stream};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::time::sleep;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

/// What a large answer has, in bytes.
const LARGE: usize = 1 << 20;

/// The service, and what its page reaches besides.
pub(super) struct Busy {
    pub(super) service: Site,
    frame: Site,
    nobody: Nobody,
}

impl Busy {
    pub(super) async fn start() -> Self {
        let (frame, nobody) = (frame().await, Nobody::listens());
        let page = include_str!("pages/busy.html");
        let page = page
            .replace("NOBODY", &refused(&nobody))
            .replace("FRAME", frame.url("/").unwrap().as_str());
        Self { service: Site::start(pages(page)).await.unwrap(), frame, nobody }
    }

    /// A text with names in the place of addresses: `A` is where the service is seen.
    pub(super) fn plain(&self, text: &str, seen_at: &str) -> String {
        let frame = self.frame.url("/").unwrap().to_string();
        let bare = |url: &str| url.trim_end_matches('/').to_owned();
        let socket = bare(seen_at).replacen("http", "ws", 1);
        let names = [
            (bare(seen_at), "A"),
            (socket, "WS"),
            (bare(&frame), "FRAME"),
            (refused(&self.nobody), "NOBODY"),
        ];
        names.iter().fold(text.to_owned(), |text, (address, name)| text.replace(address, name))
    }
}

fn pages(page: String) -> Router {
    let script = |text: &'static str| {
        get(async move || ([(header::CONTENT_TYPE, "text/javascript")], text).into_response())
    };
    let worker = "console.log('worker'); fetch('from-worker').then((it) => it.text()).then(() => postMessage(1))";
    let answer = any(async |request: Request| match request.uri().path() {
        "/missing" => (StatusCode::NOT_FOUND, "no").into_response(),
        "/empty" => StatusCode::NO_CONTENT.into_response(),
        "/large" => "x".repeat(LARGE).into_response(),
        "/silent" => std::future::pending().await,
        "/moved" => (StatusCode::FOUND, [("location", "ok")]).into_response(),
        _ => "all is well".into_response(),
    });
    Router::new()
        .route("/", get(async move || Html(page.clone())))
        .route("/external.js", script("console.log('external')"))
        .route("/worker.js", script(worker))
        .route("/from-worker", get(async || "for the worker"))
        .route("/form", post(async |body: String| format!("thanks for {body}")))
        .route("/stream", get(in_pieces))
        .route("/echo", get(echo))
        .fallback(answer)
}

/// An answer that comes piece by piece.
async fn in_pieces() -> Body {
    let pieces = stream::iter(["one ", "two ", "three"]).then(async |piece| {
        sleep(Duration::from_millis(20)).await;
        Ok::<_, std::io::Error>(piece)
    });
    Body::from_stream(pieces)
}

/// A WebSocket that answers every text with the same.
pub(super) async fn echo(mut request: Request) -> Response {
    let accept = keeper::accept_key(request.headers()["sec-websocket-key"].as_bytes());
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let Ok(stream) = upgrade.await else { return };
        let stream = TokioIo::new(stream);
        let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
        while let Some(Ok(message)) = socket.next().await {
            if message.is_text() && socket.send(message).await.is_err() {
                break;
            }
        }
    });
    let headers = [("connection", "upgrade"), ("upgrade", "websocket")];
    let accept = [("sec-websocket-accept", accept)];
    (StatusCode::SWITCHING_PROTOCOLS, headers, accept).into_response()
}

/// A frame of another site.
async fn frame() -> Site {
    let page = "<script>console.warn('frame'); fetch('/from-frame').then((it) => it.text()).then(() => parent.postMessage(1, '*'))</script>";
    let pages = Router::new()
        .route("/", get(async move || Html(page)))
        .route("/from-frame", get(async || "for the frame"));
    Site::start(pages).await.unwrap()
}

/// What the page asks for where nobody listens.
fn refused(nobody: &Nobody) -> String {
    format!("http://{}/refused", nobody.address())
}
