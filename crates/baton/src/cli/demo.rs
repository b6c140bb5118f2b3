//! `baton demo`

use super::Context;
use baton_api::Exit;
use clap::Args;

/// See a session outlive its browser and its node, and go on elsewhere
#[derive(Debug, Args)]
#[command(after_help = "Needs Chromium, and neither an account nor the network.")]
pub(super) struct Demo {}

impl Demo {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        crate::demo::run(context).await
    }
}
