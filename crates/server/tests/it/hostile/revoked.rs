//! A key that is revoked ends every connection that it opened, whatever is spoken on it by then.

use super::smuggling;
use crate::fixture::{Folder, LIMIT, Node, until};
use crate::opened::{Opened, listen};
use baton_api::{CreateKey, Scope};
use baton_proxy::{Access, BrowserDebug, UpstreamService};
use futures_util::StreamExt;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// An upstream service that speaks WebSocket, and says nothing.
async fn silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
                while let Some(Ok(_)) = socket.next().await {}
            });
        }
    });
    address
}

async fn node() -> (Node, u16) {
    let folder = Folder::new();
    let mut config = folder.config();
    config.proxy.listen = Some("127.0.0.1:0".parse().unwrap());
    config.proxy.services = vec![UpstreamService {
        id: "shop".parse().unwrap(),
        name: "shop".to_owned(),
        upstream: format!("http://{}", silent().await).parse().unwrap(),
        owner: "local".parse().unwrap(),
        access: Access::Key,
        browser_debug: BrowserDebug::default(),
    }];
    let node = folder.start_with(config).await;
    let services = node.admin().list_upstreams().await.unwrap();
    let port = services.items[0].urls.iter().find_map(url::Url::port).unwrap();
    (node, port)
}

/// A connection to the upstream service that has become a WebSocket, with these headers.
async fn through_the_proxy(port: u16, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let head = format!(
        "GET / HTTP/1.1\r\nHost: shop.localhost:{port}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = smuggling::head(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    stream
}

async fn hangs_up(what: &str, mut stream: TcpStream) {
    let mut rest = Vec::new();
    let read = timeout(LIMIT, stream.read_to_end(&mut rest)).await;
    // One that is cut off may be reset.
    let _ = read.unwrap_or_else(|_| panic!("{what} goes on"));
}

#[tokio::test]
async fn every_connection_ends_with_its_key() {
    let (node, port) = node().await;
    let scopes = Scope::ALL.into_iter().collect();
    let request = CreateKey { name: "laptop".to_owned(), owner: None, scopes, for_node: None };
    let key = node.admin().create_key(&request).await.unwrap();
    let secret = &key.secret;
    let opened = Opened::by(&node, secret).await;
    let by_key = through_the_proxy(port, &format!("Authorization: Bearer {secret}")).await;
    let ticket = node.client(secret).enter_upstream(&"shop".parse().unwrap()).await.unwrap().url;
    let target = format!("{}?{}", ticket.path(), ticket.query().unwrap());
    let mut entering = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let head = format!("GET {target} HTTP/1.1\r\nHost: shop.localhost:{port}\r\n\r\n");
    entering.write_all(head.as_bytes()).await.unwrap();
    let entered = smuggling::head(&mut entering).await;
    let cookie = entered.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let pass = format!("Cookie: {}", cookie.split(';').next().unwrap());
    let by_pass = through_the_proxy(port, &pass).await;

    node.admin().revoke_key(&key.key.id, None).await.unwrap();

    let session = opened.ended().await;
    hangs_up("a WebSocket through the proxy with a key", by_key).await;
    hangs_up("a WebSocket through the proxy with a pass", by_pass).await;
    // The pass opens nothing any more, and neither does the session of the protocol.
    until("the pass opens nothing", async || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let head = format!("GET / HTTP/1.1\r\nHost: shop.localhost:{port}\r\n{pass}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        smuggling::head(&mut stream).await.starts_with("HTTP/1.1 401").then_some(())
    })
    .await;
    assert_eq!(listen(&node, secret, &session).await.status(), 401);
    node.stop().await;
}
