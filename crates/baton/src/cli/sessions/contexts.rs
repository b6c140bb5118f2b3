//! `baton sessions contexts` and `baton sessions keep-context`

use super::{Context, Reference};
use crate::output;
use baton_api::{Exit, KeepContext};
use baton_session::SessionName;
use clap::Args;

/// List the contexts that tools made for themselves in the session's browser, and their tabs
///
/// Incognito windows, and what Playwright's `browser.newContext()` gives. They are not kept: baton
/// sessions keep-context makes a session of one.
#[derive(Debug, Args)]
pub(crate) struct Contexts {
    #[command(flatten)]
    session: Reference,
}

impl Contexts {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let list = context.client().await?.list_contexts(&self.session.id).await?;
        context.output.answer(&list, || output::contexts(&list));
        Ok(Exit::Done)
    }
}

/// Make a session of its own of what a context holds now
///
/// It gets the cookies of the context, its tabs, and the storage of the sites that they show; what
/// happens in the context later is not in it. baton sessions resume brings it to life. Ends with 6
/// when something could not be taken.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  baton sessions keep-context shop --name shop-bob
  baton sessions keep-context shop --context 4F3A --name shop-bob")]
pub(crate) struct Keep {
    #[command(flatten)]
    session: Reference,
    /// The beginning of the context's id; may be left out when there is only one
    #[arg(long, value_name = "CONTEXT")]
    context: Option<String>,
    /// Name of the new session
    #[arg(long)]
    name: SessionName,
    /// Free text for people
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

impl Keep {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let Self { session, context: which, name, description } = self;
        let request = KeepContext { context: which, name, description };
        let client = context.client().await?;
        let progress = context.output.progress("reading the context");
        let kept = client.keep_context(&session.id, &request).await;
        progress.end();
        let kept = kept?;
        context.output.answer(&kept, || output::imported(&kept));
        Ok(if kept.left_out.items.is_empty() { Exit::Done } else { Exit::Losses })
    }
}
