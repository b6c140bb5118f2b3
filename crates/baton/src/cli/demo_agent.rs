//! `baton demo-agent`: the agent of the demo. Started in a sandbox of the demo only.

use baton_api::Exit;
use clap::Args;
use url::Url;

/// Look at a page with the profile of a sandbox, and say who is signed in
#[derive(Debug, Args)]
pub(super) struct DemoAgent {
    /// The page, as the session knows it
    site: Url,
    /// What it is asked; it knows one answer
    _question: String,
}

impl DemoAgent {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        crate::demo::agent::run(&self.site)
    }
}
