//! Two connections that became one: a client's and another node's, once both speak WebSocket.
//!
//! The one idea: the node that let the client in ends what goes through it, at once, when the key is revoked, the
//! page ends or either node does: one that stands still closes nothing by itself. What goes through is not looked at,
//! and at most a buffer each way waits.

use crate::cluster::Cluster;
use crate::context::Context;
use crate::page::LivePage;
use baton_runtime::Caller;
use baton_store::ClusterRow;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::future::pending;
use std::io;
use std::time::Duration;
use tokio::io::copy_bidirectional_with_sizes;

/// How often it is looked whether the key was revoked at another node.
const LOOK_PAUSE: Duration = Duration::from_millis(500);
/// What waits each way, in bytes.
const BUFFER: usize = 64 << 10;

/// With what a connection ends.
pub(super) struct End {
    /// Whose key let the client in; none where a ticket did, which the other node looks after.
    pub(super) caller: Option<Caller>,
    /// The page that the ticket was given to.
    pub(super) page: Option<LivePage>,
    pub(super) cluster: Cluster,
    /// The other node.
    pub(super) row: ClusterRow,
}

/// Passes bytes both ways until one side leaves, or the client may not stay.
pub(super) async fn join(context: Context, end: End, client: OnUpgrade, other: OnUpgrade) {
    // A node through which a browser is used is of use.
    let _in_use = context.activity.start_request();
    let End { caller, page, cluster, row } = end;
    let joined = async {
        let (client, other) = tokio::try_join!(client, other).map_err(io::Error::other)?;
        let (mut client, mut other) = (TokioIo::new(client), TokioIo::new(other));
        copy_bidirectional_with_sizes(&mut client, &mut other, BUFFER, BUFFER).await
    };
    let revocation = async {
        match &caller {
            Some(caller) => context.revocation(caller, LOOK_PAUSE).await,
            None => pending().await,
        }
    };
    let page_end = async {
        match page {
            Some(page) => page.end().await,
            None => pending().await,
        }
    };
    tokio::select! {
        joined = joined => if let Err(error) = joined {
            tracing::debug!(%error, "a connection through this node ended early");
        },
        () = context.ending.cancelled() => {}
        () = cluster.until_gone(&row) => {
            tracing::info!(node = row.member.name, "a connection ended: the node that it leads to is gone");
        }
        () = page_end => {}
        () = revocation => {}
    }
}
