//! The caller's peers: what people call them, which of them are asked, and how one is registered.

use crate::mcp::answer::{Failure, ToolAnswer, age};
use crate::mcp::carry;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::sync::{
    ConfirmPeer, PeerList, PeerStatus, PeerView, RegisterPeer as Request, pending_there,
};
use baton_api::{Answers, ErrorCode, Invalid, Scope};
use baton_runtime::error::word;
use baton_session::peer::{AuthMethod, PeerLimits, PeerState};
use baton_session::{NodeId, Site, StateKind, View};
use baton_store::clock;
use baton_sync::SyncError;
use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
use url::Url;

/// How many peers are asked at once: one that is silent keeps no other waiting.
const ASKED_AT_ONCE: usize = 16;

/// This node and the caller's peers.
pub(super) struct Peers(PeerList);

impl Peers {
    /// The peers of the caller's owner, each with whether it answers.
    pub(super) async fn of(call: &Call) -> Result<Self, Failure> {
        Ok(Self(baton_sync::peers::list(&call.context, &call.caller).await?))
    }

    /// The same for a tool that needs their names, or asks them next anyway: they are not asked whether they
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
        let names: Vec<String> = self.asking().map(|peer| carry::plain(&peer.name)).collect();
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
        named.map_or_else(|| node.to_string(), |peer| carry::plain(&peer.name))
    }

    /// The same for what an operation was given as a peer.
    pub(super) fn name_of(&self, reference: &str) -> String {
        let is_meant = |peer: &&PeerView| peer.node_id.to_string() == reference;
        let named = self.all().iter().find(is_meant);
        named.map_or_else(|| carry::plain(reference), |peer| carry::plain(&peer.name))
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
fn waits_there(peer: &PeerView) -> Option<String> {
    let next = peer.confirm_there.as_deref()?;
    let told = pending_there(&carry::plain(&peer.name));
    Some(format!("{told}; there, the user runs: {next}"))
}

/// How much goes to a peer and is taken from it; none where that is everything.
pub(super) fn limits(peer: &PeerView) -> Option<String> {
    let (give, take) = (&peer.limits.give, &peer.limits.take);
    let told = || format!("This node gives it {give}, and takes {take}.");
    (!peer.limits.is_none()).then(|| carry::plain(&told()))
}

/// That a peer could not say something, and why, on one line; and what to do where it does not let this node
/// in.
pub(super) fn silent(name: &str, error: &SyncError) -> String {
    let problem = error.problem();
    let why = match (problem.code, carry::plain(&problem.detail)) {
        (ErrorCode::PendingThere, why) => why,
        (_, why) => format!("{name} did not answer: {why}"),
    };
    let is_for_people = [ErrorCode::PeerDenied, ErrorCode::PendingThere].contains(&problem.code);
    match problem.hint.filter(|_| is_for_people) {
        Some(next) => format!("{why}. Next: {}", next.replace('\n', "; ")),
        None => why,
    }
}

/// Lists the other Baton nodes, and whether they answer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListPeers {}

impl Verb for ListPeers {
    const NAME: &'static str = "browser_sync_list_peers";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sync).await?;
        let peers = Peers::of(&call).await?;
        let now = clock::now();
        let mut told = vec![match peers.all() {
            [] => "No peers. browser_sync_register_peer registers one.".to_owned(),
            _ => "nodeId state status lastSync".to_owned(),
        }];
        let mut rows = Vec::new();
        for peer in peers.all() {
            let (name, synced) = (carry::plain(&peer.name), peer.last_sync.map(|at| age(at, now)));
            let status = status(peer.status);
            let last = synced.as_deref().unwrap_or("never");
            let next = command(peer).map(|command| format!(" (the user types: {command})"));
            let next = next.unwrap_or_default();
            let there = waits_there(peer);
            let waits = there.as_ref().map(|told| format!(" ({told})")).unwrap_or_default();
            let limits = limits(peer);
            let limited = limits.as_ref().map(|told| format!(" {told}")).unwrap_or_default();
            told.push(format!("{name} {} {status} {last}{next}{waits}{limited}", peer.state));
            rows.push(json!([name, peer.state, status, synced, peer.node_id, limits, there]));
        }
        let columns = ["name", "state", "status", "lastSync", "nodeId", "limits", "pendingThere"];
        Ok(ToolAnswer::new(&told, json!({"columns": columns, "rows": rows})))
    }
}

fn status(status: PeerStatus) -> &'static str {
    match status {
        PeerStatus::Online => "online",
        PeerStatus::Offline => "offline",
        PeerStatus::Unknown => "unknown",
    }
}

/// Registers another Baton node. A person confirms its fingerprint and gives what opens it, never you.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct RegisterPeer {
    /// Such as https://baton.example.org
    url: String,
    /// What to call it
    name: String,
    #[serde(alias = "auth_method")]
    auth_method: Method,
    /// Only these move
    #[schemars(with = "Option<Vec<String>>")]
    sites: Option<BTreeSet<Site>>,
    /// Such as cookies
    #[schemars(with = "Option<Vec<String>>")]
    kinds: Option<BTreeSet<StateKind>>,
}

/// How this node says there who it acts for.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Method {
    Apikey,
    Msal,
    Tunnel,
}

impl From<Method> for AuthMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Apikey => Self::ApiKey,
            Method::Msal => Self::Msal,
            Method::Tunnel => Self::Tunnel,
        }
    }
}

impl Verb for RegisterPeer {
    const NAME: &'static str = "browser_sync_register_peer";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sync).await?;
        let request = self.request()?;
        let Call { context, caller, confirm, progress, .. } = call;
        let known = known(&baton_sync::peers::list(&context, &caller).await?, &request);
        let mut peer = if let Some(peer) = known {
            peer
        } else {
            let registering = Box::pin(baton_sync::peers::register(&context, &caller, request));
            progress.during("asking the other node who it is", registering).await?
        };
        // Who agreed beforehand to what tools do has compared no fingerprint.
        let is_asked = confirm.can_ask() && caller.require(Scope::Admin).is_ok();
        if peer.state == PeerState::Pending && is_asked {
            let (about, question) = (peer.fingerprint, question(&peer));
            let command = format!("baton peers confirm {}", word(&peer.name));
            confirm.ask(about, question, command).await?;
            let request = ConfirmPeer { fingerprint: about };
            let node = peer.node_id.to_string();
            peer = baton_sync::peers::confirm(&context, &caller, &node, request).await?;
        }
        Ok(answer(&peer))
    }
}

impl RegisterPeer {
    fn request(self) -> Result<Request, Failure> {
        let invalid =
            |field, expected, found: &str| Invalid { field, expected, found: carry::plain(found) };
        let expected = "an address such as https://baton.example.org";
        let url = Url::parse(&self.url).map_err(|_| invalid("url", expected, &self.url))?;
        let view = View { sites: self.sites, kinds: self.kinds };
        let limits = (!view.is_whole()).then(|| PeerLimits { give: view.clone(), take: view });
        Ok(Request {
            url,
            name: self.name,
            auth_method: self.auth_method.into(),
            api_key: None,
            oidc: None,
            tunnel_token: None,
            fingerprint: None,
            limits,
        })
    }
}

/// The peer that was registered before, when a client asked a person and calls again.
fn known(list: &PeerList, request: &Request) -> Option<PeerView> {
    let is_same =
        |peer: &&PeerView| peer.name == request.name && peer.url.as_ref() == Some(&request.url);
    list.items.iter().find(is_same).cloned()
}

fn question(peer: &PeerView) -> String {
    let (name, address) = (carry::plain(&peer.name), address(peer));
    let limits = limits(peer).map(|limits| format!(" {limits}")).unwrap_or_default();
    format!(
        "Exchange browser sessions, logins included, with {name} at {address}?{limits} It gave the \
         fingerprint {}. Agree only when baton peers list shows the same at the top on that machine.",
        peer.fingerprint
    )
}

fn address(peer: &PeerView) -> String {
    peer.url.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn answer(peer: &PeerView) -> ToolAnswer {
    let (name, fingerprint) = (carry::plain(&peer.name), peer.fingerprint);
    let mut told = vec![match peer.state {
        PeerState::Confirmed => format!("{name} is confirmed."),
        PeerState::Pending => {
            format!("{name} is pending: nothing moves yet. It gave the fingerprint {fingerprint}.")
        }
    }];
    told.extend(limits(peer));
    told.extend(waits_there(peer).map(|there| format!("{there}.")));
    let next = command(peer);
    told.extend(match &next {
        None => vec!["browser_sync_list_remote_sessions shows what it has.".to_owned()],
        Some(next) if peer.has_key => vec![format!("Ask the user to type: {next}")],
        Some(next) => vec![
            format!(
                "It answers to {}, which no tool takes; the user makes one: {}",
                baton_sync::wanted(peer.auth_method),
                baton_sync::preparation(peer.auth_method)
            ),
            format!("Ask the user to type here, with that: {next}"),
        ],
    });
    let mut data = json!({
        "nodeId": peer.node_id, "name": name, "state": peer.state, "fingerprint": fingerprint,
        "next": next,
    });
    if !peer.limits.is_none() {
        data["limits"] = json!(peer.limits);
    }
    ToolAnswer::new(&told, data)
}
