//! `baton sandbox`: places where agents run with a session.

use super::serve::duration;
use super::{Context, state_file};
use crate::output;
use anyhow::Context as _;
use baton_api::sandbox::{
    self, BrowserSession, CommandLine, ExecEnd, ExecEvent, ExecSandbox, TakeBack,
};
use baton_api::{Exit, SandboxRun};
use baton_session::Receipt;
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Make sandboxes that are logged in, run commands in them, list, show and end them
#[derive(Debug, Subcommand)]
pub(super) enum Sandbox {
    Create(Box<CreateSandbox>),
    List(ListSandboxes),
    Show(ShowSandbox),
    Exec(Exec),
    Delete(DeleteSandbox),
}

/// Which sandbox.
#[derive(Debug, Args)]
struct SandboxReference {
    /// Its id, or a unique prefix of it
    #[arg(value_name = "SANDBOX")]
    id: String,
}

impl Sandbox {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Create(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
            Self::Show(command) => command.run(context).await,
            Self::Exec(command) => command.run(context).await,
            Self::Delete(command) => command.run(context).await,
        }
    }
}

/// Make an isolated workspace, with a session handed in
#[derive(Debug, Args)]
#[command(after_help = "\
The session belongs to the sandbox until that ends, and what changes there is written back: where
tokens rotate, two holders would log each other out. A browser of it that runs is saved and closed
first, unless an agent or another client drives it: then --take says that it shall end all the same.
With --shared the sandbox gets a copy. Of sites
that the session had nothing of, nothing comes back but with --take-back all: what runs there could
have planted it.

In the sandbox, agent-browser finds the session by itself. It has no files of this machine but
programs and libraries, and reaches what [sandboxes] in the node's settings allows.

Examples:
  baton sandbox create --session shopping --domain shop.example
  baton sandbox exec 0197c0de -- agent-browser open https://shop.example
  baton sandbox delete 0197c0de")]
pub(super) struct CreateSandbox {
    /// The session that is handed in
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Hand in a copy, and write nothing back
    #[arg(long, requires = "session")]
    shared: bool,
    /// Take the session also from whoever drives it: their browser is saved and closed
    #[arg(long, requires = "session", conflicts_with = "shared")]
    take: bool,
    /// Which sites are written back: `lent`, those that the session had something of, or `all`
    #[arg(long, value_name = "SITES", value_parser = take_back, requires = "session", conflicts_with = "shared")]
    take_back: Option<TakeBack>,
    /// Hand in a file that baton import reads instead, such as a Playwright storageState
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    state: Option<PathBuf>,
    /// A domain for which a login is needed; may be given more than once
    #[arg(long, value_name = "DOMAIN")]
    domain: Vec<String>,
    /// What is in it, by a name of the settings [default: agent-ready]
    #[arg(long, value_name = "NAME")]
    flavor: Option<String>,
    /// Give it a display for browsers with a window, which a VNC viewer shows
    #[arg(long)]
    vnc: bool,
    /// End it after so long, such as 30m [default: as the settings say]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    ttl: Option<Duration>,
    /// A variable of every command in it, NAME=VALUE; may be given more than once
    #[arg(long, value_name = "VARIABLE", value_parser = variable)]
    env: Vec<(String, String)>,
}

/// Which sites are written back, as it is typed.
fn take_back(text: &str) -> Result<TakeBack, String> {
    match text {
        "lent" => Ok(TakeBack::Lent),
        "all" => Ok(TakeBack::All),
        _ => Err("expected lent or all".to_owned()),
    }
}

/// A variable as it is typed.
fn variable(text: &str) -> Result<(String, String), String> {
    let split = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = split.ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl CreateSandbox {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let browser_session = match (self.session, &self.state) {
            (Some(session), _) => Some(BrowserSession {
                shared: self.shared,
                take: self.take,
                take_back: self.take_back.unwrap_or_default(),
                ..BrowserSession::reference(session)
            }),
            (None, Some(file)) => Some(inline(file)?),
            (None, None) => None,
        };
        let request = sandbox::CreateSandbox {
            flavor: self.flavor,
            enable_vnc: self.vnc,
            browser_session,
            domains: self.domain,
            ttl: self.ttl.map(|ttl| u32::try_from(ttl.as_secs()).unwrap_or(u32::MAX)),
            env: self.env.into_iter().collect(),
            ..Default::default()
        };
        let client = context.client().await?;
        let progress = context.output.progress("making a sandbox");
        let made = client.create_sandbox(&request).await;
        progress.end();
        let made = made?;
        context.output.answer(&made, || output::sandbox(&made));
        for warning in &made.warnings {
            context.output.note(warning);
        }
        let receipt = made.browser_session.as_ref().map(|session| &session.receipt);
        Ok(if receipt.is_some_and(Receipt::has_losses_of_a_profile) {
            Exit::Losses
        } else {
            Exit::Done
        })
    }
}

fn inline(file: &Path) -> anyhow::Result<BrowserSession> {
    Ok(BrowserSession::inline(state_file::plain(file)?))
}

/// Show your sandboxes at this node
#[derive(Debug, Args)]
pub(super) struct ListSandboxes {}

impl ListSandboxes {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let list = context.client().await?.list_sandboxes().await?;
        context.output.answer(&list, || output::sandboxes(&list));
        Ok(Exit::Done)
    }
}

/// Show a sandbox: what it may use, where it is logged in and for how long
#[derive(Debug, Args)]
pub(super) struct ShowSandbox {
    #[command(flatten)]
    sandbox: SandboxReference,
}

impl ShowSandbox {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let view = context.client().await?.fetch_sandbox(&self.sandbox.id).await?;
        context.output.answer(&view, || output::sandbox(&view));
        Ok(Exit::Done)
    }
}

/// How much a command is given to read, in bytes.
const INPUT_LIMIT: u64 = 512 << 10;

/// Run a command in a sandbox, and show what it writes while it runs
#[derive(Debug, Args)]
#[command(after_help = "\
Ctrl-C ends the command. It exits with 0 when the command did, and with 1 else.

Examples:
  baton sandbox exec 0197c0de -- agent-browser snapshot
  baton sandbox exec 0197c0de -- sh -c 'ls -l | head'")]
pub(super) struct Exec {
    #[command(flatten)]
    sandbox: SandboxReference,
    /// The command and its arguments, word by word
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<String>,
    /// A variable, NAME=VALUE; may be given more than once
    #[arg(long, value_name = "VARIABLE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// The folder in which it runs [default: /workspace]
    #[arg(long, value_name = "DIR")]
    directory: Option<String>,
    /// Give it what stands on standard input
    #[arg(long, short)]
    interactive: bool,
    /// End it after so long, such as 30s [default: when the sandbox ends]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
}

impl Exec {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let request = ExecSandbox {
            command: CommandLine::Words(self.command),
            env: self.env.into_iter().collect(),
            directory: self.directory,
            input: self.interactive.then(input).transpose()?,
            timeout: self
                .timeout
                .map(|limit| u32::try_from(limit.as_secs().max(1)).unwrap_or(u32::MAX)),
        };
        let client = context.client().await?;
        let run = client.exec_sandbox(&self.sandbox.id, &request).await?;
        let end = if context.output.is_json() {
            collect(context, run).await?
        } else {
            follow(context, run).await?
        };
        if end == ExecEnd::Code(0) {
            return Ok(Exit::Done);
        }
        context.output.note(&how(end));
        Ok(Exit::Failed)
    }
}

fn input() -> anyhow::Result<String> {
    let mut text = String::new();
    let read = std::io::stdin().take(INPUT_LIMIT).read_to_string(&mut text);
    read.context("expected text on standard input")?;
    Ok(text)
}

/// Shows what comes as it comes.
async fn follow(context: &Context, mut run: SandboxRun) -> anyhow::Result<ExecEnd> {
    while let Some(event) = run.next().await? {
        match event {
            ExecEvent::Stdout(text) => context.output.pass_on(&text),
            ExecEvent::Stderr(text) => context.output.pass_on_errors(&text),
            ExecEvent::Exit(end) => return Ok(end),
        }
    }
    Ok(ExecEnd::Gone)
}

/// All of it, as one document.
async fn collect(context: &Context, mut run: SandboxRun) -> anyhow::Result<ExecEnd> {
    let (mut stdout, mut stderr, mut end) = (String::new(), String::new(), ExecEnd::Gone);
    while let Some(event) = run.next().await? {
        match event {
            ExecEvent::Stdout(text) => stdout.push_str(&text),
            ExecEvent::Stderr(text) => stderr.push_str(&text),
            ExecEvent::Exit(found) => end = found,
        }
    }
    let document = json!({ "stdout": stdout, "stderr": stderr, "exit": end });
    context.output.answer(&document, String::new);
    Ok(end)
}

fn how(end: ExecEnd) -> String {
    match end {
        ExecEnd::Code(code) => format!("the command ended with code {code}"),
        ExecEnd::Signal(signal) => format!("the command was ended by signal {signal}"),
        ExecEnd::TimedOut => "the command took longer than it may, and was ended".to_owned(),
        ExecEnd::Gone => "the sandbox ended, and the command with it".to_owned(),
    }
}

/// End a sandbox, and write back the session that it has
#[derive(Debug, Args)]
#[command(after_help = "\
What runs in it is asked to end first, so that its browser writes down what it holds.")]
pub(super) struct DeleteSandbox {
    #[command(flatten)]
    sandbox: SandboxReference,
}

impl DeleteSandbox {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("ending the sandbox");
        let ended = client.delete_sandbox(&self.sandbox.id).await;
        progress.end();
        let ended = ended?;
        context.output.answer(&ended, || output::ended_sandbox(&ended));
        let written = ended.browser_session.as_ref();
        let is_lost = written.is_some_and(|written| written.snapshot.is_none());
        Ok(if is_lost { Exit::Losses } else { Exit::Done })
    }
}
