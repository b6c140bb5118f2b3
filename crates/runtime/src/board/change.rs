//! What callers may do with the board, as an operation on it.

use super::{as_json, write};
use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_api::Invalid;
use baton_api::{ChangeFederation, FederationChange};
use baton_federation::{AgentName, Held, Operation, Priority, Refusal};
use baton_session::AgentName as Named;

/// The priority of a task when nobody says one.
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
