//! Further proxies: such as want credentials, and such as lie, hang or die.

use crate::fixture::{Anybody, Echo, Way, eventually, fence};
use baton_egress::{Credentials, Egress, Limits, Others, ProxyUrl, Route, Upstream};
use baton_testing::Nobody;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

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

#[tokio::test]
async fn a_proxy_that_died_is_told() {
    let nobody = Nobody::listens();
    let url = format!("http://{}", nobody.address());
    let proxy = Some(upstream(&url, None));
    let way = Way::new(fence(&[], Others::All), proxy, Arc::new(Anybody)).await;
    assert_eq!(way.tunnel("example.org:443", "word").await, Err(502));
    assert_eq!(way.get("http://example.org/").await.0, 502);
    for host in ["example.org:443", "example.org:80"] {
        let told = way.tally(host).unwrap().why.unwrap();
        assert!(told.starts_with(&format!("the session's proxy {url}: ")), "{told}");
        assert!(told.contains("refused"), "{told}");
    }

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let proxy = Some(upstream(&url, None));
    let way = Way::new(fence(&[], Others::All), proxy, Arc::new(Anybody)).await;
    let mut asks = TcpStream::connect(way.address).await.unwrap();
    asks.write_all(b"CONNECT example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let (mut proxy, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(proxy.read_u8().await.unwrap());
    }
    proxy.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    let mut answer = [0; 12];
    asks.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    asks.write_all(b"word").await.unwrap();
    let mut word = [0; 4];
    proxy.read_exact(&mut word).await.unwrap();
    // What it leaves open the kernel breaks off when it dies.
    rustix::net::sockopt::set_socket_linger(&proxy, Some(Duration::ZERO)).unwrap();
    drop(proxy);
    let told = eventually(async || way.tally("example.org:443")?.why).await;
    let broke_off = format!("the session's proxy {url}: it broke a connection off: ");
    assert!(told.starts_with(&broke_off), "{told}");
    let tally = way.tally("example.org:443").unwrap();
    assert_eq!((tally.connections, tally.failed), (1, 1));
}

/// What a proxy of SOCKS was asked for, and by whom.
#[derive(Debug, PartialEq, Eq)]
struct SocksRequest {
    login: Option<(String, String)>,
    host: String,
    port: u16,
}

/// What begins with its length.
async fn counted_text(stream: &mut TcpStream) -> String {
    let mut text = vec![0; usize::from(stream.read_u8().await.unwrap())];
    stream.read_exact(&mut text).await.unwrap();
    String::from_utf8(text).unwrap()
}

/// A proxy of SOCKS 5 (RFC 1928) for the next client, which is asked who it is (RFC 1929) if it can say so, and led to
/// the site, whatever it asks for.
async fn socks(listener: &TcpListener, site: SocketAddr) -> SocksRequest {
    let (mut stream, _) = listener.accept().await.unwrap();
    assert_eq!(stream.read_u8().await.unwrap(), 5, "the version");
    let mut methods = vec![0; usize::from(stream.read_u8().await.unwrap())];
    stream.read_exact(&mut methods).await.unwrap();
    let login = if methods.contains(&2) {
        stream.write_all(&[5, 2]).await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), 1, "the version of what says who comes");
        let login = (counted_text(&mut stream).await, counted_text(&mut stream).await);
        stream.write_all(&[1, 0]).await.unwrap();
        Some(login)
    } else {
        stream.write_all(&[5, 0]).await.unwrap();
        None
    };
    let mut asks = [0; 4];
    stream.read_exact(&mut asks).await.unwrap();
    assert_eq!(asks, [5, 1, 0, 3], "a connection is asked for, by a name");
    let host = counted_text(&mut stream).await;
    let port = stream.read_u16().await.unwrap();
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
    let mut site = TcpStream::connect(site).await.unwrap();
    // Either may leave first.
    let _ = copy_bidirectional(&mut stream, &mut site).await;
    SocksRequest { login, host, port }
}

#[tokio::test]
async fn a_proxy_of_socks_hears_the_name_and_who_comes() {
    let site = Echo::start().await;
    for password in [None, Some("a secret")] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("socks5://{}", listener.local_addr().unwrap());
        let proxy = Some(upstream(&url, password));
        let way = Way::new(fence(&[], Others::All), proxy, Arc::new(Anybody)).await;
        let login = || password.map(|password| ("al".to_owned(), password.to_owned()));
        let told = |port| SocksRequest { login: login(), host: "shop.example".to_owned(), port };

        let tunnel = way.tunnel("shop.example:443", "word");
        let (said, heard) = tokio::join!(tunnel, socks(&listener, site.address));
        assert_eq!((said, heard), (Ok("word".to_owned()), told(443)));
        // The site is asked without TLS as it is without a proxy.
        let page = way.get("http://shop.example/a");
        let ((status, page), heard) = tokio::join!(page, socks(&listener, site.address));
        assert_eq!((status, heard), (200, told(80)));
        assert!(page.starts_with("GET /a HTTP/1.1\r\n"), "{page}");
        assert!(!page.to_ascii_lowercase().contains("proxy-authorization"), "{page}");
    }
}

/// A proxy that answers each thing that it hears with the next of these, and then ends.
async fn socks_that_says(answers: &'static [&'static [u8]]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut heard = [0; 4096];
                for answer in answers {
                    let _ = stream.read(&mut heard).await;
                    let _ = stream.write_all(answer).await;
                }
                let _ = stream.shutdown().await;
                // What comes yet must not break off what was said.
                while stream.read(&mut heard).await.is_ok_and(|length| length > 0) {}
            });
        }
    });
    address
}

#[tokio::test]
async fn a_proxy_of_socks_that_fails_is_told_as_what_it_does() {
    const SECRET: Option<&str> = Some("a secret");
    let does_not_take = "it does not take the user and the password that it was told";
    let table: [(_, &'static [&'static [u8]], _); 8] = [
        (SECRET, &[&[5, 2], &[1, 1]], does_not_take),
        (None, &[&[5, 0xff]], "it wants a user and a password"),
        (
            SECRET,
            &[&[5, 0xff]],
            "expected a connection by SOCKS, found: server does not support user/pass \
             authentication",
        ),
        (
            SECRET,
            &[&[5, 2], &[1, 0], &[5, 2, 0, 1, 0, 0, 0, 0, 0, 0]],
            "expected a connection by SOCKS, found: connection not allowed",
        ),
        (
            None,
            &[&[5, 0], &[5, 5, 0, 1, 0, 0, 0, 0, 0, 0]],
            "expected a connection by SOCKS, found: connection refused",
        ),
        (
            None,
            &[b"HTTP/1.1 400 Bad Request\r\n\r\n"],
            "expected a connection by SOCKS, found: failed parsing server response",
        ),
        (
            None,
            &[b"SSH-2.0-OpenSSH\r\n"],
            "expected a connection by SOCKS, found: failed parsing server response",
        ),
        (None, &[], "expected a connection by SOCKS, found: io error during SOCKS handshake"),
    ];
    for (password, answers, why) in table {
        let url = format!("socks5://{}", socks_that_says(answers).await);
        let proxy = Some(upstream(&url, password));
        let way = Way::new(fence(&[], Others::All), proxy, Arc::new(Anybody)).await;
        assert_eq!(way.tunnel("example.org:443", "word").await, Err(502));
        assert_eq!(way.get("http://example.org/").await.0, 502);
        for host in ["example.org:443", "example.org:80"] {
            let told = way.tally(host).unwrap().why.unwrap();
            assert_eq!(told, format!("the session's proxy {url}: {why}"));
        }
    }
    let nobody = Nobody::listens();
    let proxy = Some(upstream(&format!("socks5://{}", nobody.address()), SECRET));
    let way = Way::new(fence(&[], Others::All), proxy, Arc::new(Anybody)).await;
    assert_eq!(way.tunnel("example.org:443", "word").await, Err(502));
    let told = way.tally("example.org:443").unwrap().why.unwrap();
    assert!(told.contains("Connection refused"), "{told}");
}

/// Who signs for proxies, and a proxy's side of TLS with a certificate of theirs for this machine.
fn authority(name: &str) -> (CertificateDer<'static>, TlsAcceptor) {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap().der().clone();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let proxy = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let proxy = proxy.signed_by(&key, &issuer).unwrap().der().clone();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![proxy], key)
        .unwrap();
    (authority, TlsAcceptor::from(Arc::new(config)))
}

/// A proxy, reached in TLS.
async fn in_tls(acceptor: TlsAcceptor, proxy: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust it leaves.
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut proxy = TcpStream::connect(proxy).await.unwrap();
                let _ = copy_bidirectional(&mut stream, &mut proxy).await;
            });
        }
    });
    address
}

#[tokio::test]
async fn a_proxy_in_tls_is_trusted_by_its_authority_alone() {
    let site = Echo::start().await;
    let further = Way::within(fence(&[], Others::All)).await;
    let (own, acceptor) = authority("an authority");
    let (another, _) = authority("another authority");
    let url = format!("https://{}", in_tls(acceptor, further.address).await);
    let through = async |authority| {
        let proxy = Upstream::new(url.parse().unwrap(), None, vec![authority]).unwrap();
        Way::new(fence(&[], Others::All), Some(proxy), Arc::new(Anybody)).await
    };
    let way = through(own).await;
    assert_eq!(way.tunnel(&site.address.to_string(), "word").await, Ok("word".to_owned()));
    assert_eq!(way.get(&format!("http://{}/", site.address)).await.0, 200);

    let way = through(another).await;
    assert_eq!(way.tunnel("example.org:443", "word").await, Err(502));
    assert_eq!(way.get("http://example.org/").await.0, 502);
    for host in ["example.org:443", "example.org:80"] {
        let told = way.tally(host).unwrap().why.unwrap();
        let why = format!("the session's proxy {url}: invalid peer certificate");
        assert!(told.starts_with(&why), "{told}");
    }
    // It was told nothing of what was wanted.
    let hosts: Vec<_> =
        further.egress.ledger().tallies().into_iter().filter_map(|tally| tally.host).collect();
    assert_eq!(hosts, [site.address.to_string()]);
}
