//! The turns tools: agents share a board of what is to be done, and pass sessions to each other.
//!
//! The doc comments of the structs are what a model reads, so they are short and exact; all of them together
//! stay below 4 kB. The agent that acts is the one that the client names in the header `Baton-Agent`; a tool
//! may name another one.

use super::answer;
use super::answer::{Failure, ToolAnswer, age, cut};
use super::verb::{Call, Effect, Entry, ToolPlace, Verb};
use crate::asking::Ask;
use crate::context::Context;
use crate::guests;
use baton_api::{
    AskPerson, AskState, AskView, DrivenSession, MAX_ASK_WAIT, OPEN_ASK, PassSession, Scope,
    WaitForAsk,
};
use baton_federation::{AgentName, Held, Operation, Priority, Stamp, Task, View};
use baton_runtime::{board, sessions};
use baton_store::clock;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::time::timeout;

/// The tools in the order in which clients list them.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        vec![
            Entry::of::<FederationStatus>(),
            Entry::of::<FederationUpdate>(),
            Entry::of::<FederationAddTask>(),
            Entry::of::<FederationClaimTask>(),
            Entry::of::<FederationFinishTask>(),
            Entry::of::<SessionPass>(),
            Entry::of::<SessionAskPerson>(),
        ]
    });
    &ENTRIES
}

/// Shows the board of all agents: who does what, what is to do, who drives which session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FederationStatus {}

impl Verb for FederationStatus {
    const NAME: &'static str = "federation_status";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Read).await?;
        let view = board::read(&call.context, &call.caller).await?;
        let sessions = board::driven(&call.context, &call.caller).await?.items;
        let empty = "The board is empty; federation_update or federation_add_task begins one.";
        let mut told = match &view {
            Some(view) => board_lines(view, clock::now()),
            None => vec![empty.to_owned()],
        };
        told.extend(sessions.iter().map(driven_line));
        Ok(ToolAnswer::new(&told, json!({"board": view, "sessions": sessions})))
    }
}

/// Says on the board what you do now. Do it when you begin, change or end something.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FederationUpdate {
    /// active, idle, standby …
    status: String,
    /// What you work on. No secrets
    task: Option<String>,
    /// Your folder
    workspace: Option<String>,
    /// Your model
    model: Option<String>,
    /// Default: yours
    agent: Option<String>,
}

impl Verb for FederationUpdate {
    const NAME: &'static str = "federation_update";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let agent = acting_agent(&call, self.agent)?;
        let name = agent.to_string();
        let operation = Operation::UpdateAgent {
            agent,
            status: self.status,
            current_task: self.task,
            workspace: self.workspace,
            model: self.model,
        };
        let done = board::write(&call.context, &call.caller, operation).await?;
        let entry = done.board.as_ref().and_then(|board| board.agents.get(&name));
        Ok(ToolAnswer::new(&[format!("The board says what {name} does.")], json!({"agent": entry})))
    }
}

/// Adds something to do to the board, for any agent or for one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FederationAddTask {
    /// What is to be done. No secrets
    description: String,
    /// low, normal, high or urgent; default: normal
    priority: Option<String>,
    /// The only agent that may take it
    assigned_to: Option<String>,
    /// Tasks that must be done before
    #[serde(default)]
    after: Vec<String>,
    /// Default: yours
    agent: Option<String>,
}

impl Verb for FederationAddTask {
    const NAME: &'static str = "federation_add_task";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let operation = Operation::AddTask {
            description: self.description,
            priority: Priority::from(self.priority.unwrap_or_else(|| "normal".to_owned())),
            agent: agent_if_any(&call, self.agent)?,
            assigned_to: self.assigned_to.as_deref().map(agent_named).transpose()?,
            blocked_by: self.after,
        };
        let done = board::write(&call.context, &call.caller, operation).await?;
        let told: Vec<String> = done.task.iter().map(task_line).collect();
        Ok(ToolAnswer::new(&told, json!({"task": done.task})))
    }
}

/// Takes a task for you alone; without taskId the best that is free. Keep the fence.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FederationClaimTask {
    /// Which task
    #[serde(alias = "task_id")]
    task_id: Option<String>,
    /// Default: yours
    agent: Option<String>,
}

impl Verb for FederationClaimTask {
    const NAME: &'static str = "federation_claim_task";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let agent = acting_agent(&call, self.agent)?;
        let operation = Operation::ClaimTask { agent, task: self.task_id };
        let done = board::write(&call.context, &call.caller, operation).await?;
        let told: Vec<String> = done.task.iter().map(task_line).collect();
        Ok(ToolAnswer::new(&told, json!({"task": done.task})))
    }
}

/// Says that a task that you claimed is done, or gives it back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FederationFinishTask {
    /// Which task
    #[serde(alias = "task_id")]
    task_id: String,
    /// Give it back instead
    #[serde(default)]
    release: bool,
    /// That of the claim: tells if another agent took it since
    fence: Option<u64>,
    /// Default: yours
    agent: Option<String>,
}

impl Verb for FederationFinishTask {
    const NAME: &'static str = "federation_finish_task";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let agent = acting_agent(&call, self.agent)?;
        let held = Held { agent, task: self.task_id, fence: self.fence };
        let operation =
            if self.release { Operation::ReleaseTask(held) } else { Operation::CompleteTask(held) };
        let done = board::write(&call.context, &call.caller, operation).await?;
        let told: Vec<String> = done.task.iter().map(task_line).collect();
        Ok(ToolAnswer::new(&told, json!({"task": done.task})))
    }
}

/// Hands a session to another agent, which goes on in the same tabs. To take one, name yourself and say why.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SessionPass {
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// Without it nobody drives it
    #[schemars(with = "Option<String>")]
    to: Option<baton_session::AgentName>,
    /// Needed when another agent drives it now
    reason: Option<String>,
}

impl Verb for SessionPass {
    const NAME: &'static str = "session_pass";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let request = PassSession { to: self.to, reason: self.reason };
        let view = sessions::pass(&call.context, &call.caller, &session, &request).await?;
        let (told, data) = answer::session(&view, clock::now());
        Ok(ToolAnswer::new(&told, data))
    }
}

/// Asks a person to do in a session what you cannot, by a link, and waits for what they changed. If it answers with a link, show it, and call again with ask.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SessionAskPerson {
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// What they are to do
    text: Option<String>,
    /// Default: that of the tab in front
    #[serde(default)]
    sites: Vec<String>,
    /// They may upload
    #[serde(default)]
    files: bool,
    /// Waits for this one
    ask: Option<String>,
    #[serde(default)]
    withdraw: bool,
}

impl Verb for SessionAskPerson {
    const NAME: &'static str = "session_ask_person";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let (context, caller) = (&call.context, &call.caller);
        let is_heard = call.progress.is_heard();
        let open = self.withdraw.then(|| OPEN_ASK.to_owned());
        if let Some(ask) = self.ask.or(open) {
            let ask = guests::find(context, caller, &session, &ask).await?;
            if self.withdraw {
                return Ok(asked(&guests::withdraw(context, &ask).await));
            }
            let limit = if is_heard { None } else { Some(UNHEARD_WAIT) };
            let doing = "waiting for the person";
            let view = call.progress.during(doing, until_over(context, &ask, limit)).await;
            return Ok(asked(&view));
        }
        let none = "no text; say what the person is to do".to_owned();
        let text = self.text.ok_or(Failure::Arguments(none))?;
        let request = AskPerson { text, sites: self.sites, minutes: None, files: self.files };
        let place = call.place.as_ref();
        let created = guests::ask(context, caller, &session, &request, place).await?;
        let reach = match &created.opens.hint {
            Some(hint) => format!("only this machine opens it; {hint}"),
            None => "it counts once".to_owned(),
        };
        let link = format!("{} ({reach})", created.link);
        if !is_heard {
            let id = &created.view.id;
            let told = [
                format!("Show this link to the person: {link}"),
                format!("Then call session_ask_person with ask {id}, which waits."),
            ];
            return Ok(ToolAnswer::new(&told, json!({"ask": created})));
        }
        let id = created.view.id.clone();
        let ask = guests::find(context, caller, &session, &id).await?;
        let doing = format!("a person is asked, show them {link}");
        // Nobody hears of it who cancels the call: then the person need not do it either.
        let over = async {
            tokio::select! {
                biased;
                view = until_over(context, &ask, None) => view,
                () = call.progress.cancelled() => guests::withdraw(context, &ask).await,
            }
        };
        let view = call.progress.during(&doing, over).await;
        Ok(asked(&view))
    }
}

/// How long a client is kept that hears nothing meanwhile: clients give up after a minute.
const UNHEARD_WAIT: Duration = Duration::from_secs(45);

/// What became of an ask, once it has ended, or `limit` has passed.
async fn until_over(context: &Context, ask: &Ask, limit: Option<Duration>) -> AskView {
    let over = async {
        loop {
            let view =
                guests::wait(context, ask, WaitForAsk { wait: Some(MAX_ASK_WAIT), after: None })
                    .await;
            if view.state.is_over() || context.ending.is_cancelled() {
                return view;
            }
        }
    };
    match limit {
        None => over.await,
        Some(limit) => timeout(limit, over).await.unwrap_or_else(|_| ask.view()),
    }
}

fn asked(view: &AskView) -> ToolAnswer {
    let person = view.person.as_ref().map_or("somebody", |name| name.as_str());
    let mut told = vec![match view.state {
        AskState::Waiting => format!("Nobody has come yet; call again with ask {}.", view.id),
        AskState::Opened => format!("{person} is at it; call again with ask {}.", view.id),
        AskState::Done => format!("Done by {person}."),
        AskState::Declined => "Declined: the person cannot or will not do it.".to_owned(),
        AskState::TimedOut => "Its time has passed; nobody said that it is done.".to_owned(),
        AskState::Withdrawn => "It was taken back.".to_owned(),
        AskState::Lost => "The browser is gone; resume the session, and ask again.".to_owned(),
    }];
    if let Some(outcome) = &view.outcome {
        told.push(cut(&outcome.changed, LONG));
        told.extend(outcome.snapshot.map(|snapshot| format!("snapshot {snapshot}")));
        let bound = outcome.bound.iter().take(TOLD);
        told.extend(bound.map(|one| {
            format!("not in it: {}", cut(&format!("{}: {}", one.place, one.reason), LONG))
        }));
    }
    ToolAnswer::new(&told, json!({"ask": view}))
}

/// How much of a sentence is shown, in characters.
const LONG: usize = 600;
/// How many open tasks are listed.
const TOLD: usize = 50;
/// How much of a text is shown, in characters.
const WIDTH: usize = 160;

/// The board, a line for each agent and open task.
fn board_lines(view: &View, now: Timestamp) -> Vec<String> {
    let mut told: Vec<String> = view
        .board
        .agents
        .iter()
        .map(|(name, agent)| {
            let seen = agent.last_seen.as_ref().and_then(Stamp::instant);
            let seen =
                seen.map_or_else(String::new, |seen| format!(", seen {} ago", age(seen, now)));
            let status = if view.gone.contains(name) { "gone" } else { agent.status.as_str() };
            let task = agent.current_task.as_deref().map(|task| format!(": {}", cut(task, WIDTH)));
            format!("agent {name} {}{seen}{}", cut(status, WIDTH), task.unwrap_or_default())
        })
        .collect();
    let open: Vec<&Task> = view.board.tasks.iter().filter(|task| !task.is_completed()).collect();
    told.extend(open.iter().take(TOLD).map(|task| match view.waiting.get(&task.id) {
        Some(on) => format!("{}, waits for {}", task_line(task), on.join(", ")),
        None if view.lapsed.contains(&task.id) => {
            format!("{}, its holder is gone", task_line(task))
        }
        None => task_line(task),
    }));
    if open.len() > TOLD {
        told.push(format!("and {} more open tasks", open.len() - TOLD));
    }
    let done = view.board.tasks.len() - open.len();
    told.push(format!("{} tasks open, {done} completed", open.len()));
    told
}

/// A session that an agent drives, in a line.
fn driven_line(driven: &DrivenSession) -> String {
    format!("session {}: {} drives it", driven.session, driven.agent)
}

/// A task, in a line.
fn task_line(task: &Task) -> String {
    let who = task.assigned_to.as_deref().map(|who| format!(" by {}", cut(who, WIDTH)));
    let fence = task.fence().filter(|_| !task.is_completed());
    let fence = fence.map(|fence| format!(", fence {fence}"));
    format!(
        "task {} {} {}{}{}: {}",
        cut(&task.id, WIDTH),
        task.priority,
        task.status,
        who.unwrap_or_default(),
        fence.unwrap_or_default(),
        cut(&task.description, WIDTH)
    )
}

/// The agent that the tool names, or the one that the client says it is.
fn acting_agent(call: &Call, named: Option<String>) -> Result<AgentName, Failure> {
    let none = "no agent; give agent, or start the client with BATON_AGENT".to_owned();
    agent_if_any(call, named)?.ok_or(Failure::Arguments(none))
}

/// The same, when no agent has to be named.
fn agent_if_any(call: &Call, named: Option<String>) -> Result<Option<AgentName>, Failure> {
    let named = named.or_else(|| call.caller.agent.as_ref().map(ToString::to_string));
    named.map(|name| agent_named(&name)).transpose()
}

/// A name that was given.
fn agent_named(name: &str) -> Result<AgentName, Failure> {
    name.parse().map_err(|error: baton_federation::Refusal| Failure::Arguments(error.to_string()))
}
