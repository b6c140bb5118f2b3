//! `baton profile`, one file a verb: folders as browsers have them, with no node and no browser.

mod compile;
mod read;

pub(super) use compile::NeedsMerge;

use super::Context;
use baton_api::Exit;
use clap::Subcommand;

/// Make a browser's profile of a state, or read one, with no browser running
#[derive(Debug, Subcommand)]
pub(super) enum Profile {
    Compile(compile::Compile),
    Read(read::Read),
}

impl Profile {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Compile(command) => command.run(context),
            Self::Read(command) => command.run(context),
        }
    }
}
