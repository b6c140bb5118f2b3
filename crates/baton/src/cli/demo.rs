//! `baton demo`

use super::Context;
use baton_api::Exit;
use clap::Args;

/// See a session lose its browser, its keeper and its node, and come back
#[derive(Debug, Args)]
#[command(after_help = "Needs Chromium, and neither an account nor the network.")]
pub(super) struct Demo {}

impl Demo {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        crate::demo::run(context).await
    }
}
