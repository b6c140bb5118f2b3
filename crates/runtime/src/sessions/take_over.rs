//! A person takes a session over from the agent that drives it, and gives it back.
//!
//! The one idea: a person who takes over becomes the driver by the rule that agents have, under a name of their own,
//! in the same row and the same log; only the agent does not lose its connection, for it gets the session back. One
//! person at a time does so. What is given back goes to the agent that had it, unless it was passed on
//! meanwhile. Who that is stands in the row, so a turn that ended with its node, or whose end the database did not
//! take, is given back later.

use super::audited::{begin_turn, pass};
use super::lifecycle::{active, expect_confined};
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::life::{driver, other};
use crate::request::Caller;
use crate::table::{Client, TakenOver};
use baton_api::{Invalid, PassSession, Scope};
use baton_session::{AgentName, Session, SessionId};
use baton_store::{Driver, HumanTurn};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// What the log says of a person who gives no reason.
const REASON: &str = "a person took over";
/// How often it is looked whether a turn was left behind.
const LEFT_PAUSE: Duration = Duration::from_secs(10);

/// A session that a person has taken over. It is to be given back; one that is dropped is given
/// back a while later.
pub struct PersonTurn {
    caller: Caller,
    person: AgentName,
    session: Session,
    /// Who drove it before.
    from: Option<AgentName>,
    _taken: TakenOver,
    _client: Client,
}

/// Takes an active session over, for a caller with the scope `drive`, under the name `person`.
pub async fn take_over(
    context: &Runtime,
    caller: &Caller,
    session: &Session,
    person: &AgentName,
    reason: Option<&str>,
) -> Result<PersonTurn, RuntimeError> {
    caller.require(Scope::Drive)?;
    let caller = Caller { agent: Some(person.clone()), ..caller.clone() };
    let session = active(context, &caller.owner, &session.id.to_string()).await?;
    expect_confined(context, &caller, &session)?;
    let table = context.supervisor.table();
    let taken = table.take_over(session.id, person);
    let taken = taken.map_err(|first| refusal(&session, first, &caller))?;
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty()).unwrap_or(REASON);
    let from = begin_turn(context, &caller, &session.id.to_string(), person, reason).await?;
    let client = table.enter(session.id, Some(person.clone()));
    let person = person.clone();
    Ok(PersonTurn { caller, person, session, from, _taken: taken, _client: client })
}

/// Whether an agent of this name drives a session or is connected to its browser, so that no person may be called so.
pub async fn has_agent(
    context: &Runtime,
    session: &Session,
    name: &AgentName,
) -> Result<bool, RuntimeError> {
    let is_connected = context.supervisor.table().has_client(session.id, name);
    Ok(is_connected || driver(context, session).await?.as_ref() == Some(name))
}

/// Somebody has taken it over already, who may be the same person.
fn refusal(session: &Session, first: AgentName, caller: &Caller) -> RuntimeError {
    if caller.agent.as_ref() != Some(&first) {
        return other(session, first, caller);
    }
    let (field, expected) = ("name", "one that has not taken the session over yet");
    let found = format!("{first}, who drives it from another page\ngive it back there first");
    Invalid { field, expected, found }.into()
}

impl PersonTurn {
    /// The person's name.
    pub fn person(&self) -> &AgentName {
        &self.person
    }

    /// Whether the person drives it still. A database that does not answer changes nothing.
    pub async fn holds(&self, context: &Runtime) -> bool {
        let found = driver(context, &self.session).await;
        found.map_or(true, |agent| agent.as_ref() == Some(&self.person))
    }

    /// Gives it back to who had it; one that was passed on meanwhile stays there.
    pub async fn give_back(self, context: &Runtime) -> Result<(), RuntimeError> {
        if driver(context, &self.session).await?.as_ref() != Some(&self.person) {
            return Ok(());
        }
        let request = PassSession { to: self.from.clone(), reason: None };
        pass(context, &self.caller, &self.session.id.to_string(), &request).await.map(drop)
    }
}

/// Gives back, until the node ends, what people had taken over and nobody gave back: their node was killed, or the
/// database did not answer.
pub async fn give_back_left(context: Runtime) {
    let ending = context.ending.clone();
    let mut looks = interval(LEFT_PAUSE);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while ending.run_until_cancelled(looks.tick()).await.is_some() {
        let left = match context.store.list_turns(context.node).await {
            Ok(turns) => turns,
            Err(error) => {
                tracing::debug!(%error, "it is not known whether a turn was left behind");
                continue;
            }
        };
        for (id, driver) in left {
            if let Err(error) = give_back_one(&context, id, driver).await {
                tracing::warn!(session = %id, %error, "a turn that was left behind is not given back yet");
            }
        }
    }
}

/// Gives one turn back, unless its person is at it.
async fn give_back_one(context: &Runtime, id: SessionId, left: Driver) -> Result<(), RuntimeError> {
    let Driver { agent: Some(person), turn: Some(HumanTurn { from }), .. } = &left else {
        return Ok(());
    };
    // Nobody takes it over meanwhile.
    let Ok(_taken) = context.supervisor.table().take_over(id, person) else { return Ok(()) };
    if context.store.fetch_driver(id).await?.as_ref() != Some(&left) {
        return Ok(());
    }
    let Some(session) = context.store.fetch_any_session(id).await? else { return Ok(()) };
    let caller = Caller { agent: Some(person.clone()), ..Caller::node(session.owner) };
    let request = PassSession { to: from.clone(), reason: None };
    pass(context, &caller, &id.to_string(), &request).await.map(drop)
}
