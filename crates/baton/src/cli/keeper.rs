//! `baton keeper`: the small process that holds one session's browser. Started by a node only.

use anyhow::Context as _;
use baton_api::Exit;
use baton_browser::keeper::{self, KeeperSpec};
use clap::Args;
use std::io::Read;

/// The longest specification that is read, in bytes.
const SPEC_LIMIT: u64 = 1 << 20;

/// Hold the browser of one session; reads what to do from standard input
#[derive(Debug, Args)]
pub(super) struct Keeper {}

impl Keeper {
    #[expect(clippy::unused_self, reason = "every command runs like this")]
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        crate::output::log_to_stderr("info", false);
        let mut text = String::new();
        std::io::stdin().take(SPEC_LIMIT).read_to_string(&mut text)?;
        let spec: KeeperSpec = serde_json::from_str(&text)
            .context("expected the specification of a keeper on standard input")?;
        let signals = keeper::detach()?;
        keeper::run(&spec, std::io::stdout(), signals)?;
        Ok(Exit::Done)
    }
}
