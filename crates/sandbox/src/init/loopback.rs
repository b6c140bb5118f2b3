//! Ports of the machine's loopback that a sandbox may reach, where its programs look for them.
//!
//! The one idea: `http://127.0.0.1:3000` is the same page in a sandbox as outside, so that whoever is
//! logged in there is logged in here. Each connection is passed on to where this network has the machine's
//! loopback; the rules of the network are asked as they are for that address itself.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// How many connections are passed on at once, of all ports together.
const CONNECTIONS: usize = 256;
/// How long the machine may take to answer a connection.
const LIMIT: Duration = Duration::from_secs(10);
/// When it is tried again to take a connection, where there are no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// Passes on, from now on and in a thread of its own, what connects to these ports here. A port that cannot
/// be had is left out.
pub(super) fn open(ports: &[u16], host: Ipv4Addr) -> std::io::Result<()> {
    let doors: Vec<_> = ports.iter().filter_map(|port| bind(*port).ok().zip(Some(*port))).collect();
    if doors.is_empty() {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("loopback".to_owned()).spawn(move || {
        runtime.block_on(async {
            let places = Arc::new(Semaphore::new(CONNECTIONS));
            for (door, port) in doors {
                if let Ok(door) = TcpListener::from_std(door) {
                    tokio::spawn(serve(door, SocketAddrV4::new(host, port), Arc::clone(&places)));
                }
            }
            std::future::pending::<()>().await;
        });
    })?;
    Ok(())
}

fn bind(port: u16) -> std::io::Result<std::net::TcpListener> {
    let door = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    door.set_nonblocking(true)?;
    Ok(door)
}

async fn serve(door: TcpListener, host: SocketAddrV4, places: Arc<Semaphore>) {
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match door.accept().await {
            Ok((client, _)) => {
                tokio::spawn(async move {
                    let _place = place;
                    pass(client, host).await;
                });
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// Passes bytes on until both sides have said all. What breaks is seen by the two that it is between.
async fn pass(mut client: TcpStream, host: SocketAddrV4) {
    if let Ok(Ok(mut host)) = timeout(LIMIT, TcpStream::connect(host)).await {
        let _ = copy_bidirectional(&mut client, &mut host).await;
    }
}
