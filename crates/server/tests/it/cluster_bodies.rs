//! What one node of a cluster says to another is changed on its way: a request that is not long does nothing then, and
//! an answer that is not long counts for nothing.

use crate::cluster::{MASTER_KEY, choices, open};
use crate::fixture::{Folder, Node};
use baton_api::{ErrorCode, PassSession, Scope};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// A text, and one of the same length that is put in its place.
type Swap = Option<(&'static str, &'static str)>;

/// Somebody in the network between two nodes.
struct Between {
    port: u16,
    swap: watch::Sender<Swap>,
    _task: AbortOnDropHandle<()>,
}

impl Between {
    /// Passes everything on to there, from a port of its own.
    async fn sit(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (swap, swaps) = watch::channel(None);
        let task = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let (from_near, to_near) = near.into_split();
                let (from_far, to_far) = TcpStream::connect(to).await.unwrap().into_split();
                tokio::spawn(carry(from_near, to_far, swaps.clone()));
                tokio::spawn(carry(from_far, to_near, swaps.clone()));
            }
        });
        Self { port, swap, _task: AbortOnDropHandle::new(task) }
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, swaps: watch::Receiver<Swap>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let piece = &mut buffer[..read];
        let swap = *swaps.borrow();
        if let Some((found, instead)) = swap {
            assert_eq!(found.len(), instead.len());
            let is_found = |window: &[u8]| window == found.as_bytes();
            while let Some(at) = piece.windows(found.len()).position(is_found) {
                piece[at..at + found.len()].copy_from_slice(instead.as_bytes());
            }
        }
        if to.write_all(piece).await.is_err() {
            return;
        }
    }
}

/// A node that is asked by the others at this port, or where it listens.
async fn start(database: &str, name: &str, listener: TcpListener, internal: Option<u16>) -> Node {
    let port = internal.unwrap_or(listener.local_addr().unwrap().port());
    let folder = Folder::new();
    let mut config = folder.config_with(choices(database, name, port)).unwrap();
    config.master_key = Some(MASTER_KEY.into());
    folder.start_at(config, listener).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_changed_between_two_nodes_does_nothing() {
    let database = baton_postgres::create_database().unwrap();
    let store = open(&database).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let between = Between::sit(listener.local_addr().unwrap()).await;
    let right = start(&database, "right", listener, Some(between.port)).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let wrong = start(&database, "wrong", listener, None).await;
    right.folder.seed(&store, "ada", "shop").await;
    let ada = wrong.as_owner("ada", &[Scope::Read, Scope::Drive]).await;
    let pass = PassSession { to: Some("alpha".parse().unwrap()), reason: None };

    between.swap.send_replace(Some(("alpha", "omega")));
    let refused = ada.pass_session("shop", &pass).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Untrusted), "{refused}");
    assert!(refused.to_string().contains("found another body"), "{refused}");
    between.swap.send_replace(None);
    let shown = ada.fetch_session("shop").await.unwrap().session;
    assert!(shown.agent.is_none(), "it was passed to nobody");
    let passed = ada.pass_session("shop", &pass).await.unwrap();
    assert_eq!(passed.session.agent.unwrap().agent.as_str(), "alpha");

    between.swap.send_replace(Some(("\"alpha\"", "\"omega\"")));
    let refused = ada.fetch_session("shop").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::NodeUnreachable), "{refused}");
    assert!(refused.to_string().contains("an answer that was changed on its way"), "{refused}");
    between.swap.send_replace(None);
    ada.fetch_session("shop").await.unwrap();
    store.close().await;
    wrong.stop().await;
    right.stop().await;
}
