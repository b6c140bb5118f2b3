//! The board that agents share, as this node sees it: read, written, and sent to the clients that follow it.
//!
//! The one idea: the board belongs to the user that the node runs as, like the files that it is made of; so
//! only the local owner's keys reach it, and for all others there is none.

use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::request::{Caller, Request};
use baton_api::{
    ChangeFederation, DrivenSession, DrivenSessions, FederationChange, FederationView, Invalid,
};
use baton_federation::{
    AgentName, Done, Federation, FederationError, Held, Operation, Priority, Refusal, View,
};
use baton_session::{AgentName as Named, Owner, json};
use baton_store::StoreError;
use jiff::Timestamp;
use std::path::Path;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// The board in a folder.
pub fn at(folder: &Path) -> Federation {
    Federation::at(folder, Timestamp::now, rand::random)
}

/// The board as it is now, if a session is active on it.
pub async fn read(context: &Runtime, caller: &Caller) -> Result<Option<View>, RuntimeError> {
    let board = of(context, caller)?;
    let gone_after = board.options().gone_after;
    let found = blocking(move || board.read()).await?;
    Ok(found.map(|found| View::of(found, baton_store::clock::now(), gone_after)))
}

/// The board as it is now, and who drives which session.
pub async fn show(context: &Runtime, caller: &Caller) -> Result<FederationView, RuntimeError> {
    let board = read(context, caller).await?;
    let sessions = driven(context, caller).await?.items;
    Ok(FederationView { board: board.map(|board| as_json(&board)), sessions })
}

/// Does an operation; it is on disk when this returns.
pub async fn write(
    context: &Runtime,
    caller: &Caller,
    operation: Operation,
) -> Result<Done, RuntimeError> {
    let board = of(context, caller)?;
    let done = blocking(move || board.write(&operation)).await?;
    if let Some(why) = &done.not_compacted {
        tracing::warn!(why, "the log of the board grows");
    }
    Ok(done)
}

/// Whether there is a board for this caller.
pub fn is_there(context: &Runtime, caller: &Caller) -> bool {
    of(context, caller).is_ok()
}

fn of(context: &Runtime, caller: &Caller) -> Result<Federation, RuntimeError> {
    let board = context.board.clone().filter(|_| caller.owner == Owner::local());
    board.ok_or(RuntimeError::NoBoard)
}

/// It waits for a lock and for the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FederationError> + Send + 'static,
) -> Result<T, RuntimeError> {
    Ok(baton_store::blocking::blocking(work).await??)
}

/// What of the board travels as it is in the file. It came out of JSON, so it goes into it.
fn as_json(value: &impl serde::Serialize) -> serde_json::Value {
    json::value(value)
}

/// The priority of a task that is given none.
const NORMAL: &str = "normal";

/// Does something with the board; it is on disk when this returns.
pub async fn change(
    context: &Runtime,
    caller: &Caller,
    request: ChangeFederation,
) -> Result<FederationChange, RuntimeError> {
    let done = write(context, caller, operation(caller, request)?).await?;
    let archived = done.archived.as_deref().and_then(|path| path.file_stem());
    Ok(FederationChange {
        task: done.task.as_ref().map(as_json),
        archived: archived.map(|name| name.to_string_lossy().into_owned()),
    })
}

fn operation(caller: &Caller, request: ChangeFederation) -> Result<Operation, RuntimeError> {
    use ChangeFederation as Change;
    let who = Who(caller);
    Ok(match request {
        Change::UpdateAgent { agent, status, current_task, workspace, model } => {
            let agent = who.needed(agent.as_ref())?;
            Operation::UpdateAgent { agent, status, current_task, workspace, model }
        }
        Change::Heartbeat { agent } => Operation::Heartbeat { agent: who.needed(agent.as_ref())? },
        Change::AddTask { description, priority, agent, assigned_to, blocked_by } => {
            Operation::AddTask {
                description,
                priority: Priority::from(priority.unwrap_or_else(|| NORMAL.to_owned())),
                agent: who.maybe(agent.as_ref())?,
                assigned_to: assigned_to.as_ref().map(on_board).transpose()?,
                blocked_by,
            }
        }
        Change::ClaimTask { agent, task } => {
            Operation::ClaimTask { agent: who.needed(agent.as_ref())?, task }
        }
        Change::StartTask { agent, task, fence } => {
            Operation::StartTask(who.holds(agent.as_ref(), task, fence)?)
        }
        Change::CompleteTask { agent, task, fence } => {
            Operation::CompleteTask(who.holds(agent.as_ref(), task, fence)?)
        }
        Change::ReleaseTask { agent, task, fence } => {
            Operation::ReleaseTask(who.holds(agent.as_ref(), task, fence)?)
        }
        Change::BlockTask { agent, task, on } => {
            Operation::BlockTask { agent: who.maybe(agent.as_ref())?, task, on }
        }
        Change::SetRouter { agent, version, accuracy, tier } => {
            Operation::SetRouter { agent: who.maybe(agent.as_ref())?, version, accuracy, tier }
        }
        Change::SetSprint { agent, sprint } => {
            Operation::SetSprint { agent: who.maybe(agent.as_ref())?, sprint }
        }
        Change::EndSprint { agent } => Operation::EndSprint { agent: who.maybe(agent.as_ref())? },
        Change::Close { agent } => Operation::Close { agent: who.maybe(agent.as_ref())? },
    })
}

/// Who acts: the agent that the request names, or the one that the caller says it is.
#[derive(Clone, Copy)]
struct Who<'caller>(&'caller Caller);

impl Who<'_> {
    fn maybe(self, named: Option<&Named>) -> Result<Option<AgentName>, RuntimeError> {
        named.or(self.0.agent.as_ref()).map(on_board).transpose()
    }

    fn holds(
        self,
        named: Option<&Named>,
        task: String,
        fence: Option<u64>,
    ) -> Result<Held, RuntimeError> {
        Ok(Held { agent: self.needed(named)?, task, fence })
    }

    fn needed(self, named: Option<&Named>) -> Result<AgentName, RuntimeError> {
        Ok(self.maybe(named)?.ok_or(Invalid {
            field: "agent",
            expected: "an agent's name, here or in the header Baton-Agent",
            found: "none".to_owned(),
        })?)
    }
}

/// The name as the board writes it. Names of agents have the same form everywhere.
fn on_board(agent: &Named) -> Result<AgentName, RuntimeError> {
    agent.as_str().parse().map_err(|refusal: Refusal| RuntimeError::Board(refusal.into()))
}

/// The caller's sessions that an agent drives, by name.
pub async fn driven(context: &Runtime, caller: &Caller) -> Result<DrivenSessions, RuntimeError> {
    let drivers = context.store.list_drivers(&caller.owner).await?;
    let mut items = Vec::with_capacity(drivers.len());
    for (id, driver) in drivers {
        let Some(agent) = driver.agent else { continue };
        match context.store.fetch_session(&caller.owner, id).await {
            Ok(found) => {
                let (session, since) = (found.name, driver.since);
                items.push(DrivenSession { session, id, agent, since });
            }
            // It was deleted since.
            Err(StoreError::SessionNotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    items.sort();
    Ok(DrivenSessions { items })
}

/// How often it is looked whether the caller's key was revoked, and whether an agent that was not heard of
/// for long is gone by now.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// A board that is followed.
pub struct Followed {
    context: Runtime,
    caller: Caller,
    board: watch::Receiver<()>,
    drivers: watch::Receiver<()>,
    revoked: watch::Receiver<u64>,
    told: Option<BoardState>,
    /// A node that a client follows is in use.
    _in_use: Request,
}

/// What the caller knows.
#[derive(PartialEq)]
enum BoardState {
    View(Box<FederationView>),
    Failed(String),
}

/// Follows the board from now on.
pub async fn follow(context: &Runtime, caller: &Caller) -> Result<Followed, RuntimeError> {
    let board = of(context, caller)?;
    let feed = context.feed.clone();
    Ok(Followed {
        drivers: context.supervisor.table().passes(),
        revoked: context.revoked.subscribe(),
        board: blocking(move || feed.listen(&board)).await?,
        context: context.clone(),
        caller: caller.clone(),
        told: None,
        _in_use: context.activity.start_request(),
    })
}

impl Followed {
    /// The board as it is now the first time, then after each change, also of who drives which session. None
    /// once the node ends or the caller's key is revoked. A board that cannot be read is reported once, and
    /// then waited for.
    pub async fn next(&mut self) -> Option<Result<FederationView, RuntimeError>> {
        let ending = self.context.ending.clone();
        tokio::select! {
            () = ending.cancelled() => None,
            next = self.poll() => next,
        }
    }

    async fn poll(&mut self) -> Option<Result<FederationView, RuntimeError>> {
        loop {
            // What changes from here on is seen at the next look.
            self.board.mark_unchanged();
            self.drivers.mark_unchanged();
            if self.context.is_shut_out(&self.caller).await.unwrap_or(false) {
                return None;
            }
            let shown = show(&self.context, &self.caller).await;
            let told = match &shown {
                Ok(view) => BoardState::View(Box::new(view.clone())),
                Err(error) => BoardState::Failed(error.to_string()),
            };
            if self.told.as_ref() != Some(&told) {
                self.told = Some(told);
                return Some(shown);
            }
            let changed = async {
                tokio::select! {
                    board = self.board.changed() => board,
                    drivers = self.drivers.changed() => drivers,
                    revoked = self.revoked.changed() => revoked,
                }
            };
            // The senders live as long as the context.
            let _ = timeout(LOOK_PAUSE, changed).await;
        }
    }
}
