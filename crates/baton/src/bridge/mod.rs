//! The bridge: `baton mcp`, an MCP server on standard input and output in front of a node.
//!
//! The one idea: a client that starts must have its list of tools at once and always, so the bridge
//! answers for itself what needs no node (`initialize`, `server/discover`, `tools/list`), and passes
//! everything else on. It keeps nothing: a node that starts again, or another one, answers the next
//! request. Rooms: `message` is JSON-RPC on lines; `client` writes to the client and asks it; `greeting`
//! is what is answered without a node; `node` passes requests to the node and translates the answers
//! for clients of older protocols; `running` holds what is under way.

mod client;
mod greeting;
mod message;
mod node;
mod running;

use crate::context::Context;
use baton_api::Wishes;
use baton_node::mcp::{Offer, Toolset, offer};
use client::Client;
use greeting::Greeting;
use message::{Incoming, Message};
use node::Node;
use running::Running;
use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::sync::Arc;

/// What whoever starts the bridge wants of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setup {
    /// The tools that are offered; all when left out.
    pub(crate) toolsets: Option<BTreeSet<Toolset>>,
    /// The session that tools mean which are called without one.
    pub(crate) session: Option<String>,
    /// Nobody is asked before a session leaves or is abandoned.
    pub(crate) unattended: bool,
}

/// Answers the client at `input` and `output` until it leaves, and finishes what was begun.
pub(crate) async fn run(
    setup: Setup,
    context: &Context,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> anyhow::Result<()> {
    let all = || BTreeSet::from(Toolset::ALL);
    let Offer { server, tools } = offer(&setup.toolsets.clone().unwrap_or_else(all));
    let named = setup
        .toolsets
        .as_ref()
        .map(|sets| sets.iter().map(|set| set.as_str()).collect::<Vec<_>>().join(","));
    let wishes = Wishes { toolsets: named, unattended: setup.unattended };
    let client = Client::begin(output);
    let bridge = Arc::new(Bridge {
        greeting: Greeting::new(server, &tools),
        node: Node::new(context.clone(), wishes, &tools, setup.session),
        client: client.clone(),
    });
    let mut running = Running::default();
    let mut lines = message::lines(input);
    while let Some(line) = lines.recv().await {
        match message::read(&line?) {
            Ok(message) => bridge.take(message, &mut running).await,
            Err(refusal) => client.send(refusal).await,
        }
        if client.has_left() {
            break;
        }
    }
    running.finish().await;
    drop(bridge);
    client.end().await;
    Ok(())
}

/// What every request is answered with.
struct Bridge {
    greeting: Greeting,
    node: Node,
    client: Client,
}

impl Bridge {
    /// Answers a message of the client, or begins to.
    async fn take(self: &Arc<Self>, message: Message, running: &mut Running) {
        match message {
            Message::Request(request) => {
                let (bridge, id) = (Arc::clone(self), request.id.clone());
                running.begin(&id, async move { bridge.answer(request).await }).await;
            }
            Message::Response { id, outcome } => self.client.answered(&id, outcome),
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                running.cancel(&params);
            }
            Message::Notification { .. } => {}
        }
    }

    async fn answer(&self, request: Incoming) {
        let id = request.id.clone();
        let outcome = match self.greeting.answer(&request) {
            Some(outcome) => outcome,
            None => self.node.answer(&request, &self.greeting, &self.client).await,
        };
        self.client.send(message::response(&id, outcome)).await;
    }
}
