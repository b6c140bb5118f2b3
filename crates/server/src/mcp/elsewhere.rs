//! A call of a tool goes to the node of a cluster that has what it is about, and the answer comes back.
//!
//! The one idea: a client speaks with the node that it reached, and hears of no other. So that node asks the other one
//! for the tool as a whole, in the client's name; what is said while it works comes as events, and a question to a
//! person comes as an answer, for only the first node can ask its client.

use super::answer::{Failure, ToolAnswer};
use super::verb::{Call, Confirm, Entry, ToolPlace};
use crate::cluster::{
    Candidate, Carried, Cluster, Kind, PROBLEM_MAX, Unreachable, Wanted, client_request, problem_in,
};
use crate::error::NodeError;
use crate::everywhere;
use crate::moving::find_arrived;
use axum::body::{Body, to_bytes};
use axum::http::Method;
use baton_api::{Answers, CallTool, ErrorCode, ToolEnd, ToolEvent};
use baton_session::{Lifecycle, NodeId, json};
use baton_store::ClusterRow;
use baton_store::blocking::blocking;
use futures_util::StreamExt;
use http_body_util::Limited;
use rmcp::model::JsonObject;
use sse_stream::SseStream;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long a node may take until it begins to answer.
const BEGIN_LIMIT: Duration = Duration::from_secs(30);
/// The largest answer of a node, in bytes, with all that was said on the way.
const ANSWER_MAX: usize = 16 << 20;

/// Calls a tool at the node that has what it is about.
pub(super) async fn call(
    entry: &'static Entry,
    arguments: JsonObject,
    call: Call,
) -> Result<ToolAnswer, Failure> {
    let Some(cluster) = call.context.cluster.clone().filter(|_| call.origin.is_some()) else {
        return entry.call(arguments, call).await;
    };
    let Ways { nodes, placed } = way(&call, &cluster, entry.place(arguments.clone())?).await?;
    let (mut call, mut last) = (Box::new(call), None);
    let mut nodes = nodes.into_iter();
    while let Some(node) = nodes.next() {
        let row = match node {
            Candidate::There(row) => row,
            Candidate::Here if placed.is_none() || nodes.as_slice().is_empty() => {
                return entry.call(arguments, *call).await;
            }
            Candidate::Here => {
                // Of calls that come together all see the same place: who finds it taken asks the others.
                let again = call.clone();
                match entry.call(arguments.clone(), *call).await {
                    Err(full) if has_no_room(&full) => (call, last) = (again, Some(full)),
                    ended => return ended,
                }
                continue;
            }
        };
        if let Some(what) = placed {
            cluster.note_sent(&row, what);
        }
        match ask(call, &cluster, &row, &entry.tool.name, &arguments).await {
            Tried::Ended(ended) => return ended,
            Tried::NotBegun(same, why) => (call, last) = (same, Some(why)),
        }
    }
    let (what, found) = (placed.unwrap_or_default(), "no node that is there".to_owned());
    Err(last.unwrap_or_else(|| NodeError::NoNodeHasRoom { what, found }.into()))
}

/// Where a call may go.
struct Ways {
    /// The nodes that may do it, the best first.
    nodes: Vec<Candidate>,
    /// What of it takes a place there, if something does.
    placed: Option<Kind>,
}

impl Ways {
    /// To one node, where it takes no place that is not taken already.
    fn to(node: Candidate) -> Self {
        Self { nodes: vec![node], placed: None }
    }
}

/// The nodes that may do what a call asks for. The one that was asked does what no other one can.
async fn way(call: &Call, cluster: &Cluster, place: ToolPlace) -> Result<Ways, Failure> {
    match place {
        ToolPlace::Here => Ok(Ways::to(Candidate::Here)),
        ToolPlace::Room => with_room(call, cluster, Wanted::default()).await,
        ToolPlace::NewSandbox(None) => {
            let wanted = Wanted { what: Kind::Sandbox, ..Wanted::default() };
            with_room(call, cluster, wanted).await
        }
        ToolPlace::Session(named) => {
            let named = call.session(named).await?;
            Ok(Ways::to(match find_arrived(&call.context, &call.caller.owner, &named).await? {
                Some(session) => node(call, cluster, session.node).await,
                // The tool itself says that there is none.
                None => Candidate::Here,
            }))
        }
        ToolPlace::SessionOrRoom(named) => {
            match find_arrived(&call.context, &call.caller.owner, &named).await? {
                Some(session) if session.lifecycle == Lifecycle::Active => {
                    Ok(Ways::to(node(call, cluster, session.node).await))
                }
                Some(session) => {
                    let labels = call.context.store.fetch_session_labels(session.id).await;
                    let labels = labels.map_err(NodeError::from)?;
                    let first = Some(session.node);
                    with_room(call, cluster, Wanted { labels, first, ..Wanted::default() }).await
                }
                None => Ok(Ways::to(Candidate::Here)),
            }
        }
        ToolPlace::Sandbox(named) => {
            let maker = match &call.origin {
                Some(origin) => {
                    everywhere::maker(&call.context, cluster, &call.caller, origin, &named).await?
                }
                None => None,
            };
            Ok(Ways::to(node(call, cluster, maker.unwrap_or(call.context.node)).await))
        }
        ToolPlace::Tab(named) => {
            let teller = match (&call.origin, named.parse()) {
                (Some(origin), Ok(token)) => {
                    everywhere::teller(&call.context, &call.caller, origin, &token).await
                }
                _ => None,
            };
            Ok(Ways::to(node(call, cluster, teller.unwrap_or(call.context.node)).await))
        }
        ToolPlace::NewSandbox(Some(named)) => {
            Ok(Ways::to(match find_arrived(&call.context, &call.caller.owner, &named).await? {
                Some(session) => node(call, cluster, session.node).await,
                None => Candidate::Here,
            }))
        }
    }
}

async fn with_room(call: &Call, cluster: &Cluster, wanted: Wanted<'_>) -> Result<Ways, Failure> {
    let found = cluster.find_candidates(call.context.room(), &wanted).await;
    let what = wanted.what;
    let nodes = found.map_err(|found| NodeError::NoNodeHasRoom { what, found })?;
    Ok(Ways { nodes, placed: Some(what) })
}

/// A node, if it is there; else this one, which says what it knows.
async fn node(call: &Call, cluster: &Cluster, node: NodeId) -> Candidate {
    if node == call.context.node {
        return Candidate::Here;
    }
    match cluster.living(node).await {
        Some(row) => Candidate::There(Box::new(row)),
        None => Candidate::Here,
    }
}

/// What became of asking another node.
enum Tried {
    /// It did it, or says why not.
    Ended(Result<ToolAnswer, Failure>),
    /// Nothing was begun there; the call is for the next one.
    NotBegun(Box<Call>, Failure),
}

/// Asks another node for a tool, and a person of the client where that node wants it.
async fn ask(
    mut call: Box<Call>,
    cluster: &Cluster,
    row: &ClusterRow,
    tool: &str,
    arguments: &JsonObject,
) -> Tried {
    let mut request = CallTool {
        arguments: arguments.clone(),
        agreed: None,
        can_ask: call.confirm.can_ask(),
        is_heard: call.progress.is_heard(),
    };
    let (about, what, command) = match exchange(&call, cluster, row, tool, &request).await {
        Ok(ToolEnd::Ask { about, what, command }) => (about, what, command),
        Ok(end) => {
            let is_full = is_full(&end);
            return match ended(end) {
                Err(full) if is_full => Tried::NotBegun(call, full),
                ended => Tried::Ended(ended),
            };
        }
        Err(missed) if missed.may_have_begun => return Tried::Ended(Err(missed.into())),
        Err(missed) => return Tried::NotBegun(call, missed.into()),
    };
    let confirm = std::mem::replace(&mut call.confirm, Confirm::Nobody);
    if let Err(refused) = confirm.ask(&about, what, command).await {
        return Tried::Ended(Err(refused));
    }
    request.agreed = Some(about);
    Tried::Ended(match exchange(&call, cluster, row, tool, &request).await {
        Ok(end) => ended(end),
        Err(missed) => Err(missed.into()),
    })
}

impl From<Unreachable> for Failure {
    fn from(unreachable: Unreachable) -> Self {
        NodeError::from(unreachable).into()
    }
}

/// Whether the node has no room, which it says before it begins anything.
fn is_full(end: &ToolEnd) -> bool {
    matches!(end, ToolEnd::Failed { code, .. } if code == ErrorCode::NoRoom.as_str())
}

/// The same of this node.
fn has_no_room(failure: &Failure) -> bool {
    matches!(failure, Failure::Node(error) if error.code() == ErrorCode::NoRoom)
}

/// What another node says of a call that has ended.
fn ended(end: ToolEnd) -> Result<ToolAnswer, Failure> {
    Err(match end {
        ToolEnd::Done { text, data } => return Ok(ToolAnswer { text, data }),
        ToolEnd::Failed { code, detail, next } => Failure::There { code, detail, next },
        ToolEnd::Ask { about, what, command } => Failure::AskThere { about, what, command },
    })
}

/// Asks once, tells the client what is said on the way, and returns how it ended.
async fn exchange(
    call: &Call,
    cluster: &Cluster,
    row: &ClusterRow,
    tool: &str,
    request: &CallTool,
) -> Result<ToolEnd, Unreachable> {
    let silent = |found: &str| Unreachable::new(row, found.to_owned(), true);
    let Some(origin) = &call.origin else { return Err(silent("a call that goes nowhere")) };
    let path = format!("/nodes/{}/tools/{tool}", row.member.node);
    let parts = client_request(row, Method::POST, &path, &call.caller, origin)?;
    let identity = call.context.own.identity.now();
    let request = request.clone();
    let body = blocking(move || json::bytes(&request)).await;
    let body = body.map_err(|stopping| silent(&stopping.to_string()))?;
    let asked = cluster.exchange(&identity, row, parts, Carried::Whole(body.into()));
    let answer = timeout(BEGIN_LIMIT, asked).await.map_err(|_| silent("no answer"))??;
    if !answer.status().is_success() {
        let status = answer.status();
        let bytes = to_bytes(answer.into_body(), PROBLEM_MAX).await.unwrap_or_default();
        let problem = problem_in(&bytes);
        let problem = problem.ok_or_else(|| silent(&format!("an answer with status {status}")))?;
        let (code, detail) = (problem.code.as_str().to_owned(), problem.detail);
        return Ok(ToolEnd::Failed { code, detail, next: problem.hint });
    }
    let began = Instant::now();
    let body = Body::new(Limited::new(answer.into_body(), ANSWER_MAX));
    let mut events = SseStream::from_bytes_stream(body.into_data_stream());
    loop {
        // What is read no more ends there: a node that did not hear of it would go on asking a person. Work that was
        // begun is finished all the same.
        let event = tokio::select! {
            biased;
            event = events.next() => event,
            () = call.progress.cancelled() => None,
        };
        let Some(Ok(event)) = event else { break };
        let Some(data) = event.data else { continue };
        match serde_json::from_str(&data) {
            Ok(ToolEvent::Doing { text }) => call.progress.tell(began.elapsed(), text).await,
            Ok(ToolEvent::Ended(end)) => return Ok(end),
            Err(_) => return Err(silent("an event of another form")),
        }
    }
    Err(silent("an answer that broke off"))
}
