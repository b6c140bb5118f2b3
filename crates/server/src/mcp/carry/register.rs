//! `browser_sync_register_peer`

use super::peers::{command, limits, waits_there};
use super::text;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Invalid;
use baton_api::Scope;
use baton_api::sync::{ConfirmPeer, PeerList, PeerView, RegisterPeer as Request};
use baton_runtime::shell::word;
use baton_session::peer::{AuthMethod, PeerLimits, PeerState};
use baton_session::{Site, StateKind, View};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
use url::Url;

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

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sync).await?;
        let request = self.request()?;
        let Call { context, caller, confirm, progress } = call;
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
            |field, expected, found: &str| Invalid { field, expected, found: text::plain(found) };
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
    let (name, address) = (text::plain(&peer.name), address(peer));
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

fn answer(peer: &PeerView) -> Answer {
    let (name, fingerprint) = (text::plain(&peer.name), peer.fingerprint);
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
    Answer::new(&told, data)
}
