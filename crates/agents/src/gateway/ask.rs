//! The agents that there are, and how one runs for an answer.
//!
//! All of a run is one task, so that what was begun is finished also when the caller leaves: a sandbox that
//! was made ends, and its session is written back.

use super::desk::{Answered, Desk, Done, RunEvent};
use super::prompt::Conversation;
use super::{baseline, command};
use crate::error::{AgentsError, GatewayRefusal};
use crate::settings::{AgentSettings, BUILT_IN_AGENT, GatewaySettings, UpstreamSettings};
use crate::{Agents, sandboxes};
use baton_api::chat::{ChatRequest, Model, ModelList, Ran};
use baton_api::sandbox::{BrowserSession, CreateSandbox, EndedSandbox, SandboxView};
use baton_runtime::Caller;
use baton_runtime::live::LiveError;
use baton_session::SandboxId;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How many events wait for a slow caller.
const WAITING: usize = 16;
/// How much longer than its agent a sandbox may live.
const SLACK: Duration = Duration::from_mins(1);

/// An agent that is asked.
#[derive(Debug, Clone)]
enum Agent {
    /// A program.
    Command(AgentSettings),
    /// The one that is built in.
    Baseline(UpstreamSettings),
}

impl Agent {
    /// The agent of a name.
    fn find(settings: &GatewaySettings, name: &str) -> Result<Self, GatewayRefusal> {
        if let (BUILT_IN_AGENT, Some(upstream)) = (name, &settings.upstream) {
            return Ok(Self::Baseline(upstream.clone()));
        }
        let found = settings.agents.iter().find(|agent| agent.name == name);
        found.cloned().map(Self::Command).ok_or_else(|| GatewayRefusal::UnknownModel {
            found: name.chars().take(100).collect(),
            known: match names(settings).as_slice() {
                [] => "none".to_owned(),
                names => names.join(", "),
            },
        })
    }

    /// What is in its sandbox.
    fn flavor(&self) -> Option<String> {
        match self {
            Self::Command(agent) => agent.flavor.clone(),
            Self::Baseline(upstream) => upstream.flavor.clone(),
        }
    }

    /// Variables of every command in its sandbox.
    fn env(&self) -> BTreeMap<String, String> {
        match self {
            Self::Command(agent) => agent.env.clone(),
            Self::Baseline(_) => BTreeMap::new(),
        }
    }
}

/// The agents of this node.
pub fn models(context: &Agents) -> ModelList {
    let data = names(&context.gateway).into_iter().map(shown).collect();
    ModelList { object: "list".to_owned(), data }
}

/// One of them.
pub fn model(context: &Agents, id: &str) -> Result<Model, AgentsError> {
    Agent::find(&context.gateway, id)?;
    Ok(shown(id.to_owned()))
}

fn shown(id: String) -> Model {
    Model { id, object: "model".to_owned(), created: 0, owned_by: "baton".to_owned() }
}

fn names(settings: &GatewaySettings) -> Vec<String> {
    let built_in = settings.upstream.iter().map(|_| BUILT_IN_AGENT.to_owned());
    built_in.chain(settings.agents.iter().map(|agent| agent.name.clone())).collect()
}

/// An agent that answers. Dropping it ends the agent.
#[derive(Debug)]
pub struct Run {
    /// In which sandbox.
    pub sandbox: SandboxId,
    /// Since when.
    pub created: Timestamp,
    /// Which agent.
    pub model: String,
    /// What it says, up to its end.
    pub events: mpsc::Receiver<RunEvent>,
}

/// Asks an agent. It runs when this returns.
pub async fn ask(
    context: &Agents,
    caller: &Caller,
    request: ChatRequest,
) -> Result<Run, AgentsError> {
    let agent = Agent::find(&context.gateway, &request.model)?;
    let conversation = Conversation::read(&request)?;
    let (sender, events) = mpsc::channel(WAITING);
    let (begun, begins) = oneshot::channel();
    let session = request.browser_session_id;
    let job = Job {
        context: context.clone(),
        caller: caller.clone(),
        agent,
        conversation,
        is_shared: request.browser_session_shared,
        takes: request.browser_session_take,
    };
    context.tasks.spawn(job.run(session, begun, sender));
    let view = begins.await.map_err(|_| LiveError::Stopping)??;
    Ok(Run { sandbox: view.id, created: view.created_at, model: request.model, events })
}

/// Everything that one answer takes.
struct Job {
    context: Agents,
    caller: Caller,
    agent: Agent,
    conversation: Conversation,
    /// Whether it gets a copy of its session.
    is_shared: bool,
    /// Whether it takes its session from the agent that drives it.
    takes: bool,
}

impl Job {
    async fn run(
        self,
        session: Option<String>,
        begun: oneshot::Sender<Result<SandboxView, AgentsError>>,
        sender: mpsc::Sender<RunEvent>,
    ) {
        let request = self.sandbox(session);
        let made = Box::pin(sandboxes::create(&self.context, &self.caller, request)).await;
        let view = match made {
            Ok(view) => view,
            Err(error) => {
                let _ = begun.send(Err(error));
                return;
            }
        };
        let answered = match begun.send(Ok(view.clone())) {
            Ok(()) => self.answer(&view, &sender).await,
            Err(_) => None,
        };
        let id = view.id.to_string();
        let ended = Box::pin(sandboxes::delete(&self.context, &self.caller, &id)).await;
        let told = |answered: Answered| Done {
            finish: answered.finish,
            usage: answered.usage,
            ran: ran(&view, ended),
        };
        if let Some(answered) = answered {
            // A caller that left wants to know nothing more.
            let _ = sender.send(RunEvent::End(Box::new(answered.map(told)))).await;
        }
    }

    fn sandbox(&self, session: Option<String>) -> CreateSandbox {
        let longest = self.context.sandboxes.settings().longest_ttl;
        let ttl = (self.context.gateway.limit + SLACK).min(longest);
        CreateSandbox {
            flavor: self.agent.flavor(),
            browser_session: session.map(|session| BrowserSession {
                shared: self.is_shared,
                take: self.takes,
                ..BrowserSession::reference(session)
            }),
            ttl: Some(u32::try_from(ttl.as_secs()).unwrap_or(u32::MAX)),
            env: self.agent.env(),
            ..CreateSandbox::default()
        }
    }

    /// None when the caller listens no more.
    async fn answer(
        &self,
        view: &SandboxView,
        sender: &mpsc::Sender<RunEvent>,
    ) -> Option<Result<Answered, AgentsError>> {
        let limit = self.context.gateway.limit;
        let mut desk = Desk::new(&self.context, &self.caller, view, sender);
        let work = async {
            match &self.agent {
                Agent::Command(agent) => {
                    command::answer(agent, &mut desk, &self.conversation).await
                }
                Agent::Baseline(upstream) => {
                    baseline::answer(upstream, &mut desk, &self.conversation).await
                }
            }
        };
        tokio::select! {
            answered = work => Some(answered),
            () = sender.closed() => {
                tracing::info!(sandbox = %view.id, "nobody listens to an agent any more: it ends");
                None
            }
            () = tokio::time::sleep(limit) => Some(Err(GatewayRefusal::TooSlow { limit }.into())),
            () = self.context.ending.cancelled() => Some(Err(LiveError::Stopping.into())),
        }
    }
}

fn ran(view: &SandboxView, ended: Result<EndedSandbox, AgentsError>) -> Ran {
    let mut warnings = view.warnings.clone();
    let browser_session = match ended {
        Ok(ended) => ended.browser_session,
        Err(error) => {
            warnings.push(format!("the sandbox did not end as it should: {error}"));
            None
        }
    };
    Ran { sandbox_id: view.id, browser_session, warnings }
}
