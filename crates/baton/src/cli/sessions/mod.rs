//! `baton sessions`, one file a verb.

mod abandon;
mod capture;
mod cdp;
mod close;
mod contexts;
mod delete;
mod diff;
mod files;
mod history;
mod list;
mod pass;
mod resume;
mod rollback;
mod show;

use super::Context;
use baton_api::Exit;
use clap::{Args, Subcommand};

/// List, show, capture, resume, roll back, drive, pass, close, abandon, delete sessions
#[derive(Debug, Subcommand)]
pub(super) enum Sessions {
    List(list::List),
    Show(show::Show),
    Capture(capture::Capture),
    Resume(resume::Resume),
    Close(close::Close),
    Abandon(abandon::Abandon),
    Delete(delete::Delete),
    History(history::ShowHistory),
    Rollback(rollback::Rollback),
    Diff(diff::Diff),
    Cdp(cdp::Cdp),
    Contexts(contexts::Contexts),
    KeepContext(contexts::Keep),
    Pass(pass::Pass),
    Files(files::Files),
}

/// Which session.
#[derive(Debug, Args)]
struct Reference {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
}

impl Sessions {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::List(command) => command.run(context).await,
            Self::Show(command) => command.run(context).await,
            Self::Capture(command) => command.run(context).await,
            Self::Resume(command) => command.run(context).await,
            Self::Close(command) => command.run(context).await,
            Self::Abandon(command) => command.run(context).await,
            Self::Delete(command) => command.run(context).await,
            Self::History(command) => command.run(context).await,
            Self::Rollback(command) => command.run(context).await,
            Self::Diff(command) => command.run(context).await,
            Self::Cdp(command) => command.run(context).await,
            Self::Contexts(command) => command.run(context).await,
            Self::KeepContext(command) => command.run(context).await,
            Self::Pass(command) => command.run(context).await,
            Self::Files(command) => command.run(context).await,
        }
    }
}
