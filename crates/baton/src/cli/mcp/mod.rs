//! `baton mcp`: the bridge without a subcommand; with one, its entry in the files of MCP clients.

mod change;

pub(super) use change::NotChanged;

use super::Context;
use super::serve::{duration, inherited};
use crate::bridge::{self, PLACE, Setup, With};
use crate::clients::{self, Client, Homes, ServerEntry, lasting_name, runner};
use anyhow::Context as _;
use baton_api::Exit;
use baton_server::mcp::Toolset;
use change::Manner;
use clap::{Args, Subcommand, ValueEnum};
use std::io::{BufReader, stdin, stdout};
use std::time::Duration;

/// Let agents use sessions: serve MCP on standard input and output
///
/// MCP is the Model Context Protocol. A client of it starts this; `baton mcp install` writes its configuration. The tools list sessions,
/// open them, bring them back and carry them as files. A node is found, or started, at the first call
/// that needs one; it ends by itself when nobody uses it.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  baton mcp install claude-code   show what changes, and configure a client
  baton mcp                       what a client starts
  baton mcp --with \"npx @playwright/mcp --cdp-endpoint {cdp_url}\"
                                  with Playwright's tools on its browser too"
)]
pub(super) struct Mcp {
    #[command(flatten)]
    serve: BridgeArgs,
    #[command(subcommand)]
    command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    Install(InstallBridge),
    Uninstall(UninstallBridge),
}

impl Mcp {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self.command {
            Some(McpCommand::Install(command)) => command.run(context),
            Some(McpCommand::Uninstall(command)) => command.run(context),
            None => self.serve.run(context),
        }
    }
}

/// What an MCP client starts.
#[derive(Debug, Args)]
struct BridgeArgs {
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
    #[arg(long, value_name = "COMMAND", value_parser = words)]
    with: Option<Words>,
    /// How long a call of the other server may be silent
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10m", hide = true)]
    with_limit: Duration,
}

impl BridgeArgs {
    fn run(self, context: &Context) -> anyhow::Result<Exit> {
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

/// The program and its arguments.
#[derive(Debug, Clone)]
struct Words(Vec<String>);

/// Reads a command as a shell would; no shell runs it.
fn words(text: &str) -> Result<Words, String> {
    let words = shell_words::split(text)
        .map_err(|_| "expected a command, found a quote that does not end".to_owned())?;
    let has_place = words.iter().skip(1).any(|word| word.contains(PLACE));
    if !has_place {
        return Err(format!(
            "expected {PLACE} where the command takes the address of the browser, found none; such as \
             'npx @playwright/mcp@latest --cdp-endpoint {PLACE}'"
        ));
    }
    Ok(Words(words))
}

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
  baton mcp install gemini --drive playwright
                                           with Playwright's tools as well
  baton mcp install gemini -- --toolsets keep,look
                                           with arguments of baton mcp")]
struct InstallBridge {
    /// For which program [default: each that is found here]
    #[arg(value_name = "CLIENT")]
    clients: Vec<Client>,
    /// Drive the session's browser by the tools of this server, which npx gets
    #[arg(long, value_name = "SERVER")]
    drive: Option<Drive>,
    #[command(flatten)]
    manner: Manner,
    /// What baton mcp is to be given
    #[arg(value_name = "ARGUMENT", last = true)]
    arguments: Vec<String>,
}

/// A server whose tools drive a browser, and which is told where that is.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Drive {
    /// Playwright MCP
    Playwright,
    /// Chrome DevTools MCP
    Devtools,
    /// agent-browser
    AgentBrowser,
}

impl Drive {
    /// What `--with` starts.
    fn command(self) -> String {
        match self {
            Self::Playwright => format!("npx -y @playwright/mcp --cdp-endpoint {PLACE}"),
            Self::Devtools => {
                format!("npx -y chrome-devtools-mcp --no-usage-statistics --wsEndpoint {PLACE}")
            }
            // Its daemon is told apart from those that its user has beside it.
            Self::AgentBrowser => format!(
                "env AGENT_BROWSER_SESSION=baton AGENT_BROWSER_CDP={PLACE} npx -y agent-browser mcp"
            ),
        }
    }

    /// The arguments of `baton mcp`, with those that start it.
    fn with(self, arguments: Vec<String>) -> Result<Vec<String>, NotChanged> {
        if arguments.iter().any(|word| word == "--with" || word.starts_with("--with=")) {
            return Err(NotChanged::TwoServers);
        }
        Ok(["--with".to_owned(), self.command()].into_iter().chain(arguments).collect())
    }
}

impl InstallBridge {
    fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let homes = Homes::of_this_user()?;
        let clients = if self.clients.is_empty() {
            let found = here(&homes)?;
            let names: Vec<&str> = found.iter().map(|client| client.name()).collect();
            context.output.note(&format!("found here: {}", names.join(", ")));
            found
        } else {
            self.clients
        };
        let arguments = match self.drive {
            Some(drive) => drive.with(self.arguments)?,
            None => self.arguments,
        };
        let entry = entry(context, arguments)?;
        self.manner.change(context, &homes, &clients, Some(&entry), |text, client| {
            clients::set(text, client.form(), &entry)
        })
    }
}

/// The programs that this user runs here.
fn here(homes: &Homes) -> Result<Vec<Client>, NotChanged> {
    let found: Vec<Client> =
        Client::ALL.into_iter().filter(|client| client.is_here(homes)).collect();
    if found.is_empty() { Err(NotChanged::NoneFound) } else { Ok(found) }
}

/// How this program is started, on the data folder that was named: by its lasting path, or by the runner of packages
/// in whose cache it lies.
fn entry(context: &Context, arguments: Vec<String>) -> anyhow::Result<ServerEntry> {
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let program = program.context("could not find this program's own file")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<_> = std::env::split_paths(&path).collect();
    let name = lasting_name(&program, &path);
    let text = |path: &std::path::Path| {
        path.to_str().map(ToOwned::to_owned).ok_or_else(|| NotChanged::NotText(path.to_owned()))
    };
    let (command, mut args) = match runner(&name) {
        Some([runner, words @ ..]) => {
            ((*runner).to_owned(), words.iter().map(|word| (*word).to_owned()).collect())
        }
        _ => (text(&name)?, Vec::new()),
    };
    args.push("mcp".to_owned());
    if context.named {
        args.extend(["--data".to_owned(), text(context.data.path())?]);
    }
    args.extend(arguments);
    Ok(ServerEntry { command, args })
}

/// Take Baton out of the MCP servers of a program
#[derive(Debug, Args)]
#[command(after_help = "\
What would change is shown first, and you are asked. Everything else in the file stays as it is.

Example:
  baton mcp uninstall codex")]
struct UninstallBridge {
    /// Of which program
    #[arg(value_name = "CLIENT", required = true)]
    clients: Vec<Client>,
    #[command(flatten)]
    manner: Manner,
}

impl UninstallBridge {
    fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let homes = Homes::of_this_user()?;
        self.manner.change(context, &homes, &self.clients, None, |text, client| {
            clients::remove(text, client.form())
        })
    }
}
