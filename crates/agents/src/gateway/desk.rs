//! Where an agent works: in a sandbox, for a caller who listens and hears what it does.

use crate::error::AgentsError;
use crate::sandboxes::Events;
use crate::{Agents, sandboxes};
use baton_api::chat::{FinishReason, Ran, Usage};
use baton_api::sandbox::{CommandLine, ExecSandbox, SandboxView};
use baton_runtime::Caller;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc;

/// The most that an agent says in one answer, in bytes.
const MOST_SAID: usize = 4 << 20;

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

/// Where an agent works.
pub(super) struct Desk<'a> {
    pub(super) context: &'a Agents,
    pub(super) caller: &'a Caller,
    pub(super) sandbox: &'a SandboxView,
    pub(super) events: &'a mpsc::Sender<RunEvent>,
    said: usize,
}

/// How an agent's answer ends.
pub(super) struct Answered {
    pub(super) finish: FinishReason,
    /// The tokens, if it knows them.
    pub(super) usage: Option<Usage>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        context: &'a Agents,
        caller: &'a Caller,
        sandbox: &'a SandboxView,
        events: &'a mpsc::Sender<RunEvent>,
    ) -> Self {
        Self { context, caller, sandbox, events, said: 0 }
    }

    /// Tells the caller what the agent says. Whether it may say more.
    pub(super) async fn say(&mut self, mut text: String) -> bool {
        let room = MOST_SAID - self.said;
        let is_all = text.len() <= room;
        text.truncate(text.floor_char_boundary(room));
        self.said += text.len();
        if !text.is_empty() {
            // A caller that left is noticed where the agent is run.
            let _ = self.events.send(RunEvent::Text(text)).await;
        }
        is_all
    }

    /// Whether the agent has said something.
    pub(super) fn has_said(&self) -> bool {
        self.said > 0
    }

    /// Runs a command in the sandbox.
    pub(super) async fn run(
        &self,
        command: CommandLine,
        input: Option<String>,
        limit: Option<Duration>,
    ) -> Result<Events, AgentsError> {
        let request = ExecSandbox {
            command,
            env: BTreeMap::new(),
            directory: None,
            input,
            timeout: limit.map(|limit| u32::try_from(limit.as_secs()).unwrap_or(u32::MAX)),
        };
        sandboxes::exec(self.context, self.caller, &self.sandbox.id.to_string(), request).await
    }

    /// Writes a file of the sandbox.
    pub(super) async fn write(&self, path: &str, text: &str) -> Result<(), AgentsError> {
        let id = self.sandbox.id.to_string();
        sandboxes::write(self.context, self.caller, &id, path, text.as_bytes()).await
    }
}
