//! The relay over WebSocket: browsers are paired and tell of tabs, others ask.

mod company;
mod elsewhere;
mod link;
mod pairing;

use crate::fixture::Node;
use baton_api::debug::{BrowserConnection, ConsoleFilters, EpochMs, PairedBrowser, RelayMessage};
use baton_debug::token::{DebugSecret, Nonce, PageToken};
use baton_server::EXTENSION_ID;
use futures_util::{SinkExt, StreamExt};
use jiff::Timestamp;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// How long anything may take.
const LIMIT: Duration = Duration::from_mins(1);

fn extension() -> String {
    format!("chrome-extension://{EXTENSION_ID}")
}

fn now() -> EpochMs {
    EpochMs::new(Timestamp::now().as_millisecond().try_into().unwrap())
}

/// What the header of a page of Ada's shop brings, as the proxy signs it.
fn page_token(node: &Node, owner: &str) -> String {
    page_token_of(
        &DebugSecret::load_or_create(&node.folder.data.debug_key(), [0; 32]).unwrap(),
        owner,
    )
}

/// The same of whoever has this secret.
fn page_token_of(secret: &DebugSecret, owner: &str) -> String {
    let page = PageToken::new(
        "shop".parse().unwrap(),
        owner.parse().unwrap(),
        "/cart",
        Nonce::new(rand::random()),
    );
    page.sign(secret, now()).unwrap()
}

/// A connection to the relay.
struct Link(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Link {
    /// Connects with these subprotocols, or with this key.
    async fn connect(
        node: &Node,
        protocols: Option<&str>,
        key: Option<&str>,
    ) -> Result<Self, Error> {
        let mut url = node.file.url.join("/api/signaling/ws").unwrap();
        url.set_scheme("ws").unwrap();
        let mut request = url.as_str().into_client_request().unwrap();
        let headers = request.headers_mut();
        if let Some(protocols) = protocols {
            headers.insert("sec-websocket-protocol", protocols.parse().unwrap());
            headers.insert("origin", extension().parse().unwrap());
        }
        if let Some(key) = key {
            headers.insert("authorization", format!("Bearer {key}").parse().unwrap());
        }
        Ok(Self(connect_async(request).await?.0))
    }

    /// As whoever looks in, with this key.
    async fn client(node: &Node, key: &str) -> Self {
        Self::connect(node, None, Some(key)).await.unwrap()
    }

    async fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    /// What the relay says next; the code with which it ended the connection.
    async fn next(&mut self) -> Result<RelayMessage, u16> {
        loop {
            match timeout(LIMIT, self.0.next()).await.expect("the relay answers in time") {
                Some(Ok(Message::Text(text))) => return Ok(RelayMessage::read(&text).unwrap()),
                Some(Ok(Message::Close(Some(frame)))) => return Err(frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(0),
            }
        }
    }

    async fn ask(&mut self, message: Value) -> Value {
        self.send(&message).await;
        serde_json::to_value(self.next().await.unwrap()).unwrap()
    }

    /// Offers a tab; its token, its grant, and the last event that the relay has.
    async fn offer(&mut self, by: &str, epoch: u64) -> (String, String, u64) {
        let accepted = self.ask(offer(by, epoch)).await;
        assert_eq!(accepted["type"], "browser_debug_tab_accepted", "{accepted}");
        let text = |field: &str| accepted[field].as_str().unwrap().to_owned();
        assert_eq!(text("offered"), by);
        (text("token"), text("resume"), accepted["last_seq"].as_u64().unwrap())
    }

    /// Tells of a line of a tab's console.
    async fn write(&mut self, token: &str, seq: u64, message: &str) {
        let entry = json!({
            "timestamp": now().get(), "level": "log", "message": message, "args": [message],
        });
        self.send(&json!({
            "type": "browser_debug_console_event", "token": token, "seq": seq, "entry": entry,
        }))
        .await;
        // What was told before is taken once this is answered.
        let answer = self.ask(json!({"type": "browser_debug_heartbeat"})).await;
        assert_eq!(answer["type"], "browser_debug_heartbeat", "{answer}");
    }
}

fn offer(by: &str, epoch: u64) -> Value {
    json!({
        "type": "browser_debug_tab_available", "token": by, "browser_id": "b-1",
        "url": "http://shop.localhost/cart", "title": "Cart", "epoch": epoch,
    })
}

async fn as_extension(node: &Node, path: &str, key: Option<&str>, body: &Value) -> Response {
    let request = node.request(Method::POST, path).header("origin", extension()).json(body);
    let request = match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    request.send().await.unwrap()
}

/// The key of a browser that was paired by the local owner.
async fn pair(node: &Node, browser: &str) -> String {
    let code = node.admin().pair_browser().await.unwrap().code;
    let body = json!({"code": code, "browser_id": browser});
    let paired = as_extension(node, "/debug/pair/exchange", None, &body).await;
    assert_eq!(paired.status(), 200);
    let PairedBrowser { key, signaling_url } = paired.json().await.unwrap();
    assert_eq!((signaling_url.scheme(), signaling_url.path()), ("ws", "/api/signaling/ws"));
    key
}

async fn ticket(node: &Node, key: &str) -> String {
    let connection =
        as_extension(node, "/debug/connect", Some(key), &json!({"browser_id": "b-1"})).await;
    assert_eq!(connection.status(), 200);
    let connection: BrowserConnection = connection.json().await.unwrap();
    connection.ticket
}

/// A paired browser, connected.
async fn browser(node: &Node, key: &str) -> Link {
    let protocols = format!("baton.v1, baton.ticket.{}", ticket(node, key).await);
    Link::connect(node, Some(&protocols), None).await.unwrap()
}

/// The lines of a tab's console, and what is missing, as the local owner reads them.
async fn console(node: &Node, token: &str) -> (Vec<String>, Vec<String>) {
    let token = token.parse().unwrap();
    let found =
        node.admin().get_console(&token, &ConsoleFilters::default(), Duration::ZERO).await.unwrap();
    let gap = |gap: &baton_api::debug::Gap| {
        let reason = serde_json::to_value(gap.reason).unwrap();
        match gap.missing {
            Some(missing) => format!("{} {missing}", reason.as_str().unwrap()),
            None => reason.as_str().unwrap().to_owned(),
        }
    };
    let lines = found.entries.into_iter().map(|entry| entry.message).collect();
    (lines, found.gaps.iter().map(gap).collect())
}
