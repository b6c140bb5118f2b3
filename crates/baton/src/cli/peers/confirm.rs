//! `baton peers confirm`, and how a person compares fingerprints.

use super::{Context, Reference};
use crate::output;
use baton_api::sync::{ConfirmPeer, PeerView};
use baton_api::{Client, Exit};
use baton_session::Fingerprint;
use baton_session::peer::PeerState;
use clap::Args;
use console::Term;
use std::io::IsTerminal;

/// Confirm that a pending peer is the node that you mean
#[derive(Debug, Args)]
#[command(after_help = "\
baton peers list shows at its top the fingerprint of the node that it asks. Look at it on the other
machine, and give it here; on a terminal you may leave it out, and are asked whether it is the same.
Nothing moves to a peer or from it before it is confirmed.

Examples:
  baton peers confirm server
  baton peers confirm server --fingerprint \"a1b2 c3d4 …\"")]
pub(crate) struct Confirm {
    #[command(flatten)]
    peer: Reference,
    /// The fingerprint that you saw at the other node
    #[arg(long)]
    fingerprint: Option<Fingerprint>,
}

/// Nobody said what the other node shows.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected the fingerprint that the other node shows, found none and no terminal\ngive it with \
     --fingerprint; baton peers list shows it there, at the top"
)]
pub(in crate::cli) struct NotCompared;

/// What a person says of two fingerprints.
enum Compared {
    Same,
    Different,
    NobodyToAsk,
}

impl Confirm {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        if self.fingerprint.is_none() && !can_ask() {
            return Err(NotCompared.into());
        }
        let client = context.client().await?;
        let Some(fingerprint) = self.fingerprint else {
            let peer = client.ping_peer(&self.peer.id).await?;
            return settle(context, &client, peer).await;
        };
        let confirmed = client.confirm_peer(&self.peer.id, &ConfirmPeer { fingerprint }).await?;
        context.output.answer(&confirmed, || output::peer(&confirmed));
        Ok(Exit::Done)
    }
}

/// Ends the registration of a peer: asks whether a pending one is the node that is meant, and says how
/// it stands.
pub(super) async fn settle(
    context: &Context,
    client: &Client,
    peer: PeerView,
) -> anyhow::Result<Exit> {
    let output = context.output;
    if peer.state == PeerState::Confirmed {
        output.answer(&peer, || output::peer(&peer));
        return Ok(Exit::Done);
    }
    match compare(&peer)? {
        Compared::Same => {
            let request = ConfirmPeer { fingerprint: peer.fingerprint };
            let confirmed = client.confirm_peer(&peer.node_id.to_string(), &request).await?;
            output.answer(&confirmed, || output::peer(&confirmed));
            Ok(Exit::Done)
        }
        Compared::Different => {
            output.answer(&peer, || output::peer(&peer));
            output.note(&format!(
                "somebody else may answer at that address: baton peers remove {} forgets it",
                shell_words::quote(&peer.name)
            ));
            Ok(Exit::Failed)
        }
        Compared::NobodyToAsk => {
            output.answer(&peer, || output::peer(&peer));
            Ok(Exit::Done)
        }
    }
}

fn can_ask() -> bool {
    std::io::stdin().is_terminal() && Term::stderr().is_term()
}

fn compare(peer: &PeerView) -> anyhow::Result<Compared> {
    if !can_ask() {
        return Ok(Compared::NobodyToAsk);
    }
    let terminal = Term::stderr();
    terminal.write_line(&output::fingerprint(peer))?;
    terminal.write_line("baton peers list shows the other one on that machine, at the top.")?;
    terminal.write_str("Are they the same? [y/N] ")?;
    let answer = terminal.read_line()?;
    let agreed = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    Ok(if agreed { Compared::Same } else { Compared::Different })
}
