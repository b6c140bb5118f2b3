//! The bridge: `baton mcp`, an MCP server on standard input and output in front of a node.
//!
//! The one idea: a client that starts must have its list of tools at once and always, so the bridge
//! answers for itself what needs no node (`initialize`, `server/discover`, `tools/list`), and passes
//! everything else on. It keeps nothing: a node that starts again, or another one, answers the next
//! request. Requests are answered side by side, and can be cancelled. Rooms: `message` is JSON-RPC on
//! lines; `client` writes to the client and asks it; `greeting` is what is answered without a node; `node`
//! finds the node and passes requests and subscriptions to it; `upstream` is another server on the
//! session's browser, whose tools are passed through.

mod client;
mod greeting;
mod message;
mod node;
mod upstream;

pub(crate) use upstream::{PLACE, With};

use crate::local::Context;
use baton_api::Wishes;
use baton_server::mcp::{Offer, Toolset, offer};
use client::ClientWriter;
use greeting::{Greeting, HANDSHAKES};
use message::{Incoming, Message, Outcome};
use node::{LISTEN, LazyNode, Nodes, SUBSCRIBE, Subscriptions, UNSUBSCRIBE};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufRead, Write};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::Receiver;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use upstream::{Introduction, Patience, Upstream};

/// What the caller that starts the bridge wants of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setup {
    /// The tools that are offered; all when left out.
    pub(crate) toolsets: Option<BTreeSet<Toolset>>,
    /// The session that tools mean which are called without one.
    pub(crate) session: Option<String>,
    /// No person is asked before a session leaves or is abandoned.
    pub(crate) unattended: bool,
    /// Another server on the session's browser.
    pub(crate) with: Option<With>,
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
    let client = ClientWriter::start_writer(output);
    let nodes = Arc::new(Nodes::new(context.clone()));
    let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
    let ours: BTreeSet<String> = tools.iter().map(name).collect();
    let upstream = match setup.with {
        Some(with) => {
            let (ours, client) = (ours.clone(), client.clone());
            Some(
                Upstream::open(with, ours, client, Arc::clone(&nodes), setup.session.clone())
                    .await?,
            )
        }
        None => None,
    };
    let mut signals = Signals::start(upstream.is_some())?;
    let bridge = Arc::new(Bridge {
        greeting: Greeting::new(server, &tools, upstream.is_some()),
        node: Arc::new(LazyNode::new(nodes, wishes, &tools, setup.session)),
        client,
        subscriptions: Subscriptions::default(),
        left: CancellationToken::new(),
        upstream,
        ours,
    });
    let mut running = Running::default();
    let mut lines = message::lines(input);
    let patience = tokio::select! {
        ended = bridge.serve(&mut lines, &mut running) => ended.map(|()| Patience::Long),
        () = signals.end() => Ok(Patience::Short),
    };
    bridge.end(running, patience, signals).await
}

/// What every request is answered with.
struct Bridge {
    greeting: Greeting,
    node: Arc<LazyNode>,
    client: ClientWriter,
    /// What a client of an older protocol wants to hear of.
    subscriptions: Subscriptions,
    /// Ends what would go on for as long as the client is there.
    left: CancellationToken,
    upstream: Option<Arc<Upstream>>,
    /// The names of our tools.
    ours: BTreeSet<String>,
}

impl Bridge {
    /// Answers what comes in, until the client asks or reads no more.
    async fn serve(
        self: &Arc<Self>,
        lines: &mut Receiver<io::Result<Vec<u8>>>,
        running: &mut Running,
    ) -> io::Result<()> {
        while let Some(line) = lines.recv().await {
            for message in message::read(&line?) {
                match message {
                    Ok(message) => self.handle_message(message, running).await,
                    Err(refusal) => self.client.send(refusal).await,
                }
            }
            if self.client.has_left() {
                break;
            }
        }
        Ok(())
    }

    /// Finishes what was begun, as far as there is time for it.
    async fn end(
        self: Arc<Self>,
        running: Running,
        patience: io::Result<Patience>,
        mut signals: Signals,
    ) -> anyhow::Result<()> {
        self.left.cancel();
        self.subscriptions.end_all();
        let mut how = *patience.as_ref().unwrap_or(&Patience::Short);
        let mut running = Some(running);
        if matches!(how, Patience::Long)
            && let Some(running) = running.take()
        {
            tokio::select! {
                () = self.finish(running) => {}
                () = signals.end() => how = Patience::Short,
            }
        }
        if let Some(upstream) = &self.upstream {
            upstream.end(how).await;
        }
        // Answers still under way would be waited for.
        drop(running);
        let client = self.client.clone();
        drop(self);
        client.end().await;
        patience?;
        Ok(())
    }

    /// Waits for the answers that are still to come.
    async fn finish(&self, running: Running) {
        let Some(upstream) = &self.upstream else { return running.finish().await };
        let mut finished = pin!(running.finish());
        tokio::select! {
            () = &mut finished => {}
            () = upstream.cut() => finished.await,
        }
    }

    /// Answers a message of the client, or begins to.
    async fn handle_message(self: &Arc<Self>, message: Message, running: &mut Running) {
        match message {
            Message::Request(request) => {
                let (bridge, id) = (Arc::clone(self), request.id.clone());
                let begun = running.start_answer(&id, async move { bridge.answer(request).await });
                if let Err(busy) = begun {
                    let refusal = Err(message::error(-32000, &busy.to_string()));
                    self.client.send(message::response(&id, refusal)).await;
                }
            }
            Message::Response { id, outcome } => self.client.answered(&id, outcome),
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                running.cancel(&params);
            }
            Message::Notification { method, params } => {
                if let Some(upstream) = &self.upstream
                    && method == "notifications/roots/list_changed"
                {
                    upstream.tell(&method, &params);
                }
            }
        }
    }

    async fn answer(&self, request: Incoming) {
        let Some(upstream) = &self.upstream else {
            let outcome = self.outcome(&request).await;
            return self.client.send(request.asker().response(outcome)).await;
        };
        let name = request.params.get("name").and_then(Value::as_str);
        match request.method.as_str() {
            "tools/list" => {
                let tools = upstream.list(self.introduction(&request)).await;
                self.client.send_line(self.greeting.list(&request, tools.raw())).await;
            }
            "tools/call" if name.is_some_and(|name| !self.ours.contains(name)) => {
                upstream.call(&request, self.introduction(&request)).await;
            }
            "logging/setLevel" => {
                let outcome = upstream.log(&request).await;
                self.client.send(request.asker().response(outcome)).await;
            }
            _ => {
                let outcome = self.outcome(&request).await;
                upstream.watch(&request, &outcome);
                self.client.send(request.asker().response(outcome)).await;
            }
        }
    }

    async fn outcome(&self, request: &Incoming) -> Outcome {
        if let Some(outcome) = self.greeting.answer(request) {
            return outcome;
        }
        let (node, greeting, client) = (&self.node, &self.greeting, &self.client);
        match (request.method.as_str(), request.version()) {
            (SUBSCRIBE, None) => {
                self.subscriptions.subscribe(request, node, greeting, client).await
            }
            (UNSUBSCRIBE, None) => self.subscriptions.end(request),
            (LISTEN, _) => tokio::select! {
                outcome = node.answer(request, greeting, client) => outcome,
                () = self.left.cancelled() => Ok(json!({})),
            },
            _ => node.answer(request, greeting, client).await,
        }
    }

    /// How the client is introduced to the other server. Those of the newest protocol say who they are
    /// with each request, and are not asked anything by themselves.
    fn introduction(&self, request: &Incoming) -> Introduction {
        if let Some(told) = self.greeting.legacy() {
            return Introduction {
                info: told.info.clone(),
                capabilities: told.capabilities.clone(),
                version: told.version.to_owned(),
                can_ask: true,
            };
        }
        let meta = request.params.get("_meta");
        let info = meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientInfo")).cloned();
        Introduction {
            info: info.unwrap_or_else(|| json!({"name": "unknown", "version": "0"})),
            capabilities: json!({}),
            version: HANDSHAKES[HANDSHAKES.len() - 1].to_owned(),
            can_ask: false,
        }
    }
}

/// How many requests are answered at once.
const AT_ONCE: usize = 64;
/// How long requests may take when the client has left.
const FINISH_LIMIT: Duration = Duration::from_mins(2);

/// Why a request is not answered now.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected at most {AT_ONCE} requests at once, found one more; wait for the answers of the others"
)]
struct TooMany;

/// The requests under way.
#[derive(Default)]
struct Running {
    tasks: JoinSet<()>,
    by_id: HashMap<String, AbortHandle>,
}

impl Running {
    /// Begins to answer a request, unless too many are under way: a task that waited here would read nothing
    /// any more, and so never hear that one was cancelled, or the answer to a question.
    fn start_answer(
        &mut self,
        id: &Value,
        answer: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), TooMany> {
        while self.tasks.try_join_next().is_some() {}
        if self.tasks.len() >= AT_ONCE {
            return Err(TooMany);
        }
        let handle = self.tasks.spawn(answer);
        self.by_id.retain(|_, handle| !handle.is_finished());
        self.by_id.insert(id.to_string(), handle);
        Ok(())
    }

    /// The client wants no answer any more to the request that these parameters name. What the node
    /// has begun it finishes.
    fn cancel(&mut self, params: &Value) {
        let id = params.get("requestId").map(Value::to_string);
        if let Some(handle) = id.and_then(|id| self.by_id.remove(&id)) {
            handle.abort();
        }
    }

    /// Waits until everything is answered.
    async fn finish(mut self) {
        let done = async { while self.tasks.join_next().await.is_some() {} };
        // An answer that takes longer is cut off.
        let _ = timeout(FINISH_LIMIT, done).await;
    }
}

/// Whether the system tells the bridge to end. Only a bridge that has a server to end listens.
struct Signals(Vec<Signal>);

impl Signals {
    fn start(listens: bool) -> std::io::Result<Self> {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let kinds = kinds.into_iter().filter(|_| listens);
        kinds.map(signal).collect::<Result<_, _>>().map(Self)
    }

    /// Returns when it does.
    async fn end(&mut self) {
        let [terminate, interrupt, hangup] = self.0.as_mut_slice() else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::future::pending;

    #[tokio::test]
    async fn one_too_many_is_refused_and_a_cancelled_one_leaves_its_place() {
        let mut running = Running::default();
        for id in 0..AT_ONCE {
            running.start_answer(&json!(id), pending()).unwrap();
        }
        let refused = running.start_answer(&json!("one"), pending()).unwrap_err();
        insta::assert_snapshot!(refused, @"expected at most 64 requests at once, found one more; wait for the answers of the others");
        running.cancel(&json!({"requestId": 0}));
        let found = async {
            while running.start_answer(&json!("one"), pending()).is_err() {
                tokio::task::yield_now().await;
            }
        };
        timeout(FINISH_LIMIT, found).await.unwrap();
    }
}
