//! The command line: one file for each group of commands.
//!
//! The doc comments of the arguments are the help texts, and `docs/reference/cli.md` follows them.

mod backup;
mod browser;
mod dashboard;
mod debug;
mod doctor;
mod failure;
mod federation;
mod import;
mod keys;
mod looks;
mod manual;
mod mcp;
mod node;
mod open;
mod peers;
mod profile;
mod prompt;
mod sandbox;
mod serve;
mod sessions;
mod skill;
mod state_file;
mod sync;
mod upstreams;

use crate::demo;
use crate::local::Context;
use crate::output::Output;
use baton_api::Exit;
use baton_session::AgentName;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// The version, with the commit that it was built of where that is known (`build.rs`).
const VERSION: &str = env!("BATON_VERSION");

/// Keeps a browser session alive across crashes, machines, sandboxes and agents.
#[derive(Debug, Parser)]
#[command(name = "baton", version = VERSION, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// Folder of the node's files [default: the platform's data folder]
    #[arg(long, value_name = "DIR", env = "BATON_DATA", hide_env_values = true, global = true)]
    data: Option<PathBuf>,
    /// As which agent to ask: one at a time drives a session
    #[arg(
        long = "as",
        value_name = "AGENT",
        env = "BATON_AGENT",
        hide_env_values = true,
        global = true
    )]
    as_agent: Option<AgentName>,
    /// Write one JSON document to standard output, and everything else to standard error
    #[arg(long, global = true)]
    json: bool,
    /// Write nothing but results and errors
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Open(Box<open::Open>),
    Attach(open::Attach),
    #[command(subcommand)]
    Sessions(sessions::Sessions),
    Export(state_file::Export),
    Import(Box<import::Import>),
    Save(sync::Save),
    #[command(subcommand)]
    Node(node::NodeCommand),
    #[command(subcommand)]
    Peers(peers::Peers),
    #[command(subcommand)]
    Sync(sync::Sync),
    #[command(subcommand)]
    Profile(profile::Profile),
    #[command(subcommand)]
    Browser(browser::BrowserCommand),
    Dashboard(dashboard::Dashboard),
    #[command(subcommand)]
    Debug(debug::Debug),
    Mcp(mcp::Mcp),
    Skill(skill::Skill),
    Federation(federation::Federation),
    #[command(subcommand)]
    Keys(keys::Keys),
    Audit(keys::Audit),
    Serve(Box<serve::Serve>),
    Stop(serve::Stop),
    Url(serve::Address),
    Proxy(upstreams::Proxy),
    #[command(subcommand, name = "cocoons")]
    Upstreams(upstreams::Upstreams),
    #[command(subcommand)]
    Sandbox(sandbox::Sandbox),
    Backup(Box<backup::Backup>),
    Restore(backup::Restore),
    Doctor(Box<doctor::Doctor>),
    Demo(demo::Demo),
    Completions(Completions),
    #[command(hide = true)]
    Man(manual::Man),
    #[command(hide = true)]
    Keeper(serve::Keeper),
    #[command(hide = true)]
    SandboxInit(serve::SandboxInit),
    #[command(hide = true)]
    BrowserWrapper(serve::BrowserWrapper),
    #[command(hide = true)]
    DemoAgent(demo::agent::DemoAgent),
}

const EXAMPLES: &str = "\
Examples:
  baton demo                                     see a session survive a crash
  baton open https://example.org --name shop     open a session in a browser
  baton sessions list                            what there is
  baton sessions resume shop                     bring it back after a crash
  baton export shop -o shop.json                 carry it elsewhere, logged in
  baton dashboard                                all of it, as a page
  baton sync run                                 exchange with other nodes
  baton doctor                                   what is missing on this machine

An ID is an id, a unique prefix of one, or a name.

Exit codes:
  0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 denied,
  6 done with losses";

/// Does what `args` say.
pub(crate) fn main(args: Vec<OsString>) -> ExitCode {
    let wants_json = args.iter().any(|arg| arg == "--json");
    let mut command = flowing(Cli::command());
    let parsed = command.try_get_matches_from_mut(args);
    let read =
        |matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command));
    let cli = match parsed.and_then(read) {
        Ok(cli) => cli,
        Err(error) => return not_parsed(&error, wants_json),
    };
    let output = Output::new(cli.global.json, cli.global.quiet);
    let exit = match cli.command {
        // In a sandbox there is no home, and so no data folder.
        Command::BrowserWrapper(command) => match command.run() {
            Ok(ended) => return ended,
            Err(error) => Err(error),
        },
        Command::SandboxInit(command) => command.run(),
        Command::DemoAgent(command) => command.run(),
        command => Context::new(cli.global.data, cli.global.as_agent, output)
            .and_then(|context| run(command, &context)),
    };
    let exit = exit.unwrap_or_else(|error| failure::report(&error, output));
    ExitCode::from(exit.code())
}

fn run(command: Command, context: &Context) -> anyhow::Result<Exit> {
    // A keeper builds a small runtime of its own; it and the others here need no node.
    match command {
        Command::Keeper(command) => return command.run(),
        Command::Completions(command) => return Ok(command.run()),
        Command::Man(command) => return command.run(Cli::command()),
        Command::Mcp(command) => return command.run(context),
        Command::Skill(command) => return command.run(context),
        Command::Federation(command) => return command.run(context),
        Command::Profile(command) => return command.run(context),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(async {
        match command {
            Command::Open(command) => command.run(context).await,
            Command::Attach(command) => command.run(context).await,
            Command::Sessions(command) => command.run(context).await,
            Command::Export(command) => command.run(context).await,
            Command::Import(command) => command.run(context).await,
            Command::Save(command) => command.run(context).await,
            Command::Node(command) => command.run(context).await,
            Command::Peers(command) => command.run(context).await,
            Command::Sync(command) => command.run(context).await,
            Command::Browser(command) => command.run(context).await,
            Command::Dashboard(command) => command.run(context).await,
            Command::Debug(command) => command.run(context).await,
            Command::Keys(command) => command.run(context).await,
            Command::Audit(command) => command.run(context).await,
            Command::Serve(command) => command.run(context).await,
            Command::Stop(command) => command.run(context).await,
            Command::Url(command) => command.run(context).await,
            Command::Proxy(command) => command.run(context).await,
            Command::Upstreams(command) => command.run(context).await,
            Command::Sandbox(command) => command.run(context).await,
            Command::Backup(command) => command.run(context).await,
            Command::Restore(command) => command.run(context).await,
            Command::Doctor(command) => Box::pin(command.run(context)).await,
            Command::Demo(command) => command.run(context, browser::installed()).await,
            Command::BrowserWrapper(_)
            | Command::Completions(_)
            | Command::DemoAgent(_)
            | Command::Federation(_)
            | Command::Keeper(_)
            | Command::Man(_)
            | Command::Mcp(_)
            | Command::Profile(_)
            | Command::SandboxInit(_)
            | Command::Skill(_) => Ok(Exit::Done),
        }
    });
    // A task for which no command waits any more, and which blocks on a disk, may do so for a moment only.
    runtime.shutdown_timeout(baton_server::LAST_WORDS);
    exit
}

/// Help and version are answers; anything else is a usage error.
fn not_parsed(error: &clap::Error, wants_json: bool) -> ExitCode {
    let is_answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if wants_json && !is_answer {
        let output = Output::new(true, false);
        return ExitCode::from(failure::report_usage(error, output).code());
    }
    // A closed pipe is no reason to fail louder.
    let _ = error.print();
    ExitCode::from(if is_answer { Exit::Done.code() } else { Exit::Usage.code() })
}

/// The same command line, with paragraphs of one line each, which clap wraps where the terminal ends: what
/// is written by hand ends its lines where the source does.
fn flowing(command: clap::Command) -> clap::Command {
    let text = command.get_after_help().map(|text| flow(&text.to_string()));
    let command = command.mut_subcommands(flowing);
    match text {
        Some(text) => command.after_help(text),
        None => command,
    }
}

fn flow(text: &str) -> String {
    let mut flowing = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        flowing.push_str(line);
        match lines.peek() {
            Some(next) if goes_on(line) && goes_on(next) => flowing.push(' '),
            Some(_) => flowing.push('\n'),
            None => {}
        }
    }
    flowing
}

/// Whether a line is one of a paragraph.
fn goes_on(line: &str) -> bool {
    !line.is_empty() && !line.starts_with(' ')
}

/// Write the completions of a shell to standard output
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  baton completions bash > ~/.local/share/bash-completion/completions/baton")]
struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    fn run(self) -> Exit {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "baton", &mut script);
        // A reader that has seen enough closes the pipe: that is no failure.
        let _ = std::io::stdout().write_all(&script);
        Exit::Done
    }
}

#[cfg(test)]
mod tests {
    use super::{Cli, flow};
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn paragraphs_flow_and_lists_stand() {
        let text = flow(
            "A session is captured\nfirst. What follows\nis this:\n  one  first\n  two  second\n\nIt is\nsealed.",
        );
        insta::assert_snapshot!(text, @r"
        A session is captured first. What follows is this:
          one  first
          two  second

        It is sealed.
        ");
    }
}
