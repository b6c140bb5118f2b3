//! `baton federation task`: what there is to do, and who does it.

use super::Desk;
use crate::output;
use baton_api::Exit;
use baton_federation::{AgentName, Operation, Priority};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use serde_json::json;

/// Add, list, claim, start, finish, give back and block tasks
#[derive(Debug, Subcommand)]
pub(super) enum Task {
    Add(Add),
    List(List),
    Claim(Claim),
    /// Say that you begin to work on a task that you claimed
    Start(Held),
    /// Say that a task that you claimed is done
    Done(Held),
    /// Give a task back that you claimed
    Release(Held),
    Block(Block),
}

impl Task {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        match self {
            Self::Add(command) => command.run(desk),
            Self::List(command) => command.run(desk),
            Self::Claim(command) => command.run(desk),
            Self::Start(held) => desk.change(&Operation::StartTask(held.of(desk)?)),
            Self::Done(held) => desk.change(&Operation::CompleteTask(held.of(desk)?)),
            Self::Release(held) => desk.change(&Operation::ReleaseTask(held.of(desk)?)),
            Self::Block(command) => command.run(desk),
        }
    }
}

/// Add something to do
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  baton federation task add \"publish the docs\" --priority high \\
    --after task-x7k2pq")]
pub(super) struct Add {
    /// What is to be done; keep secrets out of it
    #[arg(value_name = "TEXT")]
    text: String,
    /// How soon
    #[arg(long, default_value = "normal", value_parser = priorities())]
    priority: Priority,
    /// Only for this agent
    #[arg(long = "for", value_name = "AGENT")]
    meant_for: Option<AgentName>,
    /// Tasks that must be done before
    #[arg(long, value_name = "ID", num_args = 1..)]
    after: Vec<String>,
}

impl Add {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.change(&Operation::AddTask {
            description: self.text,
            priority: self.priority,
            agent: desk.agent.clone(),
            assigned_to: self.meant_for,
            blocked_by: self.after,
        })
    }
}

/// The words that we know; another program may use others.
fn priorities() -> impl TypedValueParser<Value = Priority> {
    PossibleValuesParser::new(["low", "normal", "high", "urgent"]).map(Priority::from)
}

/// Let a task wait until others are done
#[derive(Debug, Args)]
pub(super) struct Block {
    /// Which task
    #[arg(value_name = "ID")]
    id: String,
    /// For which others
    #[arg(long, value_name = "ID", required = true, num_args = 1..)]
    on: Vec<String>,
}

impl Block {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.change(&Operation::BlockTask { agent: desk.agent.clone(), task: self.id, on: self.on })
    }
}

/// Take a task: exactly one agent gets it
#[derive(Debug, Args)]
#[command(after_help = "\
Without an ID the best that is free is taken: the highest priority, then the oldest. A claim lasts as
long as you are seen: every command of yours counts. The fence that is shown is the claim's number.")]
pub(super) struct Claim {
    /// Which task
    #[arg(value_name = "ID")]
    id: Option<String>,
}

impl Claim {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.change(&Operation::ClaimTask { agent: desk.who()?, task: self.id })
    }
}

#[derive(Debug, Args)]
pub(super) struct Held {
    /// Which task
    #[arg(value_name = "ID")]
    id: String,
    /// The number that the claim gave you: if somebody took the task over since, you are told
    #[arg(long, value_name = "NUMBER")]
    fence: Option<u64>,
}

impl Held {
    /// It, of whoever acts.
    fn of(self, desk: &Desk) -> anyhow::Result<baton_federation::Held> {
        Ok(baton_federation::Held { agent: desk.who()?, task: self.id, fence: self.fence })
    }
}

/// Show the tasks that are open
#[derive(Debug, Args)]
pub(super) struct List {
    /// Those that are done as well
    #[arg(long)]
    all: bool,
}

impl List {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let Some(view) = desk.view()? else {
            desk.output.answer(&json!({ "items": [] }), || "no active session".to_owned());
            return Ok(Exit::Done);
        };
        let tasks = view.board.tasks.iter().filter(|task| self.all || !task.is_completed());
        let tasks: Vec<_> = tasks.collect();
        desk.output.answer(&json!({ "items": tasks }), || output::tasks(&view, &tasks));
        Ok(Exit::Done)
    }
}
