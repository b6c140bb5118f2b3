//! Which agent drives which browser session, as the node of the data folder tells it, if one runs.

use crate::context::Context;
use crate::local;
use baton_api::DrivenSession;
use std::time::Duration;
use tokio::time::timeout;

/// How long the node may take: a look at the board is no time to wait for it.
const LIMIT: Duration = Duration::from_secs(1);

/// What the node says; none when none runs, or it does not say. It is never started for this.
pub(super) fn ask(context: &Context) -> Option<Vec<DrivenSession>> {
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
