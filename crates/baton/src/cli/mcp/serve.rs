//! `baton mcp` without a subcommand: the bridge.

use crate::bridge::{self, Setup};
use crate::context::Context;
use baton_api::Exit;
use baton_node::mcp::Toolset;
use clap::Args;
use std::io::{BufReader, stdin, stdout};

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
}

impl Serve {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let setup = Setup {
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
