//! The listener for peers: TLS with a certificate that the node makes itself, and behind it what nodes say to
//! each other, and nothing else.
//!
//! The one idea: whoever reaches this listener gets an answer to a message that a node has signed, or hears
//! whether the node lives. Keys of people, sessions, sandboxes and all else are asked for at the other one.

use super::peer_router;
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::{HttpConfig, Refusal};
use crate::peer_place::{OpenListener, reached_at};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_api::ErrorCode;
use baton_net::certificate::{CertificateFault, OwnCertificate};
use baton_net::connections::Listener;
use baton_runtime::keys::StoredKeys;
use baton_sync::messages::BATON_NODE;
use baton_sync::peers::ReachableAt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;
use tokio::time::sleep;
use url::Url;

/// For what the key of the certificate is made of this node's own.
const PURPOSE: &str = "baton peer certificate v1";
/// The largest body of a route that says nothing of it.
const BODY_BYTES: usize = 1 << 20;
/// How often a listener is tried again that could not be opened at the start.
const AGAIN: Duration = Duration::from_secs(10);

/// Opens the listener, in the place of the one that there was, and notes that it is to be opened at each start.
pub(super) async fn open(context: &Context, address: SocketAddr) -> Result<(), NodeError> {
    let opened = open_now(context, address).await?;
    let opened = opened.to_string();
    Ok(context.store.set_peer_listener(context.node, Some(&opened)).await?)
}

async fn open_now(context: &Context, address: SocketAddr) -> Result<SocketAddr, NodeError> {
    let failed = |source| NodeError::PeerListener { address, source };
    let mut open = context.peer_place.open().await;
    if let Some(open) = open.as_ref().filter(|open| open.address == address) {
        return Ok(open.address);
    }
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let acceptor = certificate(context).and_then(|certificate| certificate.acceptor());
    let acceptor = acceptor.map_err(|error| failed(io::Error::other(error)))?;
    let ending = context.ending.child_token();
    let config = HttpConfig {
        address,
        tls: true,
        behind_proxy: false,
        published: None,
        allowed_hosts: Vec::new(),
        body_bytes: BODY_BYTES,
        for_peers: true,
    };
    let listening = Listener {
        listener,
        tls: Some(acceptor),
        service: peer_router(context.clone(), &config),
        bounds: context.peer_place.bounds(),
        behind_proxy: false,
        keys: Some(Arc::new(StoredKeys(context.store.clone()))),
    };
    let until = ending.clone();
    context.tasks.spawn(async move { listening.answer(&until).await });
    tracing::info!(%address, "listens for peers");
    *open = Some(OpenListener { address, ending });
    Ok(address)
}

/// Closes the listener, whatever becomes of the note; it is not opened at the next start.
pub(super) async fn close(context: &Context) -> Result<(), NodeError> {
    if context.peer_place.open().await.take().is_some() {
        tracing::info!("listens for peers no more");
    }
    Ok(context.store.set_peer_listener(context.node, None).await?)
}

/// Opens the listener that the node had when it ended. Where its address is not there yet, as that of a network
/// that comes later, it is tried again.
pub async fn reopen(context: Context) {
    let mut is_told = false;
    let reopening = async {
        loop {
            let Err(error) = try_again(&context).await else { return };
            if !is_told {
                tracing::error!(%error, "does not listen for peers, and tries again");
                is_told = true;
            }
            sleep(AGAIN).await;
        }
    };
    let _ = context.ending.run_until_cancelled(reopening).await;
}

async fn try_again(context: &Context) -> Result<(), NodeError> {
    let Some(text) = context.store.fetch_peer_listener(context.node).await? else { return Ok(()) };
    let Ok(address) = text.parse() else {
        tracing::error!(text, "expected the address of the listener for peers, found another text");
        return Ok(());
    };
    // Somebody may have opened one meanwhile.
    if context.peer_place.address().await.is_none() {
        open_now(context, address).await?;
    }
    Ok(())
}

fn certificate(context: &Context) -> Result<Arc<OwnCertificate>, CertificateFault> {
    let secret = context.own.identity.secret().derive(PURPOSE);
    Ok(Arc::new(OwnCertificate::new(&secret, SystemTime::now())?))
}

/// Where another machine asks this node: at the listener for peers, which `listens` there, or at the address that
/// the settings say; `named` by a person who knows better goes before what this node finds.
pub(super) fn reachable(
    context: &Context,
    listens: Option<SocketAddr>,
    named: Vec<Url>,
) -> Result<ReachableAt, NodeError> {
    let settings = &context.own.node_settings;
    let said: Vec<Url> =
        settings.public_url.iter().chain(&settings.internal_url).cloned().collect();
    let Some(listens) = listens else {
        return match (named.is_empty(), said.is_empty()) {
            (_, true) => Err(NodeError::NotReachable),
            (true, false) => Ok(ReachableAt { addresses: said, pin: None }),
            (false, false) => Ok(ReachableAt { addresses: named, pin: None }),
        };
    };
    let certificate = certificate(context).map_err(|error| NodeError::PeerListener {
        address: listens,
        source: io::Error::other(error),
    })?;
    let addresses = if named.is_empty() { reached_at(listens) } else { named };
    Ok(ReachableAt { addresses, pin: Some(certificate.pin()) })
}

/// The layer: refuses what no node has signed, but for the question whether this one lives.
pub(super) async fn expect_signed(request: Request, next: Next) -> Response {
    if request.uri().path() == "/health" || request.headers().contains_key(BATON_NODE) {
        return next.run(request).await;
    }
    let detail = "expected a message that a node has signed, for this listener is for peers alone; found \
                  one without a signature";
    Refusal::new(ErrorCode::Forbidden, detail).into_response()
}
