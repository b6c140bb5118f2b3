//! A person takes a session over from the agent that drives it, and gives it back.
//!
//! The one idea: a person who takes over becomes the driver by the rule that agents have, under a name, in the
//! same row and the same log; only the agent does not lose its connection, for it gets the session back. One
//! person at a time does so. What is given back goes to the agent that had it, unless it was passed on
//! meanwhile.

use super::audited::pass;
use super::lifecycle::{active, expect_confined};
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::life::{driver, other};
use crate::request::Caller;
use crate::table::{Client, TakenOver};
use baton_api::{PassSession, Scope};
use baton_session::{AgentName, Session};

/// What the log says of a person who gives no reason.
const REASON: &str = "a person took over";

/// A session that a person has taken over. It is to be given back; one that is dropped stays with the person.
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
    let taken = taken.map_err(|first| other(&session, first, &caller))?;
    let from = driver(context, &session).await?;
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty()).unwrap_or(REASON);
    let request = PassSession { to: Some(person.clone()), reason: Some(reason.to_owned()) };
    pass(context, &caller, &session.id.to_string(), &request).await?;
    let client = table.enter(session.id, Some(person.clone()));
    let from = from.filter(|agent| agent != person);
    let person = person.clone();
    Ok(PersonTurn { caller, person, session, from, _taken: taken, _client: client })
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
