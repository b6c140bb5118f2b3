//! `baton debug list-tabs`

use super::super::Context;
use crate::output;
use baton_api::Exit;
use clap::Args;

/// List the tabs that can be looked into, with their tokens
#[derive(Debug, Args)]
pub(in crate::cli) struct ListTabs {}

impl ListTabs {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let tabs = context.client().await?.list_tabs().await?;
        context.output.answer(&tabs, || output::debug_tabs(&tabs.items));
        Ok(Exit::Done)
    }
}
