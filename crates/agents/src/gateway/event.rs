//! What an agent does, as whoever asked it hears.

use crate::error::AgentsError;
use baton_api::chat::{FinishReason, Ran, Usage};

/// What an agent does.
#[derive(Debug)]
pub enum RunEvent {
    /// It says something.
    Text(String),
    /// It is done; always the last event.
    End(Box<Result<Done, AgentsError>>),
}

/// How an answer ended.
#[derive(Debug)]
pub struct Done {
    /// Why.
    pub finish: FinishReason,
    /// The tokens, if the agent knows them.
    pub usage: Option<Usage>,
    /// What became of its sandbox.
    pub ran: Ran,
}
