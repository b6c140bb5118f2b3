//! `baton federation router`

use super::Desk;
use baton_api::Exit;
use baton_federation::{Operation, Refusal};
use clap::Args;

/// Show the router of models, or say what it is now
#[derive(Debug, Args)]
#[command(after_help = "\
A new version is to be measured again (pending_eval); an accuracy says that it was.

Example:
  baton federation router --set-version v4
  baton federation router --accuracy 0.41")]
pub(super) struct Router {
    /// Its version
    #[arg(long, value_name = "VERSION")]
    set_version: Option<String>,
    /// How often it chose well, from 0 to 1
    #[arg(long, value_name = "SHARE")]
    accuracy: Option<f64>,
    /// Its tier
    #[arg(long, value_name = "NUMBER")]
    tier: Option<i64>,
}

impl Router {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let Self { set_version: version, accuracy, tier } = self;
        let board = if version.is_none() && accuracy.is_none() && tier.is_none() {
            desk.board.read()?
        } else {
            let agent = desk.agent.clone();
            desk.board.write(&Operation::SetRouter { agent, version, accuracy, tier })?.board
        };
        let router =
            board.ok_or(baton_federation::FederationError::from(Refusal::NoSession))?.router;
        let shown = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
        desk.output.answer(&router, || {
            format!(
                "version   {}\ntier      {}\naccuracy  {}\nto be measured  {}",
                shown(router.version.clone()),
                shown(router.tier.map(|tier| tier.to_string())),
                shown(router.accuracy.map(|accuracy| accuracy.to_string())),
                if router.pending_eval { "yes" } else { "no" },
            )
        });
        Ok(Exit::Done)
    }
}
