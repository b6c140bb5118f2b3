//! `baton peers ping`

use super::{Context, Reference};
use crate::output;
use baton_api::Exit;
use baton_api::sync::PeerStatus;
use clap::Args;

/// Ask a peer whether it answers, and whether it is who it was
#[derive(Debug, Args)]
#[command(after_help = "The exit code is 1 when it does not answer.")]
pub(crate) struct Ping {
    #[command(flatten)]
    peer: Reference,
}

impl Ping {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("asking the other node");
        let asked = client.ping_peer(&self.peer.id).await;
        progress.end();
        let peer = asked?;
        context.output.answer(&peer, || output::pinged(&peer));
        Ok(if peer.status == PeerStatus::Online { Exit::Done } else { Exit::Failed })
    }
}
