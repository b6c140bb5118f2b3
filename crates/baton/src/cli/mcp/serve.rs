//! `baton mcp` without a subcommand: the bridge.

use super::with::{self, Words};
use crate::bridge::{self, Setup, With};
use crate::cli::serve::{duration, inherited};
use crate::context::Context;
use baton_api::Exit;
use baton_server::mcp::Toolset;
use clap::Args;
use std::io::{BufReader, stdin, stdout};
use std::time::Duration;

/// What an MCP client starts.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Offer these sets of tools only, with commas between them [default: all]
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    toolsets: Option<Vec<Toolset>>,
    /// The session that a tool means when it is called without one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Ask nobody before a session is exported or abandoned: you agree beforehand
    #[arg(long)]
    unattended: bool,
    /// Start another MCP server on the session's browser, and offer its tools too
    ///
    /// `{cdp_url}` stands for the address of the browser, which stays the same over every resume. The
    /// session is the one that was opened or resumed last, else the only active one, or --session. What
    /// the server's tools change is captured. It sees few environment variables; give others to it by
    /// `env NAME=VALUE COMMAND`.
    #[arg(long, value_name = "COMMAND", value_parser = with::words)]
    with: Option<Words>,
    /// How long a call of the other server may be silent
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10m", hide = true)]
    with_limit: Duration,
}

impl Serve {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let with = self.with.map(|Words(command)| With {
            command,
            environment: inherited(),
            files: context.data.files(),
            limit: self.with_limit,
        });
        let setup = Setup {
            with,
            toolsets: self.toolsets.map(|sets| sets.into_iter().collect()),
            session: self.session,
            unattended: self.unattended,
        };
        // A bridge passes messages on: it is small, and there may be many.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let input = BufReader::new(stdin());
        runtime.block_on(bridge::run(setup, context, input, stdout()))?;
        Ok(Exit::Done)
    }
}
