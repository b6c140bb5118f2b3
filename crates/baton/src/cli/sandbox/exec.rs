//! `baton sandbox exec`

use super::create::variable;
use super::{Context, Reference};
use crate::cli::serve::duration;
use anyhow::Context as _;
use baton_api::sandbox::{CommandLine, ExecEnd, ExecEvent, ExecSandbox};
use baton_api::{Exit, SandboxRun};
use clap::Args;
use serde_json::json;
use std::io::Read as _;
use std::time::Duration;

/// How much a command is given to read, in bytes.
const INPUT_LIMIT: u64 = 512 << 10;

/// Run a command in a sandbox, and show what it writes while it runs
#[derive(Debug, Args)]
#[command(after_help = "\
Ctrl-C ends the command. It exits with 0 when the command did, and with 1 else.

Examples:
  baton sandbox exec 0197c0de -- agent-browser snapshot
  baton sandbox exec 0197c0de -- sh -c 'ls -l | head'")]
pub(crate) struct Exec {
    #[command(flatten)]
    sandbox: Reference,
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
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
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
