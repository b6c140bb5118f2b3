//! `baton federation`: the board that agents share, one file a verb.
//!
//! It works on the files directly: no node, no runtime, nothing to wait for but the disk, for it runs
//! in the hooks of shells and agents. Only `status` asks a node, when one runs.

mod desk;
mod driven;
mod history;
mod recover;
mod router;
mod sprint;
mod status;
mod task;
mod update;
mod watch;

use crate::context::Context;
use baton_api::Exit;
use baton_federation::Operation;
use clap::{Args, Subcommand};
use desk::Desk;
pub(super) use desk::Nameless;
use jiff::SignedDuration;
use std::path::PathBuf;

/// Take turns: one board that all agents of this machine share
#[derive(Debug, Args)]
#[command(after_help = "\
The board is a file that anybody can read: sessions/active-session.json in the folder. Agents that
write it themselves and agents that use these commands do not disturb each other.

Examples:
  baton federation update kimi active --task \"tests\"   say what you do
  baton federation task add \"write the docs\"           add something to do
  baton federation task claim --as kimi                take the best free task
  baton federation task done task-x7k2pq --as kimi     say that it is done
  baton federation status                              who does what")]
pub(super) struct Federation {
    /// Folder of the board [default: ~/.federation]
    #[arg(long, value_name = "DIR", env = "FEDERATION_DIR", hide_env_values = true, global = true)]
    dir: Option<PathBuf>,
    /// After how long an agent that is not seen is gone, and others may take its tasks
    #[arg(
        long, value_name = "DURATION", env = "FEDERATION_GONE_AFTER", hide_env_values = true,
        default_value = "15m", value_parser = duration, global = true
    )]
    gone_after: SignedDuration,
    /// After how long without activity a session is archived
    #[arg(
        long, value_name = "DURATION", env = "FEDERATION_ARCHIVE_AFTER", hide_env_values = true,
        default_value = "24h", value_parser = duration, global = true
    )]
    archive_after: SignedDuration,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Status(status::Status),
    Update(update::Update),
    #[command(subcommand)]
    Task(task::Task),
    Sprint(sprint::Sprint),
    Router(router::Router),
    /// Close the session: it is archived, and the next update or task begins another
    Close,
    History(history::History),
    Watch(watch::Watch),
    Recover(recover::Recover),
}

impl Federation {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let desk = Desk::new(self.dir, self.gone_after, self.archive_after, context)?;
        match self.command {
            Command::Status(command) => command.run(&desk, context),
            Command::Update(command) => command.run(&desk),
            Command::Task(command) => command.run(&desk),
            Command::Sprint(command) => command.run(&desk),
            Command::Router(command) => command.run(&desk),
            Command::Close => desk.end(&Operation::Close { agent: desk.agent.clone() }),
            Command::History(command) => command.run(&desk),
            Command::Watch(command) => command.run(&desk),
            Command::Recover(command) => command.run(&desk),
        }
    }
}

fn duration(text: &str) -> Result<SignedDuration, String> {
    let read = text.parse::<SignedDuration>().ok().filter(SignedDuration::is_positive);
    read.ok_or_else(|| "expected a time such as 15m or 24h".to_owned())
}
