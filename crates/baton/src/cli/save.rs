//! `baton save`

use super::Context;
use crate::output::{self, Names};
use baton_api::Exit;
use baton_api::sync::{MovementOutcome, SaveSession, SavedView};
use baton_session::SessionName;
use clap::Args;

/// Save a session as it is now, so that it can move to other nodes
#[derive(Debug, Args)]
#[command(after_help = "\
An active session is captured first; of any other the last good snapshot is saved. What is saved is
kept for good, and is what baton sync run moves. Without a peer it is a mark to come back to.

The exit code is 4 when somebody has to choose between revisions (baton sync conflicts), and 1 when
a peer was not reached with --sync-to-peers: the session is saved all the same.

Examples:
  baton save shop
  baton save shop --description \"after the audit\" --sync-to-peers")]
pub(super) struct Save {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
    /// Call it this from now on: letters, digits, '-', '_' and '.'
    #[arg(long)]
    name: Option<SessionName>,
    /// Free text for people
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Move it to every confirmed peer at once
    #[arg(long)]
    sync_to_peers: bool,
}

impl Save {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let Self { id, name, description, sync_to_peers } = self;
        let client = context.client().await?;
        let request = SaveSession { name, description, sync_to_peers };
        let progress = context.output.progress("saving the session");
        let saved = client.save_session(&id, &request).await;
        progress.end();
        let saved = saved?;
        // Its peers are known by their names, where there are any.
        let names = if saved.pushed.is_empty() {
            Names::default()
        } else {
            client.list_known_peers().await.map(|list| Names::of(&list)).unwrap_or_default()
        };
        context.output.answer(&saved, || output::saved(&saved, &names));
        Ok(exit(&saved))
    }
}

fn exit(saved: &SavedView) -> Exit {
    let conflicts = |outcome| outcome == MovementOutcome::Conflict;
    let is_left = saved.pushed.iter().any(|one| one.outcome == MovementOutcome::Unfinished);
    if is_left || !saved.failed.is_empty() {
        return Exit::Failed;
    }
    let has_conflict = saved.pushed.iter().any(|one| conflicts(one.outcome));
    match () {
        () if has_conflict || !saved.conflicts.is_empty() => Exit::Conflict,
        () if saved.left_out.has_losses() => Exit::Losses,
        () => Exit::Done,
    }
}
