//! Which peers a command is about.

use crate::output::{self, Failed, Output};
use baton_api::Client;
use baton_api::sync::{DifferenceList, PeerView};
use baton_session::peer::PeerState;
use futures_util::{StreamExt as _, stream};

/// How many peers are asked at once: one that is silent keeps nobody waiting but itself.
const ASKED_AT_ONCE: usize = 16;
/// What is shown while peers are asked.
const ASKING: &str = "asking what differs";

/// How sessions stand here and at peers, and which peers could not say.
#[derive(Default)]
pub(super) struct Stand {
    pub(super) lists: Vec<DifferenceList>,
    pub(super) failed: Vec<Failed>,
    /// Confirmed peers that have no address: they ask this node.
    pub(super) asking: Vec<String>,
}

impl Stand {
    /// How many peers were asked.
    pub(super) fn asked(&self) -> usize {
        self.lists.len() + self.failed.len()
    }
}

/// Asks the peer that was named, or all that are confirmed and can be asked. One that was named has to
/// answer; of all, those that do not are told and the others count.
pub(super) async fn ask(
    client: &Client,
    named: Option<&str>,
    output: Output,
) -> anyhow::Result<Stand> {
    if let Some(peer) = named {
        let progress = output.progress(ASKING);
        let asked = client.list_differences(peer).await;
        progress.end();
        return Ok(Stand { lists: vec![asked?], ..Stand::default() });
    }
    let mut peers = client.list_known_peers().await?.items;
    let asks = |peer: &&PeerView| peer.state == PeerState::Confirmed && peer.url.is_none();
    let asking: Vec<String> = peers.iter().filter(asks).map(|peer| peer.name.clone()).collect();
    // What is left out is told before anything moves on the terminal.
    peers.retain(|peer| is_asked(peer, output));
    let progress = output.progress(ASKING);
    let mut stand = Stand { asking, ..Stand::default() };
    let asked = stream::iter(peers).map(|peer| async move {
        let said = client.list_differences(&peer.node_id.to_string()).await;
        said.map_err(|error| Failed::peer(peer.name, &error))
    });
    for said in asked.buffered(ASKED_AT_ONCE).collect::<Vec<_>>().await {
        match said {
            Ok(list) => stand.lists.push(list),
            Err(failed) => stand.failed.push(failed),
        }
    }
    progress.end();
    Ok(stand)
}

fn is_asked(peer: &PeerView, output: Output) -> bool {
    let name = &peer.name;
    let next = output::next_for_peer(peer);
    let why = match (&peer.url, next) {
        (_, Some(next)) if peer.state == PeerState::Pending => {
            format!("{name} is pending, and left out: {next}")
        }
        (_, Some(next)) => {
            format!("nobody has given an API key of {name}, which is left out: {next}")
        }
        (None, None) => format!("{name} has no address, and is left out: it asks this node"),
        (Some(_), None) => return true,
    };
    output.note(&why);
    false
}
