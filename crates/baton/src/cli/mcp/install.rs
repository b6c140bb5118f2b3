//! `baton mcp install`

use super::Context;
use super::change::{Manner, NotChanged};
use crate::clients::{self, Client, Entry, Homes, lasting_name};
use anyhow::Context as _;
use baton_api::Exit;
use clap::Args;

/// Add Baton to the MCP servers of the programs in which agents run
#[derive(Debug, Args)]
#[command(after_help = "\
What would change is shown first, and you are asked. Everything else in the file stays as it is,
comments too; a file that cannot be read is left alone.

Examples:
  baton mcp install                        offer it for each program found
  baton mcp install claude-code
  baton mcp install codex --print          only show the entry
  baton mcp install cursor --project       for who works in this folder
  baton mcp install gemini -- \\
    --with \"npx @playwright/mcp --cdp-endpoint {cdp_url}\"")]
pub(super) struct Install {
    /// For which program [default: each that is found here]
    #[arg(value_name = "CLIENT")]
    clients: Vec<Client>,
    #[command(flatten)]
    manner: Manner,
    /// What baton mcp is to be given
    #[arg(value_name = "ARGUMENT", last = true)]
    arguments: Vec<String>,
}

impl Install {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let homes = Homes::of_this_user()?;
        let clients = if self.clients.is_empty() {
            let found = here(&homes)?;
            let names: Vec<&str> = found.iter().map(|client| client.name()).collect();
            context.output.note(&format!("found here: {}", names.join(", ")));
            found
        } else {
            self.clients
        };
        let entry = entry(context, self.arguments)?;
        self.manner.change(context, &homes, &clients, Some(&entry), |text, client| {
            clients::set(text, client.form(), &entry)
        })
    }
}

/// The programs that somebody uses here.
fn here(homes: &Homes) -> Result<Vec<Client>, NotChanged> {
    let found: Vec<Client> =
        Client::ALL.into_iter().filter(|client| client.is_here(homes)).collect();
    if found.is_empty() { Err(NotChanged::NoneFound) } else { Ok(found) }
}

/// How this program is started, on the data folder that was named.
fn entry(context: &Context, arguments: Vec<String>) -> anyhow::Result<Entry> {
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let program = program.context("could not find this program's own file")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<_> = std::env::split_paths(&path).collect();
    let name = lasting_name(&program, &path);
    let text = |path: &std::path::Path| {
        path.to_str().map(ToOwned::to_owned).ok_or_else(|| NotChanged::NotText(path.to_owned()))
    };
    let mut args = vec!["mcp".to_owned()];
    if context.named {
        args.extend(["--data".to_owned(), text(context.data.path())?]);
    }
    args.extend(arguments);
    Ok(Entry { command: text(&name)?, args })
}
