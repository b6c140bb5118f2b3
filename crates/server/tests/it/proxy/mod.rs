//! The proxy in front of real services on free ports.

mod access;
mod failing;
mod inject;
mod outside;
mod passing;

use crate::fixture::LIMIT;
use axum::Router;
use baton_debug::token::DebugSecret;
use baton_net::connections::Bounds;
use baton_net::rates::{RateLimits, Rates};
use baton_proxy::{
    Access, BrowserDebug, Outside, Proxy, ProxyConfig, UpstreamService, UpstreamServices,
};
use baton_store::Store;
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

fn secret() -> DebugSecret {
    DebugSecret::from_bytes([5; 32])
}

/// A service that answers with `router`, and where.
async fn service(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// A service that answers each connection with these bytes as they stand, and where.
async fn raw(answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            head(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    address
}

/// The head of the message that comes next.
async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(LIMIT, stream.read_u8()).await.unwrap().unwrap());
    }
    String::from_utf8(head).unwrap()
}

fn upstream_at(id: &str, upstream: SocketAddr) -> UpstreamService {
    UpstreamService {
        id: id.parse().unwrap(),
        name: id.to_owned(),
        upstream: format!("http://{upstream}").parse().unwrap(),
        owner: "ada".parse().unwrap(),
        access: Access::Loopback,
        browser_debug: BrowserDebug::default(),
    }
}

/// A proxy that runs.
struct Stand {
    address: SocketAddr,
    services: UpstreamServices,
    ending: CancellationToken,
    task: JoinHandle<()>,
}

impl Stand {
    /// In front of these upstream services.
    async fn of(services: impl IntoIterator<Item = UpstreamService>) -> Self {
        Self::with(services, Duration::from_mins(1), None).await
    }

    async fn with(
        services: impl IntoIterator<Item = UpstreamService>,
        first_byte: Duration,
        keys: Option<Store>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let services: UpstreamServices = services.into_iter().collect();
        let host = Some("dev.example.org".to_owned());
        let config = ProxyConfig {
            host,
            services: services.clone(),
            secret: secret(),
            first_byte,
            keys,
            outside: Outside::default(),
            rates: Rates::new(RateLimits::default()),
            bounds: Bounds::default(),
        };
        let ending = CancellationToken::new();
        let task = tokio::spawn(Proxy::new(config, ending.clone()).serve(listener));
        Self { address, services, ending, task }
    }

    /// A request by name: `shop/cart` is `/cart` of `shop.localhost`.
    fn ask(&self, method: Method, place: &str) -> RequestBuilder {
        let (id, path) = place.split_once('/').unwrap();
        let host = format!("{id}.localhost:{}", self.address.port());
        self.at(method, &format!("/{path}")).header("host", host)
    }

    fn get(&self, place: &str) -> RequestBuilder {
        self.ask(Method::GET, place)
    }

    /// A request to the proxy's own address.
    fn at(&self, method: Method, path: &str) -> RequestBuilder {
        let client = reqwest::Client::builder().no_proxy().redirect(Policy::none()).timeout(LIMIT);
        client.build().unwrap().request(method, format!("http://{}{path}", self.address))
    }

    /// What is answered to a head that is written as it stands.
    async fn raw(&self, head: &str) -> (TcpStream, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = self::head(&mut stream).await;
        (stream, answer)
    }

    /// A connection on which an upload of so many bytes to `shop` has begun.
    async fn begin_upload(&self, bytes: usize) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!(
            "POST / HTTP/1.1\r\nHost: shop.localhost\r\nConnection: close\r\nContent-Length: {bytes}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    async fn stop(self) {
        self.ending.cancel();
        timeout(LIMIT, self.task).await.unwrap().unwrap();
    }
}
