//! What a key holds open at a node: streams of events, one of MCP, and the relay of tabs.

use crate::fixture::{LIMIT, Node};
use futures_util::StreamExt;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// All of it.
pub(crate) struct Opened {
    /// What is told over HTTP, each by its name.
    streams: Vec<(&'static str, Response)>,
    /// The session of MCP.
    session: String,
    signaling: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Opened {
    /// Opens it with this secret.
    pub(crate) async fn by(node: &Node, secret: &str) -> Self {
        let mut streams = Vec::new();
        for path in ["/events", "/sync/events", "/federation/events"] {
            let answer = node.request(Method::GET, path).bearer_auth(secret).send().await.unwrap();
            assert_eq!(answer.status(), 200, "{path}");
            streams.push((path, answer));
        }
        let session = initialized(node, secret).await;
        // A client of an older protocol has a stream for what nobody asked for.
        let listens = listen(node, secret, &session).await;
        assert_eq!(listens.status(), 200);
        streams.push(("GET /mcp", listens));
        let mut url = node.file.url.join("/api/signaling/ws").unwrap();
        url.set_scheme("ws").unwrap();
        let mut request = url.as_str().into_client_request().unwrap();
        let bearer = format!("Bearer {secret}");
        request.headers_mut().insert("authorization", bearer.parse().unwrap());
        let (signaling, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        Self { streams, session, signaling }
    }

    /// Waits until all of it has ended, and the relay has said why; which session of MCP was open.
    pub(crate) async fn ended(mut self) -> String {
        for (what, mut events) in self.streams {
            let end = async { while let Ok(Some(_)) = events.chunk().await {} };
            timeout(LIMIT, end).await.unwrap_or_else(|_| panic!("{what} goes on"));
        }
        let told = timeout(LIMIT, self.signaling.next()).await.expect("the relay says why");
        let told = told.unwrap().unwrap();
        assert!(told.is_close() && told.to_string().contains("revoked"), "{told:?}");
        self.session
    }
}

fn mcp(node: &Node, secret: &str, method: Method) -> RequestBuilder {
    let call = node.request(method, "/mcp").bearer_auth(secret);
    let call = call.header("accept", "application/json, text/event-stream");
    call.header("mcp-protocol-version", "2025-06-18")
}

/// The stream of a session of MCP.
pub(crate) async fn listen(node: &Node, secret: &str, session: &str) -> Response {
    mcp(node, secret, Method::GET).header("mcp-session-id", session).send().await.unwrap()
}

/// A session of MCP.
async fn initialized(node: &Node, secret: &str) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let begun = mcp(node, secret, Method::POST).json(&hello).send().await.unwrap();
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let ready = mcp(node, secret, Method::POST).header("mcp-session-id", &session).json(&ready);
    assert_eq!(ready.send().await.unwrap().status(), 202);
    session
}
