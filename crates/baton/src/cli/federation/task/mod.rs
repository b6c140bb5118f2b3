//! `baton federation task`, one file a verb.

mod add;
mod block;
mod claim;
mod held;
mod list;

use super::Desk;
use baton_api::Exit;
use baton_federation::Operation;
use clap::Subcommand;

/// Add, list, claim, start, finish, give back and block tasks
#[derive(Debug, Subcommand)]
pub(super) enum Task {
    Add(add::Add),
    List(list::List),
    Claim(claim::Claim),
    /// Say that you begin to work on a task that you claimed
    Start(held::Held),
    /// Say that a task that you claimed is done
    Done(held::Held),
    /// Give a task back that you claimed
    Release(held::Held),
    Block(block::Block),
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
