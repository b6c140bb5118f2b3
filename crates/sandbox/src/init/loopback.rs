//! Ports of a sandbox's loopback behind which the machine's own are: what connects there is passed on.
//!
//! The one idea: `http://127.0.0.1:3000` is the same page in a sandbox as outside, so that a login there is a login
//! here. Each connection is passed on to where this network has the machine's loopback; the rules of the network are
//! asked as they are for that address itself.
//!
//! Who has ended one half of a connection may wait for the rest of the other one as long as that comes. A program of
//! the machine that never ends its half would keep the place of whoever has left; so a half that is alone and silent
//! is let go.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How many connections are passed on at once, of all ports together.
const CONNECTIONS: usize = 256;
/// How long the machine may take to answer a connection.
const LIMIT: Duration = Duration::from_secs(10);
/// When it is tried again to take a connection, where there are no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);
/// For how long one half goes on without a byte once the other one has ended.
const HALF_CLOSED: Duration = Duration::from_mins(1);
/// How much is passed on at once, in bytes.
const CHUNK: usize = 8 << 10;

/// Passes on, from now on and in a thread of its own, what connects to these ports here. A port that cannot
/// be had is left out.
pub(super) fn open(ports: &[u16], host: Ipv4Addr) -> io::Result<()> {
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
                    tokio::spawn(serve_port(
                        door,
                        SocketAddrV4::new(host, port),
                        Arc::clone(&places),
                    ));
                }
            }
            std::future::pending::<()>().await;
        });
    })?;
    Ok(())
}

fn bind(port: u16) -> io::Result<std::net::TcpListener> {
    let door = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    door.set_nonblocking(true)?;
    Ok(door)
}

async fn serve_port(door: TcpListener, host: SocketAddrV4, places: Arc<Semaphore>) {
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match door.accept().await {
            Ok((client, _)) => {
                tokio::spawn(async move {
                    let _place = place;
                    if let Ok(Ok(host)) = timeout(LIMIT, TcpStream::connect(host)).await {
                        // What breaks is seen by the two that it is between.
                        let _ = pass(client, host, HALF_CLOSED).await;
                    }
                });
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// Passes bytes on until both sides have said all; or one has, and nothing moved for `limit`.
async fn pass(client: TcpStream, host: TcpStream, limit: Duration) -> io::Result<()> {
    let (of_client, to_client) = client.into_split();
    let (of_host, to_host) = host.into_split();
    let (client_ended, host_ended) = (CancellationToken::new(), CancellationToken::new());
    let asks = pass_half(of_client, to_host, &client_ended, &host_ended, limit);
    let answers = pass_half(of_host, to_client, &host_ended, &client_ended, limit);
    tokio::try_join!(asks, answers).map(drop)
}

/// Passes one half on until it ends, which is noted in `ended` and passed on as well.
async fn pass_half(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    ended: &CancellationToken,
    other_ended: &CancellationToken,
    limit: Duration,
) -> io::Result<()> {
    let mut bytes = vec![0; CHUNK];
    loop {
        let moves = async {
            let read = from.read(&mut bytes).await?;
            to.write_all(&bytes[..read]).await?;
            Ok::<_, io::Error>(read)
        };
        let read = tokio::select! {
            read = moves => read?,
            () = is_still(other_ended, limit) => return Err(io::ErrorKind::TimedOut.into()),
        };
        if read == 0 {
            ended.cancel();
            return to.shutdown().await;
        }
    }
}

/// Waits until the other half has ended, and for so long after that.
async fn is_still(other_ended: &CancellationToken, limit: Duration) {
    other_ended.cancelled().await;
    sleep(limit).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::JoinHandle;

    /// The outer ends of a client's connection that is passed on to a host.
    async fn passed(limit: Duration) -> (TcpStream, TcpStream, JoinHandle<io::Result<()>>) {
        let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let machine = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let client = TcpStream::connect(door.local_addr().unwrap()).await.unwrap();
        let to_host = TcpStream::connect(machine.local_addr().unwrap()).await.unwrap();
        let (of_client, _) = door.accept().await.unwrap();
        let (host, _) = machine.accept().await.unwrap();
        (client, host, tokio::spawn(pass(of_client, to_host, limit)))
    }

    #[tokio::test]
    async fn who_has_said_all_hears_the_answer_and_its_end() {
        let (mut client, mut host, passing) = passed(HALF_CLOSED).await;
        client.write_all(b"all that it asks").await.unwrap();
        client.shutdown().await.unwrap();
        let (mut asked, mut answered) = (String::new(), String::new());
        host.read_to_string(&mut asked).await.unwrap();
        host.write_all(b"the answer").await.unwrap();
        drop(host);
        client.read_to_string(&mut answered).await.unwrap();
        assert_eq!((&*asked, &*answered), ("all that it asks", "the answer"));
        passing.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_host_that_never_ends_keeps_no_place_of_who_has_left() {
        let (client, mut host, passing) = passed(Duration::from_millis(50)).await;
        drop(client);
        assert_eq!(host.read(&mut [0]).await.unwrap(), 0, "it hears that the client has left");
        let error = passing.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn two_that_say_nothing_and_end_nothing_stay() {
        let limit = Duration::from_millis(20);
        let (mut client, mut host, passing) = passed(limit).await;
        sleep(limit * 5).await;
        client.write_all(b"a").await.unwrap();
        assert_eq!(host.read_u8().await.unwrap(), b'a');
        assert!(!passing.is_finished());
    }
}
