//! A proxy that other machines reach: over TLS, or behind another proxy; and to upstream services with a key
//! only.

use super::{service, upstream_at};
use crate::fixture::{Folder, LIMIT, Node};
use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;
use baton_api::upstream::{PutUpstream, UpstreamAccess, UpstreamPages};
use baton_api::{CreateKey, ErrorCode, Scope, UpstreamId};
use baton_net::tls::TlsFiles;
use baton_proxy::{Access, UpstreamService};
use baton_server::{Config, ServeError, serve};
use futures_util::{SinkExt, StreamExt};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_util::sync::CancellationToken;

/// The name whose subdomains are upstream services.
const HOST: &str = "dev.example.org";
const SHOP: &str = "shop.dev.example.org";

fn id() -> UpstreamId {
    "shop".parse().unwrap()
}

/// A service that says how it was asked.
async fn shop() -> SocketAddr {
    let show = async |headers: HeaderMap| {
        let said = ["x-forwarded-proto", "x-forwarded-host", "x-forwarded-for", "cookie"];
        said.map(|name| format!("{:?}", headers.get(name))).join(" ")
    };
    service(Router::new().route("/", get(show))).await
}

/// A service that echoes what comes over a WebSocket.
async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            while let Some(Ok(message)) = socket.next().await {
                if message.is_text() {
                    socket.send(message).await.unwrap();
                }
            }
        }
    });
    address
}

/// The upstream service of the settings.
fn keyed(upstream: SocketAddr, access: Access) -> UpstreamService {
    UpstreamService { owner: "local".parse().unwrap(), access, ..upstream_at("shop", upstream) }
}

/// A configuration whose proxy other machines reach.
fn config(folder: &Folder, service: UpstreamService) -> Config {
    let mut config = folder.config();
    config.proxy.listen = Some("0.0.0.0:0".parse().unwrap());
    config.proxy.host = Some(HOST.to_owned());
    config.proxy.services = vec![service];
    config
}

/// A certificate in the folder, and the files that hold it.
fn certificate(folder: &Folder) -> (CertificateDer<'static>, TlsFiles) {
    let names = vec![SHOP.to_owned(), "shop.localhost".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    let file = |name: &str| folder.data.path().join(name);
    let files = TlsFiles { certificate: file("tls.crt"), key: file("tls.key") };
    std::fs::write(&files.certificate, cert.pem()).unwrap();
    std::fs::write(&files.key, signing_key.serialize_pem()).unwrap();
    (cert.der().clone(), files)
}

/// Where its proxy listens.
async fn port(node: &Node) -> u16 {
    let services = node.admin().list_upstreams().await.unwrap();
    services.items[0].urls.iter().find_map(url::Url::port).unwrap()
}

/// A connection by a client that trusts this certificate only.
async fn connect(port: u16, trusted: &CertificateDer<'static>) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let name = ServerName::try_from(SHOP).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

/// The answer to a request with these headers.
async fn ask(mut stream: TlsStream<TcpStream>, target: &str, headers: &str) -> String {
    let head = format!("GET {target} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    timeout(LIMIT, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    String::from_utf8(answer).unwrap()
}

fn header<'a>(answer: &'a str, name: &str) -> &'a str {
    let mut lines = answer.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).unwrap().1
}

/// What names an upstream service over the API.
fn named(upstream: &str, access: UpstreamAccess) -> PutUpstream {
    let upstream = upstream.to_owned();
    PutUpstream {
        name: None,
        upstream,
        owner: None,
        access,
        browser_debug: UpstreamPages::default(),
    }
}

async fn debug_key(node: &Node) -> String {
    let scopes = [Scope::Debug].into();
    let request = CreateKey { name: "looks".to_owned(), owner: None, scopes, for_node: None };
    node.admin().create_key(&request).await.unwrap().secret
}

#[tokio::test]
async fn other_machines_reach_a_cocoon_over_tls_with_a_key_or_a_pass() {
    let folder = Folder::new();
    let (trusted, files) = certificate(&folder);
    let mut config = config(&folder, keyed(shop().await, Access::Key));
    let talks =
        UpstreamService { id: "talks".parse().unwrap(), ..keyed(echo().await, Access::Key) };
    config.proxy.services.push(talks);
    config.exposure.tls = Some(files);
    let node = folder.start_with(config).await;
    let port = port(&node).await;
    let host = format!("Host: {SHOP}:{port}\r\n");
    let get = async |target: &str, headers: &str| {
        ask(connect(port, &trusted).await, target, headers).await
    };

    assert!(get("/", &host).await.starts_with("HTTP/1.1 401 "));
    let key = format!("{host}Authorization: Bearer {}\r\n", debug_key(&node).await);
    let answer = get("/", &key).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let told = format!("Some(\"https\") Some(\"{SHOP}:{port}\") Some(\"127.0.0.1\") None");
    assert!(answer.contains(&told), "{answer}");
    // Names that are not the proxy's lead nowhere, whatever the key.
    let rebound = key.replace(SHOP, "shop.evil.test");
    assert!(get("/", &rebound).await.starts_with("HTTP/1.1 421 "));

    // A browser gets in by a ticket, and has a pass that never travels in clear text.
    let ticket = node.admin().enter_upstream(&id()).await.unwrap().url;
    assert_eq!(ticket.scheme(), "https");
    assert_eq!((ticket.host_str(), ticket.port()), (Some(SHOP), Some(port)));
    let target = format!("{}?{}", ticket.path(), ticket.query().unwrap());
    let entered = get(&target, &host).await;
    assert!(entered.starts_with("HTTP/1.1 303 "), "{entered}");
    let cookie = header(&entered, "set-cookie");
    let (pass, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure");
    let pass = format!("{host}Cookie: {pass}\r\n");
    assert!(get("/", &pass).await.starts_with("HTTP/1.1 200 "));
    assert!(get(&target, &host).await.starts_with("HTTP/1.1 401 "), "it counted already");

    // WebSockets change hands over TLS too, for pages of the upstream service alone.
    let bearer = format!("Bearer {}", key.split_once("Bearer ").unwrap().1.trim());
    let talks = format!("talks.{HOST}:{port}");
    let open = async |origin: &str| {
        let mut request = format!("wss://{talks}/").into_client_request().unwrap();
        request.headers_mut().insert("authorization", bearer.parse().unwrap());
        request.headers_mut().insert("origin", origin.parse().unwrap());
        tokio_tungstenite::client_async(request, connect(port, &trusted).await).await
    };
    let (mut socket, _) = open(&format!("https://{talks}")).await.unwrap();
    socket.send(Message::text("hello")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("hello"));
    for foreign in [format!("http://{talks}"), "https://evil.test".to_owned()] {
        let refused = open(&foreign).await.unwrap_err();
        assert!(matches!(refused, Error::Http(answer) if answer.status() == 403), "{foreign}");
    }

    // Clear text gets nothing.
    let mut clear = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    clear.write_all(format!("GET / HTTP/1.1\r\n{key}\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // It may be reset, or told in TLS that this was none.
    let _ = timeout(LIMIT, clear.read_to_end(&mut answer)).await.unwrap();
    assert!(!answer.starts_with(b"HTTP"));
    node.stop().await;
}

#[tokio::test]
async fn what_others_could_read_or_reach_without_a_key_starts_nothing() {
    let refused = async |change: fn(&mut Config, TlsFiles), access: Access| {
        let folder = Folder::new();
        let (_, files) = certificate(&folder);
        let mut config = config(&folder, keyed(([127, 0, 0, 1], 9).into(), access));
        // Refused before anything listens there.
        config.proxy.listen = Some("0.0.0.0:8081".parse().unwrap());
        change(&mut config, files);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let error = serve(config, listener, CancellationToken::new()).await.unwrap_err();
        assert!(!folder.data.database().exists(), "nothing was started");
        assert!(matches!(error, ServeError::Config(_)), "{error:?}");
        error.to_string()
    };
    let errors = [
        Box::pin(refused(|_, _| {}, Access::Key)).await,
        Box::pin(refused(|config, files| config.exposure.tls = Some(files), Access::Loopback))
            .await,
        Box::pin(refused(|config, _| config.exposure.behind_proxy = true, Access::Loopback)).await,
    ];
    insta::assert_snapshot!(errors.join("\n\n"), @r#"
    expected proxy.listen to be a loopback address such as 127.0.0.1:8081, found 0.0.0.0:8081
    other machines could read keys and cookies in clear text: set server.tls, or server.behind_proxy when a proxy in front of the node speaks TLS

    expected every cocoon to want a key, because other machines reach proxy.listen, 0.0.0.0:8081; found that shop wants none
    set its access to "key", or let the proxy listen at a loopback address

    expected every cocoon to want a key, because other machines reach proxy.listen, 0.0.0.0:8081; found that shop wants none
    set its access to "key", or let the proxy listen at a loopback address
    "#);
}

#[tokio::test]
async fn a_cocoon_that_is_named_later_wants_a_key_as_well() {
    let folder = Folder::new();
    let (trusted, files) = certificate(&folder);
    let upstream = shop().await;
    // One of before, when the proxy was for this machine only.
    let mut before = folder.config();
    before.proxy.listen = Some("127.0.0.1:0".parse().unwrap());
    let node = folder.start_with(before).await;
    let open = named(&format!("http://{upstream}"), UpstreamAccess::Loopback);
    let kept = node.admin().put_upstream(&id(), &open).await.unwrap();
    assert!(kept.urls.iter().all(|url| url.scheme() == "http"));
    let folder = node.stop().await;

    let mut config = config(&folder, keyed(upstream, Access::Key));
    config.proxy.services.clear();
    config.exposure.tls = Some(files);
    let node = folder.start_with(config).await;
    let refused = node.admin().put_upstream(&"other".parse().unwrap(), &open).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::InvalidRequest));
    assert!(refused.to_string().contains("expected a cocoon that wants a key"), "{refused}");
    // That one stays, and is for nobody, also under a name of this machine.
    let port = port(&node).await;
    for host in [SHOP, "shop.localhost"] {
        let headers = format!("Host: {host}:{port}\r\n");
        let answer = ask(connect(port, &trusted).await, "/", &headers).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        assert!(answer.contains("access"), "{answer}");
    }
    let keyed = PutUpstream { access: UpstreamAccess::Key, ..open };
    node.admin().put_upstream(&id(), &keyed).await.unwrap();
    let headers = format!("Host: {SHOP}\r\nAuthorization: Bearer {}\r\n", debug_key(&node).await);
    let answer = ask(connect(port, &trusted).await, "/", &headers).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    node.stop().await;
}

#[tokio::test]
async fn behind_another_proxy_the_caller_is_whom_that_one_names() {
    let folder = Folder::new();
    let mut config = config(&folder, keyed(shop().await, Access::Loopback));
    // It listens on this machine, and so does the one in front of it.
    config.proxy.listen = Some("127.0.0.1:0".parse().unwrap());
    config.exposure.behind_proxy = true;
    let node = folder.start_with(config).await;
    let listed = node.admin().list_upstreams().await.unwrap().items.remove(0);
    let urls: Vec<&str> = listed.urls.iter().map(url::Url::as_str).collect();
    assert!(urls.contains(&"https://shop.dev.example.org/"), "{urls:?}");
    let port = port(&node).await;
    let ask = async |host: &str, more: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(LIMIT, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        answer
    };
    // Whoever is on this machine comes past the one in front.
    let own = ask(&format!("shop.localhost:{port}"), "").await;
    assert!(own.starts_with("HTTP/1.1 200 ") && own.contains("Some(\"http\")"), "{own}");
    // Who comes from elsewhere cannot name itself a host of this machine.
    let far = ask("shop.localhost", "X-Forwarded-For: 127.0.0.1, 203.0.113.9\r\n").await;
    assert!(far.starts_with("HTTP/1.1 403 "), "{far}");

    let keyed = named(listed.upstream.as_str(), UpstreamAccess::Key);
    node.admin().put_upstream(&"bank".parse().unwrap(), &keyed).await.unwrap();
    let more = format!(
        "X-Forwarded-For: 203.0.113.9\r\nAuthorization: Bearer {}\r\n",
        debug_key(&node).await
    );
    let far = ask("bank.dev.example.org", &more).await;
    assert!(far.starts_with("HTTP/1.1 200 ") && far.contains("Some(\"https\")"), "{far}");
    assert!(far.contains("Some(\"203.0.113.9\")"), "{far}");
    let ticket = node.admin().enter_upstream(&"bank".parse().unwrap()).await.unwrap().url;
    assert!(ticket.as_str().starts_with("https://bank.dev.example.org/.baton/enter?"), "{ticket}");
    let target = format!("{}?{}", ticket.path(), ticket.query().unwrap());
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let head =
        format!("GET {target} HTTP/1.1\r\nHost: bank.dev.example.org\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut entered = String::new();
    timeout(LIMIT, stream.read_to_string(&mut entered)).await.unwrap().unwrap();
    assert!(header(&entered, "set-cookie").ends_with("; Secure"), "{entered}");
    node.stop().await;
}
