//! All hosts of the network of the story, the listed one among them: they take whoever comes, at the ports that ways
//! lead to, and remember what came first.

use super::listed;
use super::records::Records;
use super::way::{INSPECTED, LISTED, Way, Ways};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::timeout;

/// Where the web, proxies, and the servers of WebRTC listen.
const PORTS: [u16; 6] = [80, 443, 1080, 3478, 5349, 8080];
const UDP_PORTS: [u16; 2] = [443, 3478];
/// How long a client that came may say nothing.
const SILENCE: Duration = Duration::from_secs(5);

/// What every other host answers, whatever it is asked for.
const ANSWER: &str = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\n\
    Access-Control-Allow-Headers: *\r\nAccess-Control-Allow-Methods: *\r\nContent-Length: 0\r\n\
    Connection: close\r\n\r\n";

/// Listens at all hosts, for as long as the process lives.
pub(super) async fn listen(ways: &Arc<Ways>, records: &Records) {
    let own = ways.all().iter().map(Way::port);
    for port in PORTS.into_iter().chain(INSPECTED).chain(own) {
        // Addresses of version 4 come there as well.
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await.unwrap();
        let (ways, records) = (Arc::clone(ways), records.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&ways), records.clone()));
            }
        });
    }
    for way in ways.all() {
        for port in UDP_PORTS {
            let socket = UdpSocket::bind((way.address(), port)).await.unwrap();
            tokio::spawn(hear(socket, *way, records.clone()));
        }
    }
}

async fn hear(socket: UdpSocket, way: Way, records: Records) {
    let mut message = [0; 1500];
    while let Ok(length) = socket.recv(&mut message).await {
        records.came(&way, format!("{length} bytes of UDP"));
    }
}

async fn serve(mut stream: TcpStream, ways: Arc<Ways>, records: Records) {
    let here = stream.local_addr().unwrap();
    let here = SocketAddr::new(here.ip().to_canonical(), here.port());
    let way = ways.at(here);
    if let Some(way) = &way {
        records.came(way, format!("port {}", here.port()));
    }
    let mut first = vec![0; 16 << 10];
    let read = timeout(SILENCE, stream.read(&mut first)).await;
    let first = &first[..read.unwrap_or(Ok(0)).unwrap_or(0)];
    let line = first.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line).into_owned();
    if let Some(way) = &way
        && !first.is_empty()
    {
        records.came(way, format!("port {}: {}", here.port(), line.escape_default()));
    }
    let Some(path) = line.split(' ').nth(1).filter(|_| line.ends_with("HTTP/1.1")) else { return };
    let answer = if here.ip() == IpAddr::V4(LISTED.1) {
        records.served(path);
        listed::answer(&ways, path)
    } else {
        ANSWER.to_owned()
    };
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}
