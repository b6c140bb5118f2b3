//! The command line: one file a subcommand.
//!
//! The doc comments of the arguments are the help texts, and `docs/reference/cli.md` follows them.

mod attach;
mod audit;
mod backup;
mod cocoons;
mod completions;
mod consent;
mod debug;
mod demo;
mod demo_agent;
mod destination;
mod doctor;
mod environment;
mod export;
mod failure;
mod federation;
mod help;
mod import;
mod keeper;
mod keys;
mod mcp;
mod open;
mod passphrase;
mod peers;
mod profile;
mod proxy;
mod restore;
mod sandbox;
mod sandbox_init;
mod save;
mod serve;
mod sessions;
mod skill;
mod state_file;
mod stop;
mod sync;
mod url;

use crate::context::Context;

use crate::output::Output;
use baton_api::Exit;
use baton_session::AgentName;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Keeps a browser session alive across crashes, machines, sandboxes and agents.
#[derive(Debug, Parser)]
#[command(name = "baton", version, after_help = EXAMPLES, max_term_width = 100)]
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
    Open(open::Open),
    Attach(attach::Attach),
    #[command(subcommand)]
    Sessions(sessions::Sessions),
    Export(export::Export),
    Import(Box<import::Import>),
    Save(save::Save),
    #[command(subcommand)]
    Peers(peers::Peers),
    #[command(subcommand)]
    Sync(sync::Sync),
    #[command(subcommand)]
    Profile(profile::Profile),
    #[command(subcommand)]
    Debug(debug::Debug),
    Mcp(mcp::Mcp),
    Skill(skill::Skill),
    Federation(federation::Federation),
    #[command(subcommand)]
    Keys(keys::Keys),
    Audit(audit::Audit),
    Serve(Box<serve::Serve>),
    Stop(stop::Stop),
    Url(url::Address),
    Proxy(proxy::Proxy),
    #[command(subcommand)]
    Cocoons(cocoons::Cocoons),
    #[command(subcommand)]
    Sandbox(sandbox::Sandbox),
    Backup(Box<backup::Backup>),
    Restore(restore::Restore),
    Doctor(Box<doctor::Doctor>),
    Demo(demo::Demo),
    Completions(completions::Completions),
    #[command(hide = true)]
    Keeper(keeper::Keeper),
    #[command(hide = true)]
    SandboxInit(sandbox_init::SandboxInit),
    #[command(hide = true)]
    DemoAgent(demo_agent::DemoAgent),
}

const EXAMPLES: &str = "\
Examples:
  baton demo                                     see a session survive a crash
  baton open https://example.org --name shop     open a session in a browser
  baton sessions list                            what there is
  baton sessions resume shop                     bring it back after a crash
  baton export shop -o shop.json                 carry it elsewhere, logged in
  baton sync run                                 exchange with other nodes
  baton doctor                                   what is missing on this machine

An ID is an id, a unique prefix of one, or a name.

Exit codes:
  0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 denied,
  6 done with losses";

/// Does what `args` say.
pub(crate) fn main(args: Vec<OsString>) -> ExitCode {
    let wants_json = args.iter().any(|arg| arg == "--json");
    let mut command = help::flowing(Cli::command());
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
            Command::Peers(command) => command.run(context).await,
            Command::Sync(command) => command.run(context).await,
            Command::Debug(command) => command.run(context).await,
            Command::Keys(command) => command.run(context).await,
            Command::Audit(command) => command.run(context).await,
            Command::Serve(command) => command.run(context).await,
            Command::Stop(command) => command.run(context).await,
            Command::Url(command) => command.run(context).await,
            Command::Proxy(command) => command.run(context).await,
            Command::Cocoons(command) => command.run(context).await,
            Command::Sandbox(command) => command.run(context).await,
            Command::Backup(command) => command.run(context).await,
            Command::Restore(command) => command.run(context).await,
            Command::Doctor(command) => command.run(context).await,
            Command::Demo(command) => command.run(context).await,
            Command::Completions(_)
            | Command::DemoAgent(_)
            | Command::Federation(_)
            | Command::Keeper(_)
            | Command::Mcp(_)
            | Command::Profile(_)
            | Command::SandboxInit(_)
            | Command::Skill(_) => Ok(Exit::Done),
        }
    });
    // What nobody waits for any more, and blocks on a disk, may do so for a moment only.
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

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
