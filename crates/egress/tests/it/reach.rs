//! What is reached, what is refused, and what is noted of it.

use crate::fixture::{Anybody, Echo, Nobody, Way, eventually, fence};
use baton_egress::{Egress, Guests, Limits, Others, Route};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

#[tokio::test]
async fn what_is_listed_is_reached_with_and_without_tls_and_counted() {
    let site = Echo::start().await;
    let port = site.address.port();
    let way = Way::within(fence(&["localhost"], Others::None)).await;
    let (status, heard) = way.get(&format!("http://shop.localhost:{port}/a?b=c")).await;
    assert_eq!(status, 200);
    let lines: Vec<&str> = heard.trim_end().lines().collect();
    // The site is told the host of the address, whatever the client says beside it.
    let host = format!("host: shop.localhost:{port}");
    assert_eq!(lines[0], "GET /a?b=c HTTP/1.1");
    assert!(lines.iter().any(|line| line.eq_ignore_ascii_case(&host)), "{lines:?}");
    assert_eq!(way.tunnel(&format!("127.0.0.1:{port}"), "word").await, Ok("word".to_owned()));

    let page = way.tally(&format!("shop.localhost:{port}")).unwrap();
    assert_eq!((page.connections, page.refused, page.failed), (1, 0, 0));
    assert_eq!(page.received, heard.len() as u64);
    let tunnel = way.tally(&format!("127.0.0.1:{port}")).unwrap();
    assert_eq!((tunnel.connections, tunnel.sent, tunnel.received), (1, 4, 4));
}

#[tokio::test]
async fn what_is_not_listed_is_refused_before_anybody_is_asked_and_noted() {
    let site = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = site.local_addr().unwrap().port();
    let way = Way::within(fence(&["example.org"], Others::None)).await;
    for host in ["127.0.0.1", "localhost", "127.1", "0x7f000001", "[::ffff:127.0.0.1]"] {
        assert_eq!(way.tunnel(&format!("{host}:{port}"), "word").await, Err(403), "{host}");
        let (status, text) = way.get(&format!("http://{host}:{port}/")).await;
        assert_eq!((status, text.as_str()), (403, "This session may not reach this host.\n"));
    }
    // Nobody came.
    let came = tokio::time::timeout(std::time::Duration::from_millis(50), site.accept()).await;
    assert!(came.is_err(), "{came:?}");
    let refused = way.tally(&format!("127.0.0.1:{port}")).unwrap();
    assert_eq!((refused.connections, refused.refused), (0, 8), "all spellings are one host");
    assert_eq!(refused.why.unwrap(), "this session may not reach it: it is not listed");
}

#[tokio::test]
async fn private_addresses_are_refused_where_only_the_internet_is_open() {
    let site = Echo::start().await;
    let port = site.address.port();
    let way = Way::within(fence(&[], Others::Public)).await;
    assert_eq!(way.tunnel(&format!("localhost:{port}"), "word").await, Err(403));
    assert_eq!(way.tunnel("169.254.169.254:80", "word").await, Err(403));
    let refused = way.tally("169.254.169.254:80").unwrap();
    assert_eq!(
        refused.why.unwrap(),
        "it leads to the private address 169.254.169.254, which is not listed"
    );
}

#[tokio::test]
async fn what_does_not_answer_is_told_as_that() {
    let port = {
        let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
        gone.local_addr().unwrap().port()
    };
    let way = Way::within(fence(&[], Others::All)).await;
    assert_eq!(way.tunnel(&format!("127.0.0.1:{port}"), "word").await, Err(502));
    let (status, _) = way.get(&format!("http://127.0.0.1:{port}/")).await;
    assert_eq!(status, 502);
    let failed = way.tally(&format!("127.0.0.1:{port}")).unwrap();
    assert_eq!((failed.connections, failed.failed), (0, 2));
    assert!(failed.why.as_ref().unwrap().contains("refused"), "{failed:?}");
}

#[tokio::test]
async fn what_is_no_request_to_a_proxy_is_refused() {
    let way = Way::within(fence(&[], Others::All)).await;
    for request in [
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET ftp://a/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "CONNECT example.org HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    ] {
        assert_eq!(way.say(request).await.0, 400, "{request}");
    }
    assert!(way.egress.ledger().tallies().is_empty());
}

#[tokio::test]
async fn who_may_not_come_is_not_heard() {
    let site = Echo::start().await;
    let way = Way::new(fence(&[], Others::All), None, Arc::new(Nobody)).await;
    assert_eq!(way.tunnel(&site.address.to_string(), "word").await, Err(0));
    assert!(way.egress.ledger().tallies().is_empty());
}

/// Lets everybody in but a stranger, whom it looks at for as long as nobody ends that.
#[derive(Debug)]
struct LooksLong {
    stranger: SocketAddr,
    until: Mutex<Receiver<()>>,
}

impl Guests for LooksLong {
    fn may_come(&self, client: SocketAddr, _: SocketAddr) -> bool {
        let is_stranger = client == self.stranger;
        if is_stranger {
            let _ = self.until.lock().unwrap().recv();
        }
        !is_stranger
    }
}

#[tokio::test]
async fn while_a_stranger_is_looked_at_the_browser_is_served() {
    let site = Echo::start().await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let (end, until) = channel();
    let stranger = socket.local_addr().unwrap();
    let guests = Arc::new(LooksLong { stranger, until: Mutex::new(until) });
    let way = Way::new(fence(&[], Others::All), None, guests).await;

    let mut stranger = socket.connect(way.address).await.unwrap();
    let page = format!("http://{}/", site.address);
    let served = tokio::time::timeout(Duration::from_secs(10), way.get(&page)).await;
    assert_eq!(served.unwrap().0, 200);
    end.send(()).unwrap();
    assert_eq!(stranger.read(&mut [0]).await.unwrap_or(0), 0, "it is let go without a word");
}

#[tokio::test]
async fn a_tunnel_keeps_the_place_of_its_connection() {
    const PLACES: usize = 2;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = listener.local_addr().unwrap().to_string();
    let (here, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, highest) = (Arc::clone(&here), Arc::clone(&most));
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            highest.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let counted = Arc::clone(&counted);
            tokio::spawn(async move {
                let mut word = [0; 4];
                stream.read_exact(&mut word).await.unwrap();
                // Whoever else could come by now has.
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
                counted.fetch_sub(1, Ordering::SeqCst);
                stream.write_all(&word).await.unwrap();
            });
        }
    });
    let egress = Egress::new(vec![fence(&[], Others::All)], Route::Direct);
    let limits = Limits { places: PLACES, ..Limits::default() };
    let way = Way::serving(egress.within(limits), Arc::new(Anybody)).await;
    let tunnels = (0..20).map(|_| way.tunnel(&target, "word"));
    let said = futures_util::future::join_all(tunnels).await;
    assert!(said.iter().all(|word| word.as_deref() == Ok("word")), "{said:?}");
    assert_eq!((here.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (0, PLACES));
}

/// A site that takes whoever comes, and neither says nor ends anything.
async fn silent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let mut all = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            all.push(stream);
        }
    });
    address
}

#[tokio::test]
async fn who_left_a_host_that_never_ends_keeps_no_place() {
    let (silent, site) = (silent().await, Echo::start().await);
    let egress = Egress::new(vec![fence(&[], Others::All)], Route::Direct);
    let half_closed = Duration::from_millis(50);
    let limits = Limits { places: 2, half_closed, ..Limits::default() };
    let way = Way::serving(egress.within(limits), Arc::new(Anybody)).await;
    for _ in 0..4 {
        // It says that nothing more comes, and waits for what the host says, which is nothing.
        let left = tokio::time::timeout(Duration::from_secs(10), way.tunnel(&silent, "word")).await;
        assert_eq!(left.unwrap(), Ok(String::new()));
    }
    let target = site.address.to_string();
    assert_eq!(way.tunnel(&target, "word").await, Ok("word".to_owned()));
    assert_eq!(way.tally(&silent).unwrap().connections, 4);
}

#[tokio::test]
async fn that_no_place_is_free_is_told() {
    let silent = silent().await;
    let egress = Egress::new(vec![fence(&[], Others::All)], Route::Direct);
    let limits = Limits { places: 1, crowded: Duration::from_millis(50), ..Limits::default() };
    let way = Way::serving(egress.within(limits), Arc::new(Anybody)).await;
    let mut first = TcpStream::connect(way.address).await.unwrap();
    let request = format!("CONNECT {silent} HTTP/1.1\r\nHost: {silent}\r\n\r\n");
    first.write_all(request.as_bytes()).await.unwrap();
    first.read_exact(&mut [0; 12]).await.unwrap();
    let is_told = || way.egress.ledger().tallies().into_iter().find(|tally| tally.host.is_none());
    assert_eq!(is_told(), None, "nobody else has come");

    let _second = TcpStream::connect(way.address).await.unwrap();
    let told = eventually(async || is_told()).await;
    assert_eq!(
        told.why.unwrap(),
        "nothing more was taken for 50ms: all 1 connections at once are in use"
    );
}
