//! `baton debug pair`

use super::super::Context;
use baton_api::Exit;
use clap::Args;

/// Show a code that pairs a browser: Baton's extension takes it, and tells of the tabs of your cocoons
#[derive(Debug, Args)]
#[command(after_help = "\
The code counts once, for five minutes. The browser gets a key of its own, with the scope browser: it
may tell of tabs, and nothing else. baton keys list shows it, baton keys revoke ends it.")]
pub(in crate::cli) struct Pair {}

impl Pair {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let paired = context.client().await?.pair_browser().await?;
        context.output.answer(&paired, || {
            format!(
                "address  {}\ncode     {}\n\ntype both into the extension within five minutes",
                paired.address, paired.code
            )
        });
        Ok(Exit::Done)
    }
}
