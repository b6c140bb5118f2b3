//! The agents that there are, and how one runs for an answer of a model or of a program.
//!
//! All of a run is one task, so that what was begun is finished also when the caller leaves: a sandbox that
//! was made ends, and its session is written back.

use super::prompt::Conversation;
use super::{Answered, Desk, Done, RunEvent, baseline, prompt};
use crate::error::{AgentsError, GatewayRefusal};
use crate::settings::{AgentSettings, BUILT_IN_AGENT, GatewaySettings, Prompt, UpstreamSettings};
use crate::{Agents, sandboxes};
use baton_api::chat::{ChatRequest, FinishReason, Model, ModelList, Ran};
use baton_api::sandbox::{
    BrowserSession, CommandLine, CreateSandbox, EndedSandbox, ExecEnd, ExecEvent, SandboxView,
};
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
                Agent::Command(agent) => answer(agent, &mut desk, &self.conversation).await,
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

/// What the file is called, in the workspace, in which an agent finds its task, when it gets that in a file.
const PROMPT_FILE: &str = "prompt.md";
/// How much of what a program complains about is shown, in bytes.
const COMPLAINT: usize = 2048;

/// Runs the program, and tells what it writes while it runs.
pub(super) async fn answer(
    agent: &AgentSettings,
    desk: &mut Desk<'_>,
    conversation: &Conversation,
) -> Result<Answered, AgentsError> {
    let logins = desk.sandbox.browser_session.as_ref().map(|session| session.logins.as_slice());
    let told = conversation.flat(prompt::browser_session(logins.unwrap_or_default()).as_deref());
    let (mut words, mut input) = (agent.command.clone(), None);
    match agent.prompt {
        Prompt::Argument => {
            let told = as_argument(&words, told);
            words.push(told);
        }
        Prompt::Stdin => input = Some(told),
        Prompt::File => {
            desk.write(PROMPT_FILE, &told).await?;
            words.push(format!("{}/{PROMPT_FILE}", desk.sandbox.workspace));
        }
    }
    let mut events = desk.run(CommandLine::Words(words), input, None).await?;
    let mut complaint = String::new();
    while let Some(event) = events.recv().await {
        match event {
            ExecEvent::Stdout(text) => {
                if !desk.say(text).await {
                    return Ok(Answered { finish: FinishReason::Length, usage: None });
                }
            }
            ExecEvent::Stderr(text) => keep_end(&mut complaint, &text),
            ExecEvent::Exit(ExecEnd::Code(0)) => {
                return Ok(Answered { finish: FinishReason::Stop, usage: None });
            }
            ExecEvent::Exit(end) => return Err(failed(agent, end, &complaint).into()),
        }
    }
    Err(failed(agent, ExecEnd::Gone, &complaint).into())
}

/// What is asked, as the last argument. The caller chose it, so it must not be a flag of the program: behind
/// `--` nothing is, and a text that begins with a space is none either.
fn as_argument(words: &[String], told: String) -> String {
    let is_behind = words.iter().any(|word| word == "--");
    if told.starts_with('-') && !is_behind { format!(" {told}") } else { told }
}

fn keep_end(complaint: &mut String, text: &str) {
    complaint.push_str(text);
    let surplus = complaint.len().saturating_sub(COMPLAINT);
    complaint.drain(..complaint.ceil_char_boundary(surplus));
}

fn failed(agent: &AgentSettings, end: ExecEnd, complaint: &str) -> GatewayRefusal {
    let how = match end {
        ExecEnd::Code(code) => format!("ended with code {code}"),
        ExecEnd::Signal(signal) => format!("was ended by signal {signal}"),
        ExecEnd::TimedOut => "took too long".to_owned(),
        ExecEnd::Gone => "ended with its sandbox".to_owned(),
    };
    // An error's first line is what was found.
    let complaint = complaint.split_whitespace().collect::<Vec<_>>().join(" ");
    let complaint = if complaint.is_empty() { complaint } else { format!(": {complaint}") };
    GatewayRefusal::Agent { name: agent.name.clone(), how, complaint }
}

#[cfg(test)]
mod tests {
    use super::{COMPLAINT, as_argument, keep_end};

    #[test]
    fn what_is_asked_is_no_flag() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let said = |line: &str, told: &str| as_argument(&words(line), told.to_owned());
        assert_eq!(said("agent --print", "--help"), " --help");
        assert_eq!(said("agent --print", "-x\n--"), " -x\n--");
        assert_eq!(said("agent --print --", "--help"), "--help");
        assert_eq!(said("agent --print", "Who am I? --help"), "Who am I? --help");
    }

    #[test]
    fn the_end_of_a_complaint_is_kept_and_no_half_character() {
        let mut complaint = String::new();
        keep_end(&mut complaint, &"é".repeat(COMPLAINT));
        keep_end(&mut complaint, "x");
        assert!(complaint.len() <= COMPLAINT && complaint.ends_with("éx"));
    }
}
