//! Further proxies: such as want credentials, and such as lie, hang or die.

use crate::fixture::{Anybody, Echo, Way, eventually, fence};
use baton_egress::{Credentials, Egress, Limits, Others, ProxyUrl, Route, Upstream};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// An upstream, perhaps with a password.
fn upstream(url: &str, password: Option<&str>) -> Upstream {
    let credentials =
        password.map(|password| Credentials { user: "al".to_owned(), password: password.into() });
    Upstream::new(url.parse::<ProxyUrl>().unwrap(), credentials, Vec::new()).unwrap()
}

/// A proxy that says this to whoever connects, after it heard something.
async fn proxy_that_says(answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut heard = [0; 4096];
                let _ = stream.read(&mut heard).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    address
}

#[tokio::test]
async fn a_second_way_out_is_a_further_proxy_for_the_first() {
    let site = Echo::start().await;
    let port = site.address.port();
    let further = Way::within(fence(&[], Others::All)).await;
    let url = format!("http://{}", further.address);
    let proxy = Some(upstream(&url, None));
    let way = Way::new(fence(&["localhost"], Others::None), proxy, Arc::new(Anybody)).await;
    assert_eq!(way.tunnel(&format!("localhost:{port}"), "word").await, Ok("word".to_owned()));
    assert_eq!(way.get(&format!("http://localhost:{port}/")).await.0, 200);
    // The fence is before the further proxy, which hears of nothing that is refused.
    assert_eq!(way.tunnel("example.org:443", "word").await, Err(403));
    let hosts: Vec<_> =
        further.egress.ledger().tallies().into_iter().filter_map(|tally| tally.host).collect();
    assert_eq!(hosts, [format!("localhost:{port}")]);
}

#[tokio::test]
async fn a_proxy_that_fails_is_told_as_what_it_does() {
    for (answer, why) in [
        (
            "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n",
            "it does not take the user and the password that it was told",
        ),
        (
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n\r\n",
            "it wants Negotiate or NTLM, and Baton speaks Basic alone: a proxy on this machine that speaks it \
             for you, such as px or cntlm, can stand between",
        ),
        (
            "HTTP/1.1 407 No\r\nProxy-Authenticate: NTLM\r\nProxy-Authenticate: basic realm=a\r\n\r\n",
            "it does not take the user and the password that it was told",
        ),
        ("HTTP/1.1 500 No\r\n\r\n", "it answers CONNECT with 500 Internal Server Error"),
        ("", "expected an answer to CONNECT, found: "),
        ("SSH-2.0-OpenSSH\r\n", "expected an answer to CONNECT, found: "),
    ] {
        let proxy = proxy_that_says(answer).await;
        let url = format!("http://{proxy}");
        let upstream = Some(upstream(&url, Some("a secret")));
        let way = Way::new(fence(&[], Others::All), upstream, Arc::new(Anybody)).await;
        assert_eq!(way.tunnel("example.org:443", "word").await, Err(502));
        let told = way.tally("example.org:443").unwrap().why.unwrap();
        assert!(told.starts_with(&format!("the session's proxy {url}: {why}")), "{told}");
        // A request without TLS is told the same; that a proxy cannot do something for it, says its answer.
        if answer.contains("500") {
            assert_eq!(way.get("http://example.org/").await.0, 500);
            continue;
        }
        assert_eq!(way.get("http://example.org/").await.0, 502);
        let told = way.tally("example.org:80").unwrap().why.unwrap();
        let why = why.replace("an answer to CONNECT", "an answer to a request");
        assert!(told.starts_with(&format!("the session's proxy {url}: {why}")), "{told}");
        assert!(!told.contains("client error"), "{told}");
    }
}

#[tokio::test]
async fn a_proxy_that_hangs_is_told_before_anybody_gives_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let route = Route::Through(Box::new(upstream(&url, None)));
    let limits = Limits { slow: Duration::from_millis(50), ..Limits::default() };
    let egress = Egress::new(vec![fence(&[], Others::All)], route).within(limits);
    let way = Way::serving(egress, Arc::new(Anybody)).await;
    let told = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let why = async || way.tally("example.org:80")?.why;
        assert_eq!(
            eventually(why).await,
            format!("the session's proxy {url}: a request is without an answer for 50ms")
        );
        // It is slow, and answers.
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
    };
    let (answer, ()) = tokio::join!(way.get("http://example.org/"), told);
    assert_eq!(answer, (200, "ok".to_owned()));
    let tally = way.tally("example.org:80").unwrap();
    assert_eq!((tally.connections, tally.failed), (1, 0));

    // Of another one whoever asked does not wait for it.
    let mut asks = TcpStream::connect(way.address).await.unwrap();
    asks.write_all(b"GET http://example.net/ HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let _hangs = listener.accept().await.unwrap();
    eventually(async || way.tally("example.net:80")?.why).await;
    assert_eq!(way.tally("example.net:80").unwrap().failed, 0);
    drop(asks);
    eventually(async || (way.tally("example.net:80")?.failed == 1).then_some(())).await;
}
