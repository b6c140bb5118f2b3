//! What every command on the board is given: the board, and how to answer.

use crate::output::{self, Output};
use anyhow::Context as _;
use baton_api::Exit;
use baton_federation::{AgentName, Done, Federation, Operation, Options, View};
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::path::PathBuf;

/// Who acts.
#[derive(Debug, Args)]
pub(super) struct As {
    /// The agent that you are
    #[arg(long = "as", value_name = "AGENT", env = "BATON_AGENT", hide_env_values = true)]
    pub(super) agent: AgentName,
}

/// Who acts, if somebody says so.
#[derive(Debug, Args)]
pub(super) struct MaybeAs {
    /// The agent that you are
    #[arg(long = "as", value_name = "AGENT", env = "BATON_AGENT", hide_env_values = true)]
    pub(super) agent: Option<AgentName>,
}

/// The surroundings of a command.
pub(super) struct Desk {
    pub(super) board: Federation,
    pub(super) output: Output,
}

impl Desk {
    pub(super) fn new(
        folder: Option<PathBuf>,
        gone_after: SignedDuration,
        archive_after: SignedDuration,
        output: Output,
    ) -> anyhow::Result<Self> {
        let folder = match folder {
            Some(folder) => folder,
            None => etcetera::home_dir()
                .context("expected a home folder, found none\nname a folder with --dir")?
                .join(".federation"),
        };
        let options = Options { gone_after, archive_after, ..Options::default() };
        let board = Federation::at(&folder, Timestamp::now, rand::random).with_options(options);
        Ok(Self { board, output })
    }

    /// The board as it is shown now, if a session is active.
    pub(super) fn view(&self) -> anyhow::Result<Option<View>> {
        let gone_after = self.board.options().gone_after;
        Ok(self.board.read()?.map(|board| View::of(board, Timestamp::now(), gone_after)))
    }

    /// Does an operation on a task and shows the task.
    pub(super) fn change(&self, operation: &Operation) -> anyhow::Result<Exit> {
        let Done { task, .. } = self.board.write(operation)?;
        let text = || task.as_ref().map(output::task).unwrap_or_default();
        self.output.answer(&json!({ "task": task }), text);
        Ok(Exit::Done)
    }

    /// Does an operation that archives the session.
    pub(super) fn end(&self, operation: &Operation) -> anyhow::Result<Exit> {
        let Done { archived, .. } = self.board.write(operation)?;
        let text = || match &archived {
            Some(path) => format!("archived as {}", path.display()),
            None => "nothing was archived".to_owned(),
        };
        self.output.answer(&json!({ "archived": archived }), text);
        Ok(Exit::Done)
    }
}
