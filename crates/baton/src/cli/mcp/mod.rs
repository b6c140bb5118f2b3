//! `baton mcp`

use crate::bridge::{self, Setup};
use crate::context::Context;
use baton_api::Exit;
use baton_node::mcp::Toolset;
use clap::Args;
use std::io::{BufReader, stdin, stdout};

/// Serve MCP (Model Context Protocol) on standard input and output, for agents
///
/// An MCP client starts this; `baton mcp install` writes its configuration. The tools list sessions,
/// open them, bring them back and carry them as files. A node is found, or started, at the first call
/// that needs one; it ends by itself when nobody uses it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  baton mcp                              what an MCP client starts
  claude mcp add baton -- baton mcp      the same, typed by hand")]
pub(super) struct Mcp {
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

impl Mcp {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let setup = Setup {
            toolsets: self.toolsets.map(|sets| sets.into_iter().collect()),
            session: self.session,
            unattended: self.unattended,
        };
        bridge::run(setup, context, BufReader::new(stdin()), stdout()).await?;
        Ok(Exit::Done)
    }
}
