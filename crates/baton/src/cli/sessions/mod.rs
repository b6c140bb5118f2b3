//! `baton sessions`: what there is, how it is reached, its files, and how it ends.

mod ask;
mod snapshots;
mod usage;

use super::Context;
use crate::output;
use anyhow::{Context as _, ensure};
use baton_api::{Exit, KeepContext, OpenCdp, PassSession, SessionList};
use baton_session::{AgentName, Lifecycle, SessionName};
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// List, show, capture, resume, roll back, drive, pass, ask, close, delete sessions
#[derive(Debug, Subcommand)]
pub(super) enum Sessions {
    List(ListSessions),
    Show(ShowSession),
    Capture(snapshots::Capture),
    Resume(snapshots::Resume),
    Close(Close),
    Abandon(Abandon),
    Delete(DeleteSession),
    History(snapshots::ShowHistory),
    Rollback(snapshots::Rollback),
    Diff(snapshots::Diff),
    Logins(snapshots::Logins),
    Cdp(Cdp),
    Contexts(Contexts),
    KeepContext(Keep),
    Pass(Pass),
    Ask(ask::Ask),
    Files(Files),
    Usage(usage::Usage),
}

/// Which session.
#[derive(Debug, Args)]
struct SessionReference {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
}

impl Sessions {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::List(command) => command.run(context).await,
            Self::Show(command) => command.run(context).await,
            Self::Capture(command) => command.run(context).await,
            Self::Resume(command) => command.run(context).await,
            Self::Close(command) => command.run(context).await,
            Self::Abandon(command) => command.run(context).await,
            Self::Delete(command) => command.run(context).await,
            Self::History(command) => command.run(context).await,
            Self::Rollback(command) => command.run(context).await,
            Self::Diff(command) => command.run(context).await,
            Self::Logins(command) => command.run(context).await,
            Self::Cdp(command) => command.run(context).await,
            Self::Contexts(command) => command.run(context).await,
            Self::KeepContext(command) => command.run(context).await,
            Self::Pass(command) => command.run(context).await,
            Self::Ask(command) => command.run(context).await,
            Self::Files(command) => command.run(context).await,
            Self::Usage(command) => command.run(context).await,
        }
    }
}

/// The most sessions that one list shows.
const MOST: usize = 1000;

/// Show the sessions there are, newest first
#[derive(Debug, Args)]
pub(super) struct ListSessions {
    /// Only those in this state: active, recoverable, stale, failed or closed
    #[arg(long, value_name = "STATE")]
    state: Option<Lifecycle>,
}

impl ListSessions {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let mut query = baton_api::ListSessions { state: self.state, ..Default::default() };
        let mut all = SessionList { items: Vec::new(), next: None };
        loop {
            let page = client.list_sessions(&query).await?;
            all.items.extend(page.items);
            all.next = page.next;
            query.after = page.next;
            if all.next.is_none() || all.items.len() >= MOST {
                break;
            }
        }
        context.output.answer(&all, || output::sessions(&all, context.output));
        Ok(Exit::Done)
    }
}

/// Show one session: where it stands, its tabs, its last snapshot, its last receipt
#[derive(Debug, Args)]
pub(super) struct ShowSession {
    #[command(flatten)]
    session: SessionReference,
    /// Show addresses of tabs whole, with what may be secret in them; needs the scope reveal
    #[arg(long)]
    reveal: bool,
}

impl ShowSession {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let view = if self.reveal {
            client.reveal_session(&self.session.id).await?
        } else {
            client.fetch_session(&self.session.id).await?
        };
        context.output.answer(&view, || output::session(&view));
        if !context.output.is_json()
            && let Some(receipt) = &view.receipt
        {
            context.output.line(&format!("\nlast resume\n{}", output::receipt(receipt)));
        }
        Ok(Exit::Done)
    }
}

/// List the contexts that tools made for themselves in the session's browser, and their tabs
///
/// Incognito windows, and what Playwright's `browser.newContext()` gives. They are not kept: baton
/// sessions keep-context makes a session of one.
#[derive(Debug, Args)]
pub(super) struct Contexts {
    #[command(flatten)]
    session: SessionReference,
}

impl Contexts {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let list = context.client().await?.list_contexts(&self.session.id).await?;
        context.output.answer(&list, || output::contexts(&list));
        Ok(Exit::Done)
    }
}

/// Make a session of its own of what a context holds now
///
/// It gets the cookies of the context, its tabs, and the storage of the sites that they show; what
/// happens in the context later is not in it. baton sessions resume brings it to life. Ends with 6
/// when something could not be taken.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  baton sessions keep-context shop --name shop-bob
  baton sessions keep-context shop --context 4F3A --name shop-bob")]
pub(super) struct Keep {
    #[command(flatten)]
    session: SessionReference,
    /// The beginning of the context's id; may be left out when there is only one
    #[arg(long, value_name = "CONTEXT")]
    context: Option<String>,
    /// Name of the new session
    #[arg(long)]
    name: SessionName,
    /// Free text for people
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

impl Keep {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let Self { session, context: which, name, description } = self;
        let request = KeepContext { context: which, name, description };
        let client = context.client().await?;
        let progress = context.output.progress("reading the context");
        let kept = client.keep_context(&session.id, &request).await;
        progress.end();
        let kept = kept?;
        context.output.answer(&kept, || output::imported(&kept));
        Ok(if kept.left_out.items.is_empty() { Exit::Done } else { Exit::Losses })
    }
}

/// Print an address at which another tool drives the session's browser
///
/// The address carries a ticket: whoever has it has the browser. It opens once, within a minute.
/// Tools that send headers need none: they take the `cdp_url` of `baton sessions show --json` and an
/// API key as "Authorization: Bearer KEY".
#[derive(Debug, Args)]
#[command(after_help = "Example:
  agent-browser --cdp \"$(baton sessions cdp shop)\" snapshot")]
pub(super) struct Cdp {
    #[command(flatten)]
    session: SessionReference,
    /// Let the address open as often as needed for a day, for a tool that connects again after a
    /// resume; it ends with the node, and when the key is revoked
    #[arg(long)]
    reusable: bool,
}

impl Cdp {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let request = OpenCdp { reusable: self.reusable };
        let access = context.client().await?.open_cdp(&self.session.id, &request).await?;
        context.output.answer(&access, || access.cdp_url.to_string());
        Ok(Exit::Done)
    }
}

/// Hand a session to another agent, which goes on in the same tabs
#[derive(Debug, Args)]
#[command(after_help = "\
One agent at a time drives a session: the first that opens, resumes or drives it, by the name that it
says with --as or BATON_AGENT. Others are refused until it passes the session on, or until somebody
takes it and says why.

Examples:
  baton sessions pass shop --as kimi --to codex
  baton sessions pass shop --to codex --reason \"kimi hangs\"
  baton sessions pass shop --to nobody --as kimi")]
pub(super) struct Pass {
    #[command(flatten)]
    session: SessionReference,
    /// The agent that drives it from now on, or \"nobody\": then the next one that asks gets it
    #[arg(long, value_name = "AGENT")]
    to: AgentName,
    /// Why; needed by whoever does not drive it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl Pass {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let to = Some(self.to).filter(|to| to.as_str() != "nobody");
        let request = PassSession { to, reason: self.reason };
        let view = client.pass_session(&self.session.id, &request).await?;
        let text = || match &view.session.agent {
            Some(driver) => format!("{} drives {} now", driver.agent, view.session.name),
            None => format!("no agent drives {} now", view.session.name),
        };
        context.output.answer(&view, text);
        Ok(Exit::Done)
    }
}

/// Take a last snapshot, end the browser and free the name
#[derive(Debug, Args)]
#[command(after_help = "A closed session can be resumed until it is deleted.")]
pub(super) struct Close {
    #[command(flatten)]
    session: SessionReference,
}

impl Close {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("taking a last snapshot");
        let closed = client.close_session(&self.session.id).await;
        progress.end();
        let view = closed?;
        let text = || format!("closed {} ({})", view.session.name, view.session.id);
        context.output.answer(&view, text);
        Ok(Exit::Done)
    }
}

/// End the browser without a last snapshot, and remove its profile
#[derive(Debug, Args)]
#[command(after_help = "The snapshots taken before are kept until the session is deleted.")]
pub(super) struct Abandon {
    #[command(flatten)]
    session: SessionReference,
}

impl Abandon {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("ending the browser");
        let abandoned = client.abandon_session(&self.session.id).await;
        progress.end();
        let view = abandoned?;
        let text = || format!("abandoned {} ({})", view.session.name, view.session.id);
        context.output.answer(&view, text);
        Ok(Exit::Done)
    }
}

/// Remove a session that is not active, with its snapshots and profile
#[derive(Debug, Args)]
pub(super) struct DeleteSession {
    #[command(flatten)]
    session: SessionReference,
}

impl DeleteSession {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let id = self.session.id;
        context.client().await?.delete_session(&id).await?;
        context.output.answer(&json!({ "deleted": id }), || format!("deleted {id}"));
        Ok(Exit::Done)
    }
}

/// The largest file that is sent, in bytes; the node takes no larger one.
const LARGEST: u64 = 128 << 20;

/// Put, get, list and remove the files that a session's browser uploads and has downloaded
///
/// A browser sees one folder of this machine, that of its session: it uploads from there and downloads to
/// there.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  baton sessions files put shop ~/scans/receipt.pdf   the path to upload from
  baton sessions files list shop
  baton sessions files get shop invoice.pdf -o invoice.pdf")]
pub(in crate::cli) struct Files {
    #[command(subcommand)]
    verb: FileVerb,
}

#[derive(Debug, Subcommand)]
enum FileVerb {
    /// Put a file among those of a session, and print the path by which its browser knows it
    Put {
        #[command(flatten)]
        session: SessionReference,
        /// The file
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// What it is called there [default: as it is called here]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Get a file of a session, such as one that its browser has downloaded
    Get {
        #[command(flatten)]
        session: SessionReference,
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
        /// Where to [default: standard output, unless that is a terminal]
        #[arg(long, short, value_name = "PATH")]
        output: Option<PathBuf>,
    },
    /// List the files of a session
    List {
        #[command(flatten)]
        session: SessionReference,
    },
    /// Remove a file of a session
    Remove {
        #[command(flatten)]
        session: SessionReference,
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
}

impl Files {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        match self.verb {
            FileVerb::Put { session, path, name } => {
                let found = std::fs::metadata(&path)
                    .with_context(|| format!("expected a file at {}", path.display()))?;
                ensure!(found.is_file(), "expected a file at {}, found none", path.display());
                ensure!(
                    found.len() <= LARGEST,
                    "expected a file of at most {LARGEST} bytes, found {}",
                    found.len()
                );
                let own = || path.file_name().map(|name| name.to_string_lossy().into_owned());
                let name = name.or_else(own).unwrap_or_default();
                let bytes = std::fs::read(&path)?;
                let file = client.put_file(&session.id, &name, bytes).await?;
                context.output.answer(&file, || file.path.clone());
            }
            FileVerb::Get { session, name, output: Some(path) } => {
                let bytes = client.get_file(&session.id, &name).await?;
                std::fs::write(&path, bytes)
                    .with_context(|| format!("could not write {}", path.display()))?;
                let document = serde_json::json!({ "name": name, "output": path });
                context.output.answer(&document, || format!("wrote {}", path.display()));
            }
            FileVerb::Get { session, name, output: None } => {
                let to_screen = std::io::stdout().is_terminal();
                ensure!(
                    !to_screen,
                    "expected a place for {name:?}, found a terminal\nname one with -o PATH"
                );
                let bytes = client.get_file(&session.id, &name).await?;
                std::io::stdout().write_all(&bytes)?;
            }
            FileVerb::List { session } => {
                let files = client.list_files(&session.id).await?;
                context.output.answer(&files, || output::files(&files));
            }
            FileVerb::Remove { session, name } => {
                client.remove_file(&session.id, &name).await?;
                let document = serde_json::json!({ "removed": name });
                context.output.answer(&document, || format!("removed {name}"));
            }
        }
        Ok(Exit::Done)
    }
}
