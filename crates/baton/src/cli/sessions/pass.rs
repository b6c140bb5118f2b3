//! `baton sessions pass`

use super::{Context, Reference};
use baton_api::{Exit, PassSession};
use baton_session::AgentName;
use clap::Args;

/// Hand a session to another agent, which goes on in the same tabs
#[derive(Debug, Args)]
#[command(after_help = "\
One agent at a time drives a session: the first that opens, resumes or drives it, by the name that it
says with --as or BATON_AGENT. Others are refused until it passes the session on, or until somebody
takes it and says why.

Examples:
  baton sessions pass shop --as kimi --to codex
  baton sessions pass shop --to codex --reason \"kimi hangs\"
  baton sessions pass shop --to nobody --as kimi")]
pub(crate) struct Pass {
    #[command(flatten)]
    session: Reference,
    /// The agent that drives it from now on, or \"nobody\": then the next one that asks gets it
    #[arg(long, value_name = "AGENT")]
    to: AgentName,
    /// Why; needed by whoever does not drive it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl Pass {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let to = Some(self.to).filter(|to| to.as_str() != "nobody");
        let request = PassSession { to, reason: self.reason };
        let view = client.pass_session(&self.session.id, &request).await?;
        let text = || match &view.session.agent {
            Some(driver) => format!("{} drives {} now", driver.agent, view.session.name),
            None => format!("no agent drives {} now", view.session.name),
        };
        context.output.answer(&view, text);
        Ok(Exit::Done)
    }
}
