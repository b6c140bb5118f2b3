//! What commands on the board are given: the board, how to answer, and which agent drives which session.

use crate::local::{self, Context};
use crate::output::{self, Output};
use anyhow::Context as _;
use baton_api::{DrivenSession, Exit};
use baton_federation::{AgentName, Done, Federation, Operation, Options, View};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::timeout;

/// The surroundings of a command.
pub(super) struct Desk {
    pub(super) board: Federation,
    /// The agent that acts, if `--as` or `BATON_AGENT` names one.
    pub(super) agent: Option<AgentName>,
    pub(super) output: Output,
}

impl Desk {
    pub(super) fn new(
        folder: Option<PathBuf>,
        gone_after: SignedDuration,
        archive_after: SignedDuration,
        context: &Context,
    ) -> anyhow::Result<Self> {
        let folder = match folder {
            Some(folder) => folder,
            None => etcetera::home_dir()
                .context("expected a home folder, found none\nname a folder with --dir")?
                .join(".federation"),
        };
        let options = Options { gone_after, archive_after, ..Options::default() };
        let board = Federation::at(&folder, Timestamp::now, rand::random).with_options(options);
        // Names of agents have the same form everywhere.
        let agent = context.agent.as_ref().and_then(|agent| agent.as_str().parse().ok());
        Ok(Self { board, agent, output: context.output })
    }

    /// Who acts.
    pub(super) fn who(&self) -> Result<AgentName, Nameless> {
        self.agent.clone().ok_or(Nameless)
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

/// Neither `--as` nor `BATON_AGENT` names the agent that acts.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected to be told which agent you are, found nothing\nsay --as AGENT, or set BATON_AGENT"
)]
pub(crate) struct Nameless;

/// How long the node may take: a look at the board is no time to wait for it.
const LIMIT: Duration = Duration::from_secs(1);

/// What the node says; none when none runs, or it does not say. It is never started for this.
pub(super) fn driven(context: &Context) -> Option<Vec<DrivenSession>> {
    // Most of the time this is all: a file that is not there.
    if !context.data.path().exists() {
        return None;
    }
    match run(context) {
        Ok(driven) => driven,
        Err(error) => {
            context
                .output
                .note(&format!("which agent drives which session is not known: {error:#}"));
            None
        }
    }
}

fn run(context: &Context) -> anyhow::Result<Option<Vec<DrivenSession>>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let asked = async {
            let Some(node) = local::find(&context.data).await? else { return Ok(None) };
            Ok(Some(node.client.list_driven_sessions().await?.items))
        };
        timeout(LIMIT, asked).await?
    })
}
