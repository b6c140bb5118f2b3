//! What goes along with a request that one node of a cluster passes on to another: who asks, from where, and at
//! which address.
//!
//! The one idea: the node that a client reached has let it in, and says so in one signed header. The other node
//! looks up no key and counts nothing anew; what the key allows it checks as always.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::Scope;
use baton_runtime::{Actor, Caller};
use baton_session::{AgentName, NodeId, Owner, json};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::IpAddr;
use url::Url;

/// The longest header, in bytes.
const HEADER_MAX: usize = 8 << 10;

/// Where a client asked, so that another node answers it as this one would.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// The address at which it asked, as that of a WebSocket begins.
    pub(crate) here: Url,
    /// From where it asked.
    pub(crate) address: Option<IpAddr>,
}

/// The header, as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Passing {
    /// For which node it is.
    pub(crate) to: NodeId,
    /// Who asks; none where a ticket in the address says it.
    caller: Option<CallerText>,
    /// The address at which the client asked, as that of a WebSocket begins.
    pub(crate) here: Url,
    /// From where the client asked.
    pub(crate) address: Option<IpAddr>,
    /// The page that asked, by the hash of one of its halves.
    pub(crate) page: Option<[u8; 32]>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct CallerText {
    owner: Owner,
    key: String,
    actor: String,
    scopes: BTreeSet<Scope>,
    agent: Option<AgentName>,
}

impl Passing {
    /// A request of `caller` to node `to`.
    pub(crate) fn new(
        to: NodeId,
        caller: Option<&Caller>,
        here: Url,
        address: Option<IpAddr>,
        page: Option<[u8; 32]>,
    ) -> Self {
        let caller = caller.map(|caller| CallerText {
            owner: caller.owner.clone(),
            key: caller.key.clone(),
            actor: caller.actor.to_string(),
            scopes: caller.scopes.clone(),
            agent: caller.agent.clone(),
        });
        Self { to, caller, here, address, page }
    }

    /// The same for another node.
    pub(crate) fn for_node(&self, to: NodeId) -> Self {
        Self { to, ..self.clone() }
    }

    /// As it stands in a header.
    pub(crate) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(json::bytes(self))
    }

    /// What a header says; none when it cannot be read.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= HEADER_MAX)?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
    }

    /// The same, passed on by the node `from`, as that one proved.
    pub(crate) fn proven(self, from: NodeId) -> Passed {
        let caller = self.caller.map(|text| Caller {
            owner: text.owner,
            key: text.key,
            actor: Actor::passed_on(text.actor),
            scopes: text.scopes,
            agent: text.agent,
        });
        Passed { from, caller, here: self.here, address: self.address, page: self.page }
    }
}

/// A request that another node of the cluster passed on, and proved that it did: an extension of the request.
#[derive(Debug, Clone)]
pub(crate) struct Passed {
    /// Which node.
    pub(crate) from: NodeId,
    /// Who asks; none where a ticket in the address says it.
    pub(crate) caller: Option<Caller>,
    /// See [`Passing::here`].
    pub(crate) here: Url,
    /// See [`Passing::address`].
    pub(crate) address: Option<IpAddr>,
    /// See [`Passing::page`].
    pub(crate) page: Option<[u8; 32]>,
}

/// Who asks, found out before it was known at which node: an extension of the request. It is counted once.
#[derive(Debug, Clone)]
pub(crate) struct CountedCaller {
    /// Who.
    pub(crate) caller: Caller,
    /// The limited peer whose key it is, if it is one's.
    pub(crate) limited_peer: Option<String>,
}
