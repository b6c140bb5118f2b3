//! `baton debug`: look into tabs, one file a verb.

mod console;
mod follow;
mod har;
mod network;
mod pair;
mod since;
mod switch;
mod tabs;

use super::Context;
use baton_api::Exit;
use clap::Subcommand;

/// What stands below the help of `baton debug on`.
const REVEAL: &str = "\
Secrets are hidden before anything is kept. With --reveal they are kept beside it, in the node's
memory only, from now on: until the browser or the node ends, or baton debug on ID is said without
it. They are shown to a key with the scope reveal that asks with --reveal. The audit log has both.";

/// Look in: network and console of tabs, with their secrets hidden
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A session tells of its tabs when it was opened with --debug, or after baton debug on ID. What is
kept is in the node's memory only, and is gone with the tab.

Examples:
  baton open https://example.org --name shop --debug   record from the start
  baton debug list-tabs                                tabs and their tokens
  baton debug network TOKEN --status-min 400           requests that went wrong
  baton debug console TOKEN --level error --follow     errors, as they come
  baton debug har TOKEN -o shop.har                    all, for other tools")]
pub(super) enum Debug {
    ListTabs(tabs::ListTabs),
    Network(network::Network),
    Console(console::Console),
    Har(har::Har),
    Pair(pair::Pair),
    /// Record what the tabs of a session do, from now on and after every resume
    #[command(after_help = REVEAL)]
    On(switch::On),
    /// Record no longer, and forget what was recorded
    Off(switch::Off),
}

impl Debug {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::ListTabs(command) => command.run(context).await,
            Self::Network(command) => command.run(context).await,
            Self::Console(command) => command.run(context).await,
            Self::Har(command) => command.run(context).await,
            Self::Pair(command) => command.run(context).await,
            Self::On(command) => command.run(context).await,
            Self::Off(command) => command.run(context).await,
        }
    }
}
