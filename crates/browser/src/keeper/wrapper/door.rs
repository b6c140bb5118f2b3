//! The debugging port of a wrapped browser: what Chromium serves at its own, as far as tools use it.
//!
//! `/json/version` and `/json/list` name the browser's WebSocket and its pages; the WebSocket is that of the whole
//! browser. Pages have none of their own: a client attaches to them there. As at Chromium's own port, no page of
//! the web may speak to it: one has an origin, and reaches us by names that are not of the loopback
//! (`content/browser/devtools/devtools_http_handler.cc`).

use super::Say;
use super::clients::Clients;
use crate::keeper::protocol::KeeperError;
use crate::keeper::relay::{accept_key, relay};
use crate::keeper::turn::Turn;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CONNECTION, CONTENT_TYPE, HOST, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    UPGRADE,
};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::future::pending;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How long a client may take to say what it wants.
const ASK_LIMIT: Duration = Duration::from_secs(30);
/// Where a browser notes in its profile at which port it is spoken to (`kBrowserProfileDevToolsPortFile`).
const NOTE: &str = "DevToolsActivePort";

type Answer = Response<http_body_util::Full<Bytes>>;

/// An open port.
pub(super) struct Door {
    listener: TcpListener,
    port: u16,
    /// The path of the browser's WebSocket.
    path: String,
    origins: Vec<String>,
    /// Where it is noted.
    note: Option<PathBuf>,
}

impl Door {
    /// Opens it; port 0 is any that is free.
    pub(super) async fn open(
        port: u16,
        origins: Vec<String>,
        profile: Option<&Path>,
    ) -> Result<Self, KeeperError> {
        let not_opened = |error: std::io::Error| KeeperError::NotStarted {
            reason: format!("expected port {port} of the loopback to be free, found {error}"),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(not_opened)?;
        let port = listener.local_addr().map_err(not_opened)?.port();
        let note = profile.map(|profile| profile.join(NOTE));
        if let Some(note) = &note {
            // As Chromium does: whoever waits for a port must not read that of an earlier start.
            let _ = std::fs::remove_file(note);
        }
        let path = format!("/devtools/browser/{:032x}", rand::random::<u128>());
        Ok(Self { listener, port, path, origins, note })
    }

    /// Tells the program that waits for it where it is, in both ways that Chromium has.
    pub(super) fn tell(&self, say: Say) -> Result<(), KeeperError> {
        if let Some(note) = &self.note {
            let text = format!("{}\n{}", self.port, self.path);
            std::fs::write(note, text).map_err(KeeperError::file("write", note))?;
        }
        say(&format!("DevTools listening on ws://127.0.0.1:{}{}", self.port, self.path));
        Ok(())
    }

    /// Serves for as long as this is waited for.
    pub(super) async fn serve(self, clients: Clients, version: String) {
        let Self { listener, path, origins, .. } = self;
        let room = Arc::new(Room { path, origins, clients, version });
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(Arc::clone(&room).hear(stream))),
                Err(error) => {
                    // Out of file descriptors, most likely: they come back as clients leave.
                    tracing::warn!(%error, "a client could not be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

/// What an answer is made of.
struct Room {
    path: String,
    origins: Vec<String>,
    clients: Clients,
    version: String,
}

impl Room {
    async fn hear(self: Arc<Self>, stream: TcpStream) {
        let service = service_fn(move |request| {
            let room = Arc::clone(&self);
            async move { Ok::<_, Infallible>(room.answer(request).await) }
        });
        let mut server = hyper::server::conn::http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(ASK_LIMIT);
        let serving = server.serve_connection(TokioIo::new(stream), service).with_upgrades();
        if let Err(error) = serving.await {
            tracing::debug!(%error, "a client of the debugging port left");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        let Some(host) = host.filter(|host| is_local(host)).map(str::to_owned) else {
            let why = "expected an address or localhost in Host, found another name";
            return text(StatusCode::INTERNAL_SERVER_ERROR, why);
        };
        let is_foreign = |origin: &HeaderValue| {
            let allowed = |one: &String| one == "*" || origin.as_bytes() == one.as_bytes();
            !self.origins.iter().any(allowed)
        };
        if request.headers().get(ORIGIN).is_some_and(is_foreign) {
            let why = "expected a program, found a page: start the browser with --remote-allow-origins to let it in";
            return text(StatusCode::FORBIDDEN, why);
        }
        match request.uri().path().trim_end_matches('/') {
            path if path == self.path => self.shake_hands(request),
            "/json/version" => self.version_of(&host),
            "/json" | "/json/list" => self.pages().await,
            _ => {
                let why = "expected /json/version, /json/list or the WebSocket that they name; a page is attached to there";
                text(StatusCode::NOT_FOUND, why)
            }
        }
    }

    fn version_of(&self, host: &str) -> Answer {
        json_of(&json!({
            "Browser": self.version,
            "Protocol-Version": "1.3",
            "webSocketDebuggerUrl": format!("ws://{host}{}", self.path),
        }))
    }

    async fn pages(&self) -> Answer {
        match self.clients.targets().await {
            Ok(targets) => {
                // Not what Chromium draws itself with.
                let shown = targets.iter().filter(|target| target["type"] != "browser_ui");
                let pages = shown.map(|target| {
                    json!({
                        "id": target["targetId"], "type": target["type"],
                        "title": target["title"], "url": target["url"],
                    })
                });
                json_of(&pages.collect())
            }
            Err(error) => text(StatusCode::BAD_GATEWAY, &error.to_string()),
        }
    }

    fn shake_hands(&self, request: Request<Incoming>) -> Answer {
        let key = request.headers().get(SEC_WEBSOCKET_KEY);
        let accepted = key.and_then(|key| accept_key(key.as_bytes()).parse::<HeaderValue>().ok());
        let Some(accepted) = accepted else {
            return text(StatusCode::BAD_REQUEST, "expected a WebSocket, found none");
        };
        let clients = self.clients.clone();
        tokio::spawn(async move {
            let upgraded = hyper::upgrade::on(request).await;
            match (upgraded, clients.enter().await) {
                (Ok(stream), Ok(transport)) => {
                    let (_turns, turn) = watch::channel(Turn::Own);
                    relay(TokioIo::new(stream), transport, pending(), turn).await;
                }
                (Err(error), _) => tracing::debug!(%error, "a client left before its WebSocket"),
                (_, Err(error)) => tracing::warn!(%error, "a client was not let in"),
            }
        });
        let mut answer = Answer::default();
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accepted);
        answer
    }
}

/// Whether a name cannot have been given to us by somebody's DNS.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

fn json_of(value: &Value) -> Answer {
    let mut answer = Answer::new(value.to_string().into());
    let kind = HeaderValue::from_static("application/json; charset=UTF-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

fn text(status: StatusCode, text: &str) -> Answer {
    let mut answer = Answer::new(text.to_owned().into());
    *answer.status_mut() = status;
    answer
}
