//! `baton debug har`

use super::super::Context;
use baton_api::Exit;
use baton_api::debug::TabToken;
use baton_store::data::write_private;
use clap::Args;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Write what is kept of a tab as an HTTP Archive (HAR 1.2), which browsers and proxies open
#[derive(Debug, Args)]
#[command(after_help = "\
Secrets are hidden in it as far as they can be told; look through it before you give it away. With
--reveal they stand in it.

Example:
  baton debug har TOKEN -o shop.har")]
pub(in crate::cli) struct Har {
    /// The token of a tab, as baton debug list-tabs shows it
    #[arg(value_name = "TOKEN")]
    token: TabToken,
    /// Where to; an older file there is replaced [default: standard output]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Show secrets, of a tab whose secrets are kept
    #[arg(long)]
    reveal: bool,
}

impl Har {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let archive = context.client().await?.get_har(&self.token, self.reveal).await?;
        let Some(path) = self.output else {
            // A reader that has seen enough closes the pipe: that is no failure.
            let _ = std::io::stdout().write_all(&archive);
            return Ok(Exit::Done);
        };
        let path = std::path::absolute(path)?;
        write_private(&path, &archive)?;
        let written = json!({"path": path, "bytes": archive.len()});
        context.output.answer(&written, || format!("wrote {}", path.display()));
        Ok(Exit::Done)
    }
}
