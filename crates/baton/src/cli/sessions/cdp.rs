//! `baton sessions cdp`

use super::{Context, Reference};
use baton_api::{Exit, OpenCdp};
use clap::Args;

/// Print an address at which another tool drives the session's browser
///
/// The address carries a ticket: whoever has it has the browser. It opens once, within a minute.
/// Tools that send headers need none: they take the `cdp_url` of `baton sessions show --json` and an
/// API key as "Authorization: Bearer KEY".
#[derive(Debug, Args)]
#[command(after_help = "Example:
  agent-browser --cdp \"$(baton sessions cdp shop)\" snapshot")]
pub(crate) struct Cdp {
    #[command(flatten)]
    session: Reference,
    /// Let the address open as often as needed for a day, for a tool that connects again after a
    /// resume; it ends with the node, and when the key is revoked
    #[arg(long)]
    reusable: bool,
}

impl Cdp {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let request = OpenCdp { reusable: self.reusable };
        let access = context.client().await?.open_cdp(&self.session.id, &request).await?;
        context.output.answer(&access, || access.cdp_url.to_string());
        Ok(Exit::Done)
    }
}
