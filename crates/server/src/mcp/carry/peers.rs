//! The caller's peers: what people call them, and which of them are asked.

use crate::mcp::answer::Failure;
use crate::mcp::verb::Call;
use baton_api::sync::{PeerList, PeerView, pending_there};
use baton_api::{Answers, ErrorCode};
use baton_runtime::shell::word;
use baton_session::NodeId;
use baton_session::peer::PeerState;
use baton_sync::SyncError;
use futures_util::{StreamExt as _, stream};

use super::text;

/// How many peers are asked at once: one that is silent keeps nobody waiting but itself.
const ASKED_AT_ONCE: usize = 16;

/// This node and the caller's peers.
pub(super) struct Peers(PeerList);

impl Peers {
    /// The peers of the caller's owner, each with whether it answers.
    pub(super) async fn of(call: &Call) -> Result<Self, Failure> {
        Ok(Self(baton_sync::peers::list(&call.context, &call.caller).await?))
    }

    /// The same for whoever needs their names, or asks them next anyway: they are not asked whether they
    /// answer.
    pub(super) async fn known(call: &Call) -> Result<Self, Failure> {
        Ok(Self(baton_sync::peers::known(&call.context, &call.caller).await?))
    }

    /// All of them, by name.
    pub(super) fn all(&self) -> &[PeerView] {
        &self.0.items
    }

    /// Those that are confirmed and have an address; of these the one that was named, if one was. A
    /// name that is none of them goes to the operation as it is, which says what is wrong with it.
    pub(super) fn asked(&self, named: Option<&str>) -> Vec<String> {
        if let Some(named) = named {
            return vec![named.to_owned()];
        }
        let is_asked = |peer: &&PeerView| peer.state == PeerState::Confirmed && peer.url.is_some();
        self.all().iter().filter(is_asked).map(|peer| peer.node_id.to_string()).collect()
    }

    /// Those that are confirmed and have no address: they ask this node, and what they have is what they were
    /// last seen to have.
    pub(super) fn asking(&self) -> impl Iterator<Item = &PeerView> {
        self.all().iter().filter(|peer| peer.state == PeerState::Confirmed && peer.url.is_none())
    }

    /// Why none is asked.
    pub(super) fn nobody(&self) -> String {
        let names: Vec<String> = self.asking().map(|peer| text::plain(&peer.name)).collect();
        if names.is_empty() {
            return "No confirmed peers. browser_sync_list_peers tells how they stand.".to_owned();
        }
        format!(
            "No peer has an address here. Confirmed, and asking this node: {}.",
            names.join(", ")
        )
    }

    /// What people call a node; its id when it has no name here.
    pub(super) fn name(&self, node: NodeId) -> String {
        if node == self.0.this.node_id {
            return "this node".to_owned();
        }
        let named = self.all().iter().find(|peer| peer.node_id == node);
        named.map_or_else(|| node.to_string(), |peer| text::plain(&peer.name))
    }

    /// The same for what an operation was given as a peer.
    pub(super) fn name_of(&self, reference: &str) -> String {
        let is_meant = |peer: &&PeerView| peer.node_id.to_string() == reference;
        let named = self.all().iter().find(is_meant);
        named.map_or_else(|| text::plain(reference), |peer| text::plain(&peer.name))
    }
}

/// What peers say that are asked all at once, in their order.
pub(super) async fn at_once<T>(
    call: &Call,
    asking: Vec<impl Future<Output = Result<T, SyncError>>>,
) -> Vec<Result<T, SyncError>> {
    let asked = stream::iter(asking).buffered(ASKED_AT_ONCE).collect();
    call.progress.during("asking peers", asked).await
}

/// What a person types so that sessions move between this node and a peer; none where nothing is
/// missing.
pub(super) fn command(peer: &PeerView) -> Option<String> {
    let name = word(&peer.name);
    match (&peer.url, peer.state) {
        (Some(url), _) if !peer.has_key => {
            Some(baton_sync::command(url.as_str(), &peer.name, peer.auth_method))
        }
        (_, PeerState::Pending) => Some(format!("baton peers confirm {name}")),
        (_, PeerState::Confirmed) => None,
    }
}

/// What a person does at a peer that has not confirmed this node.
pub(super) fn waits_there(peer: &PeerView) -> Option<String> {
    let next = peer.confirm_there.as_deref()?;
    let told = pending_there(&text::plain(&peer.name));
    Some(format!("{told}; there, the user runs: {next}"))
}

/// How much goes to a peer and is taken from it; none where that is everything.
pub(super) fn limits(peer: &PeerView) -> Option<String> {
    let (give, take) = (&peer.limits.give, &peer.limits.take);
    let told = || format!("This node gives it {give}, and takes {take}.");
    (!peer.limits.is_none()).then(|| text::plain(&told()))
}

/// That a peer could not say something, and why, on one line; and what to do where it does not let this node
/// in.
pub(super) fn silent(name: &str, error: &SyncError) -> String {
    let problem = error.problem();
    let why = match (problem.code, text::plain(&problem.detail)) {
        (ErrorCode::PendingThere, why) => why,
        (_, why) => format!("{name} did not answer: {why}"),
    };
    let is_for_people = [ErrorCode::PeerDenied, ErrorCode::PendingThere].contains(&problem.code);
    match problem.hint.filter(|_| is_for_people) {
        Some(next) => format!("{why}. Next: {}", next.replace('\n', "; ")),
        None => why,
    }
}
