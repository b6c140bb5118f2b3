//! This node and its peers, for people.

use super::table;
use super::table::Table;
use baton_api::sync::{PeerList, PeerStatus, PeerView, pending_there};
use baton_session::peer::{AuthMethod, PeerState};
use baton_session::{NodeId, View};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// How many sites of a limit are shown.
const SITES_SHOWN: usize = 8;

/// What people call nodes.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<NodeId, String>);

impl Names {
    /// The names of this node and its peers.
    pub(crate) fn of(list: &PeerList) -> Self {
        let this = (list.this.node_id, "this node".to_owned());
        let peers = list.items.iter().map(|peer| (peer.node_id, peer.name.clone()));
        Self(std::iter::once(this).chain(peers).collect())
    }

    /// The name of a node; its id when it has none here.
    pub(super) fn name(&self, node: NodeId) -> String {
        self.0.get(&node).cloned().unwrap_or_else(|| node.to_string())
    }
}

/// This node with its fingerprint, then its peers.
pub(crate) fn peers(list: &PeerList) -> String {
    let this = &list.this;
    let mut lines = vec![
        format!("fingerprint  {}", list.fingerprint),
        format!(
            "this node    {}  {}",
            table::plain(&this.name),
            table::faint(&this.node_id.to_string())
        ),
        String::new(),
    ];
    if list.items.is_empty() {
        lines.push("no peers; baton peers invite here and baton peers join on another machine make two of them peers".to_owned());
        return lines.join("\n");
    }
    let now = Timestamp::now();
    let length = table::unique_length(list.items.iter().map(|peer| peer.node_id));
    let mut table = Table::new(&["PEER", "STATE", "ANSWERS", "HEARD", "SYNCED", "ADDRESS", "ID"]);
    for peer in &list.items {
        let age = |then: Option<Timestamp>| then.map(|then| table::age(then, now));
        table.row([
            peer.name.clone(),
            peer.state.to_string(),
            answers(peer.status).to_owned(),
            age(peer.last_seen).unwrap_or_else(|| "never".to_owned()),
            age(peer.last_sync).unwrap_or_else(|| "never".to_owned()),
            peer.url.as_ref().map_or_else(|| "it asks us".to_owned(), ToString::to_string),
            table::start(peer.node_id, length),
        ]);
    }
    lines.push(table.render());
    lines.extend(list.items.iter().filter(|peer| !peer.limits.is_none()).map(limits));
    let pending = list.items.iter().filter(|peer| peer.state != PeerState::Confirmed);
    lines.extend(pending.map(fingerprint));
    let keyless = list.items.iter().filter(|peer| peer.url.is_some() && !peer.has_key);
    lines.extend(keyless.map(key_is_missing));
    lines.extend(list.items.iter().filter_map(waits_there));
    lines.join("\n")
}

fn answers(status: PeerStatus) -> &'static str {
    match status {
        PeerStatus::Online => "yes",
        PeerStatus::Offline => "no",
        PeerStatus::Unknown => "not asked",
    }
}

/// How much goes to a peer, and how much is taken from it.
pub(crate) fn limits(peer: &PeerView) -> String {
    let (name, limits) = (table::plain(&peer.name), &peer.limits);
    if limits.is_none() {
        return format!("{name} has no limits: everything moves, both ways");
    }
    format!("this node gives {name} {}, and takes {}", part(&limits.give), part(&limits.take))
}

/// A part of sessions; of many sites the first ones.
fn part(view: &View) -> String {
    let sites = view.sites.iter().flatten();
    let more = sites.clone().count().saturating_sub(SITES_SHOWN);
    if more == 0 {
        return table::plain(&view.to_string());
    }
    let sites = Some(sites.take(SITES_SHOWN).cloned().collect());
    let first = View { sites, kinds: view.kinds.clone() };
    format!("{} ({})", table::plain(&first.to_string()), table::counted(more, "more site"))
}

/// The fingerprint that a peer gave.
pub(crate) fn fingerprint(peer: &PeerView) -> String {
    let name = table::plain(&peer.name);
    format!("{name} gave this fingerprint:\n  {}", peer.fingerprint)
}

/// Whether a peer is confirmed, and what comes next.
pub(crate) fn peer(peer: &PeerView) -> String {
    if peer.limits.is_none() {
        return stands(peer);
    }
    format!("{}\n{}", stands(peer), limits(peer))
}

/// What is to be done at a peer that has not confirmed this node.
pub(crate) fn waits_there(peer: &PeerView) -> Option<String> {
    let next = peer.confirm_there.as_deref()?;
    let told = table::doubtful(&pending_there(&table::plain(&peer.name)));
    Some(format!("{told}\nthere, run: {}", table::plain(next)))
}

fn stands(peer: &PeerView) -> String {
    let here = stands_here(peer);
    match waits_there(peer) {
        // What is left to do comes last.
        Some(there) => format!("{here}\n{there}"),
        None => here,
    }
}

fn stands_here(peer: &PeerView) -> String {
    let name = table::plain(&peer.name);
    match (peer.state, next_for_peer(peer)) {
        (PeerState::Confirmed, None) if peer.confirm_there.is_some() => {
            table::good(&format!("{name} is confirmed here"))
        }
        (PeerState::Confirmed, None) => {
            format!(
                "{} baton sync run moves sessions",
                table::good(&format!("{name} is confirmed;"))
            )
        }
        (PeerState::Confirmed, Some(_)) => {
            format!("{}\n{}", table::good(&format!("{name} is confirmed")), key_is_missing(peer))
        }
        (PeerState::Pending, _) => format!(
            "{}\n{}\nwhen baton peers list shows the same at the top on that machine, baton peers \
             confirm {} confirms it",
            table::doubtful(&format!("{name} is pending: nothing moves yet")),
            fingerprint(peer),
            shell_words::quote(&name),
        ),
    }
}

/// What a person types so that sessions move between this node and a peer; none where nothing is
/// missing.
pub(crate) fn next_for_peer(peer: &PeerView) -> Option<String> {
    let name = table::plain(&peer.name);
    let name = shell_words::quote(&name);
    match (&peer.url, peer.state) {
        (Some(url), _) if !peer.has_key => {
            let add = format!("baton peers add {} --name {name}", shell_words::quote(url.as_str()));
            Some(match peer.auth_method {
                AuthMethod::ApiKey => add,
                AuthMethod::Msal => {
                    format!("{add} --auth msal --tenant TENANT --client-id ID --scope SCOPE")
                }
                AuthMethod::Tunnel => format!("{add} --auth tunnel"),
            })
        }
        (_, PeerState::Pending) => Some(format!("baton peers confirm {name}")),
        (_, PeerState::Confirmed) => None,
    }
}

fn key_is_missing(peer: &PeerView) -> String {
    let (name, next) = (table::plain(&peer.name), next_for_peer(peer).unwrap_or_default());
    let key = match peer.auth_method {
        AuthMethod::ApiKey => "an API key of",
        AuthMethod::Msal => "a client of the provider for",
        AuthMethod::Tunnel => "the token of the tunnel, and an API key, for",
    };
    format!("nobody has given {key} {name}: {next} takes one")
}

/// What became of asking a peer.
pub(crate) fn pinged(peer: &PeerView) -> String {
    let name = table::plain(&peer.name);
    if peer.status == PeerStatus::Online {
        let answers = table::good(&format!("{name} answers, and is who it was"));
        let refuses = peer.reason.as_deref().map(|reason| {
            let reason: Vec<String> = reason.lines().map(table::plain).collect();
            format!("{}\n{}", table::bad("and takes nothing of this node:"), reason.join("\n"))
        });
        let told = [Some(answers), refuses, waits_there(peer)];
        return told.into_iter().flatten().collect::<Vec<_>>().join("\n");
    }
    let reason = peer.reason.as_deref().unwrap_or("nobody knows why");
    table::bad(&format!("{name} does not answer: {}", table::plain(reason)))
}
