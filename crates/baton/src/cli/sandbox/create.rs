//! `baton sandbox create`

use super::Context;
use crate::cli::serve::duration;
use crate::cli::state_file;
use crate::output;
use baton_api::Exit;
use baton_api::sandbox::{BrowserSession, CreateSandbox, TakeBack};
use baton_session::Receipt;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
pub(crate) struct Create {
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
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    let split = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = split.ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Create {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
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
        let request = CreateSandbox {
            flavor: self.flavor,
            enable_vnc: self.vnc,
            browser_session,
            domains: self.domain,
            ttl: self.ttl.map(|ttl| u32::try_from(ttl.as_secs()).unwrap_or(u32::MAX)),
            env: self.env.into_iter().collect(),
            ..CreateSandbox::default()
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
