//! The gateway: agents that are asked as if they were models, by OpenAI's protocol.
//!
//! The one idea: an answer is a sandbox. It is made with the session that the request names, one agent runs
//! in it, and when the agent has answered, took too long, or the caller listens no more, the sandbox ends and
//! its session is written back.
//!
//! Rooms: `ask` lists the agents and runs one that is a program, at a desk that is its
//! sandbox and its caller; `baseline` is the one that is built in; `prompt` is what they are asked; `pieces`
//! is how an answer reads on the wire.

mod ask;
mod baseline;
mod pieces;
mod prompt;

pub use crate::error::GatewayRefusal;
pub use crate::settings::{
    AgentSettings, BUILT_IN_AGENT, GatewaySettings, Prompt, UpstreamSettings,
};
pub use ask::{Run, ask, model, models};
pub use pieces::{Shape, failure, whole};

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
struct Desk<'a> {
    context: &'a Agents,
    caller: &'a Caller,
    sandbox: &'a SandboxView,
    events: &'a mpsc::Sender<RunEvent>,
    said: usize,
}

/// How an agent's answer ends.
struct Answered {
    finish: FinishReason,
    /// The tokens, if it knows them.
    usage: Option<Usage>,
}

impl<'a> Desk<'a> {
    fn new(
        context: &'a Agents,
        caller: &'a Caller,
        sandbox: &'a SandboxView,
        events: &'a mpsc::Sender<RunEvent>,
    ) -> Self {
        Self { context, caller, sandbox, events, said: 0 }
    }

    /// Tells the caller what the agent says. Whether it may say more.
    async fn say(&mut self, mut text: String) -> bool {
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
    fn has_said(&self) -> bool {
        self.said > 0
    }

    /// Runs a command in the sandbox.
    async fn run(
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
    async fn write(&self, path: &str, text: &str) -> Result<(), AgentsError> {
        let id = self.sandbox.id.to_string();
        sandboxes::write(self.context, self.caller, &id, path, text.as_bytes()).await
    }
}
