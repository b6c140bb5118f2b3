//! What passes: streams as they come, uploads of any size, other protocols, on connections that last.

use super::{Stand, head, raw, service, upstream_at};
use crate::fixture::{Folder, LIMIT};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Uri};
use axum::response::IntoResponse;
use axum::routing::{any, get, post};
use baton_proxy::UpstreamService;
use futures_util::{StreamExt, stream};
use reqwest::Method;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::timeout;

type Piece = Result<&'static str, std::io::Error>;

/// A service that sends the first piece, and the last one when it is told to.
async fn in_two_pieces(kind: &'static str) -> (std::net::SocketAddr, oneshot::Sender<()>) {
    let (go, told) = oneshot::channel::<()>();
    let told = Arc::new(Mutex::new(Some(told)));
    let answer = async move || {
        let told = told.lock().unwrap().take().unwrap();
        let last = stream::once(async move {
            told.await.unwrap();
            Piece::Ok("data: last\n\n")
        });
        let pieces = stream::once(async { Piece::Ok("data: first\n\n") }).chain(last);
        ([("content-type", kind)], Body::from_stream(pieces))
    };
    (service(Router::new().route("/", get(answer))).await, go)
}

#[tokio::test]
async fn an_answer_arrives_as_it_is_sent() {
    for kind in ["text/event-stream", "application/octet-stream", "text/html"] {
        let (address, go) = in_two_pieces(kind).await;
        let stand = Stand::of([upstream_at("shop", address)]).await;
        let mut answer = stand.get("shop/").send().await.unwrap();
        let first = timeout(LIMIT, answer.chunk()).await.unwrap().unwrap().unwrap();
        assert_eq!(first, "data: first\n\n", "{kind}");
        // Only now does the service send the rest.
        go.send(()).unwrap();
        assert_eq!(answer.text().await.unwrap(), "data: last\n\n");
        stand.stop().await;
    }
}

#[tokio::test]
async fn a_proxy_that_ends_finishes_an_answer_but_no_stream_of_events() {
    for (kind, rest) in [("text/html", "data: last\n\n"), ("text/event-stream; charset=utf-8", "")]
    {
        let (address, go) = in_two_pieces(kind).await;
        let stand = Stand::of([upstream_at("shop", address)]).await;
        let mut answer = stand.get("shop/").send().await.unwrap();
        timeout(LIMIT, answer.chunk()).await.unwrap().unwrap().unwrap();
        stand.ending.cancel();
        if !rest.is_empty() {
            go.send(()).unwrap();
        }
        assert_eq!(timeout(LIMIT, answer.text()).await.unwrap().unwrap(), rest, "{kind}");
        stand.stop().await;
    }
}

#[tokio::test]
async fn a_node_that_ends_waits_for_what_its_proxy_answers() {
    let (address, go) = in_two_pieces("text/html").await;
    let folder = Folder::new();
    let mut config = folder.config();
    config.proxy.listen = Some("127.0.0.1:0".parse().unwrap());
    config.proxy.services =
        vec![UpstreamService { owner: "local".parse().unwrap(), ..upstream_at("shop", address) }];
    let node = folder.start_with(config).await;
    let services = node.admin().list_upstreams().await.unwrap();
    let port = services.items[0].urls.iter().find_map(url::Url::port).unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let ask = client.get(format!("http://127.0.0.1:{port}/"));
    let mut answer = ask.header("host", format!("shop.localhost:{port}")).send().await.unwrap();
    timeout(LIMIT, answer.chunk()).await.unwrap().unwrap().unwrap();
    let mut ended = Box::pin(node.stop());
    let early = timeout(Duration::from_millis(500), &mut ended).await;
    assert!(early.is_err(), "the node ended while its proxy answered");
    go.send(()).unwrap();
    let (rest, _folder) = tokio::join!(answer.text(), ended);
    assert_eq!(rest.unwrap(), "data: last\n\n");
}

#[tokio::test]
async fn an_upload_of_50_megabytes_is_not_kept_first() {
    const PIECE: usize = 1 << 20;
    let (begun, told) = oneshot::channel::<()>();
    let begun = Arc::new(Mutex::new(Some(begun)));
    let count = async move |body: Body| {
        let mut bytes = body.into_data_stream();
        let mut size = 0;
        while let Some(piece) = bytes.next().await {
            size += piece.unwrap().len();
            if let Some(begun) = begun.lock().unwrap().take() {
                begun.send(()).unwrap();
            }
        }
        size.to_string()
    };
    let stand =
        Stand::of([upstream_at("shop", service(Router::new().route("/", post(count))).await)])
            .await;
    let mut stream = stand.begin_upload(50 * PIECE).await;
    stream.write_all(&vec![1; PIECE]).await.unwrap();
    // The service has the first piece before there is a second one.
    timeout(LIMIT, told).await.unwrap().unwrap();
    for _ in 1..50 {
        stream.write_all(&vec![2; PIECE]).await.unwrap();
    }
    let mut answer = String::new();
    timeout(LIMIT, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.ends_with(&format!("\r\n\r\n{}", 50 * PIECE)), "{answer}");
    stand.stop().await;
}

#[tokio::test]
async fn both_ends_may_change_the_protocol_and_pages_of_others_may_not() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let asked = head(&mut stream).await.to_lowercase();
        assert!(
            asked.contains("upgrade: websocket") && asked.contains("connection: upgrade"),
            "{asked}"
        );
        let answer = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                      Sec-WebSocket-Accept: x\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
        let mut word = [0; 5];
        stream.read_exact(&mut word).await.unwrap();
        word.reverse();
        stream.write_all(&word).await.unwrap();
    });
    let stand = Stand::of([upstream_at("shop", address)]).await;
    let port = stand.address.port();
    let ask = |origin: &str| {
        format!(
            "GET /ws HTTP/1.1\r\nHost: shop.localhost:{port}\r\nConnection: keep-alive, Upgrade\r\n\
             Upgrade: websocket\r\nOrigin: {origin}\r\n\r\n"
        )
    };
    for foreign in ["https://evil.test", "null", "http://other.localhost:1", "http://localhost"] {
        let (_, answer) = stand.raw(&ask(foreign)).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{foreign}: {answer}");
    }
    let (mut stream, answer) = stand.raw(&ask(&format!("http://shop.localhost:{port}"))).await;
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    assert!(answer.to_lowercase().contains("sec-websocket-accept: x"), "{answer}");
    stream.write_all(b"hello").await.unwrap();
    let mut word = [0; 5];
    timeout(LIMIT, stream.read_exact(&mut word)).await.unwrap().unwrap();
    assert_eq!(&word, b"olleh");
    stand.stop().await;
}

#[tokio::test]
async fn a_connection_to_a_cocoon_is_used_again() {
    let connections = Arc::new(AtomicUsize::new(0));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let counted = connections.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                loop {
                    head(&mut stream).await;
                    stream
                        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                        .await
                        .unwrap();
                }
            });
        }
    });
    let stand = Stand::of([upstream_at("shop", address)]).await;
    for _ in 0..5 {
        assert_eq!(stand.get("shop/").send().await.unwrap().text().await.unwrap(), "ok");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    stand.stop().await;
}

/// Shows the request as it arrived.
async fn show(uri: Uri, headers: HeaderMap) -> impl IntoResponse {
    let shown =
        |name: &str| headers.get(name).map_or("-", |value| value.to_str().unwrap()).to_owned();
    let names = [
        "host",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-prefix",
        "forwarded",
        "cookie",
        "te",
    ];
    let lines: Vec<String> = names.iter().map(|name| format!("{name}: {}", shown(name))).collect();
    format!("{uri}\n{}\n", lines.join("\n"))
}

#[tokio::test]
async fn a_cocoon_hears_who_asked_and_how() {
    let address = service(Router::new().fallback(any(show))).await;
    let stand = Stand::of([upstream_at("shop", address)]).await;
    let port = stand.address.port().to_string();
    let told = async |call: reqwest::RequestBuilder| {
        let call = call.header("x-forwarded-for", "1.2.3.4").header("te", "trailers");
        let call = call.header("cookie", "sid=1; baton_cocoon=secret");
        call.send().await.unwrap().text().await.unwrap().replace(&port, "PORT")
    };
    insta::assert_snapshot!(told(stand.get("shop/a%20b?c=d")).await, @r#"
    /a%20b?c=d
    host: shop.localhost:PORT
    x-forwarded-for: 127.0.0.1
    x-forwarded-host: shop.localhost:PORT
    x-forwarded-prefix: -
    forwarded: for=127.0.0.1;host="shop.localhost:PORT";proto=http
    cookie: sid=1
    te: -
    "#);
    insta::assert_snapshot!(told(stand.at(Method::GET, "/proxy/shop/a?c")).await, @r#"
    /a?c
    host: 127.0.0.1:PORT
    x-forwarded-for: 127.0.0.1
    x-forwarded-host: 127.0.0.1:PORT
    x-forwarded-prefix: /proxy/shop
    forwarded: for=127.0.0.1;host="127.0.0.1:PORT";proto=http
    cookie: sid=1
    te: -
    "#);
    stand.stop().await;
}

#[tokio::test]
async fn a_service_that_calls_itself_by_another_name_of_this_machine_leads_nobody_past_the_proxy() {
    let port = Arc::new(OnceLock::new());
    let own = Arc::clone(&port);
    let answer = async move || {
        let place = format!("http://localhost:{}/x", own.get().unwrap());
        let cookie = "sid=1; Domain=localhost";
        [
            ("location", place.clone()),
            ("refresh", format!("0; url={place}")),
            ("set-cookie", cookie.into()),
        ]
    };
    let address = service(Router::new().route("/", get(answer))).await;
    port.set(address.port()).unwrap();
    let stand = Stand::of([upstream_at("shop", address)]).await;
    for (asked, place) in
        [(stand.get("shop/"), "/x"), (stand.at(Method::GET, "/proxy/shop/"), "/proxy/shop/x")]
    {
        let told = asked.send().await.unwrap();
        assert_eq!(told.headers()["location"], place);
        assert_eq!(told.headers()["refresh"], format!("0; url={place}"));
        assert_eq!(told.headers()["set-cookie"], "sid=1");
    }
    stand.stop().await;
}

#[tokio::test]
async fn behind_a_path_redirects_and_cookies_get_the_prefix() {
    let answer = "HTTP/1.1 302 Found\r\nLocation: /login\r\nSet-Cookie: sid=1; Path=/; Domain=localhost\r\n\
                  Set-Cookie: baton_cocoon=theirs\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let stand = Stand::of([upstream_at("shop", raw(answer).await)]).await;
    let told = stand.at(Method::GET, "/proxy/shop/").send().await.unwrap();
    assert_eq!(told.headers()["location"], "/proxy/shop/login");
    let cookies: Vec<_> = told.headers().get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["sid=1; Path=/proxy/shop/"]);
    let by_name = stand.get("shop/").send().await.unwrap();
    assert_eq!(by_name.headers()["location"], "/login");
    let without_slash = stand.at(Method::GET, "/proxy/shop?a=b").send().await.unwrap();
    assert_eq!(without_slash.status(), 308);
    assert_eq!(without_slash.headers()["location"], "/proxy/shop/?a=b");
    stand.stop().await;
}

#[tokio::test]
async fn behind_a_path_a_cookie_of_the_host_is_the_services_own_and_nobody_elses() {
    let own = "__Host-sid=1; Secure; Path=/";
    let pages =
        Router::new().route("/login", get(async move || [("set-cookie", own)])).fallback(any(show));
    let address = service(pages).await;
    let stand = Stand::of([upstream_at("shop", address)]).await;
    let told = stand.at(Method::GET, "/proxy/shop/login").send().await.unwrap();
    let kept = told.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert_eq!(kept, "cocoon-host-sid=1; Secure; Path=/proxy/shop/");
    let pair = kept.split(';').next().unwrap();
    let again = stand.at(Method::GET, "/proxy/shop/").header("cookie", format!("a=2; {pair}"));
    let seen = again.send().await.unwrap().text().await.unwrap();
    assert!(seen.contains("cookie: a=2; __Host-sid=1\n"), "{seen}");
    let by_name = stand.get("shop/login").send().await.unwrap();
    assert_eq!(by_name.headers()["set-cookie"], own);
    stand.stop().await;
}

#[tokio::test]
async fn behind_a_path_what_a_page_means_at_its_root_is_found_there() {
    let address = service(Router::new().fallback(any(show))).await;
    let stand = Stand::of([upstream_at("shop", address)]).await;
    let page = format!("http://{}/proxy/shop/cart", stand.address);
    for method in [Method::GET, Method::POST] {
        let led = stand.at(method.clone(), "/app.js?v=1").header("referer", &page);
        let led = led.send().await.unwrap();
        assert_eq!(led.status(), 307, "{method} keeps its body");
        assert_eq!(led.headers()["location"], "/proxy/shop/app.js?v=1");
        assert_eq!(led.headers()["cache-control"], "no-store");
    }
    let strange =
        stand.at(Method::GET, "/app.js").header("referer", "http://evil.test/proxy/shop/");
    assert_eq!(strange.send().await.unwrap().status(), 404);
    stand.stop().await;
}
