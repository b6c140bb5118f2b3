//! `baton federation close`

use super::Desk;
use baton_api::Exit;
use baton_federation::Operation;
use clap::Args;

/// Close the session: it is archived, and the next update or task begins another
#[derive(Debug, Args)]
pub(super) struct Close {}

impl Close {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.end(&Operation::Close { agent: desk.agent.clone() })
    }
}
