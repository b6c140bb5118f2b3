//! `baton export`

use super::Context;
use crate::output::{self, size};
use anyhow::Context as _;
use baton_api::{Contents, Exit, ExportFormat, ExportSession, ExportView};
use baton_node::bundle::{self, Recipient};
use baton_node::data::write_private;
use baton_session::{Receipt, SessionId, SessionName, SnapshotId};
use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Write a session to a file that another Baton, or Playwright, can read
#[derive(Debug, Args)]
#[command(after_help = "\
An active session is captured first; of any other the file holds the last good snapshot.

  session        everything that a session keeps; baton import reads it
  storage-state  cookies, localStorage and IndexedDB, for Playwright and whatever reads its files

WHOEVER HAS THE FILE IS LOGGED IN. It is written with mode 0600. With --to it is sealed: only who has
the identity of the recipient can open it. Make an identity with age-keygen -o FILE, which says its
recipient; baton import --identity FILE, and age -d -i FILE, open what was sealed for it.

What the file does not say is listed. The exit code is 6 when something is missing for which the
format has a place; tabs and sessionStorage have none in storage-state, and are listed only.

Examples:
  baton export shop -o shop.json
  baton export shop --to age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p -o shop.baton
  baton export shop --deep --to age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p -o shop.baton
  baton export shop --format storage-state -o state.json
  baton export shop --format storage-state | my-tests --state -")]
pub(super) struct Export {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
    /// The form of the file: session or storage-state
    #[arg(long, value_name = "FORMAT", default_value = "session")]
    format: ExportFormat,
    /// Where to; an older file there is replaced once the new one is whole [default: standard
    /// output, unless that is a terminal]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Seal the file for this age recipient, age1…; may be repeated
    #[arg(long, value_name = "RECIPIENT")]
    to: Vec<String>,
    /// Keys that no script can read too: the browser's own folders of the databases concerned. The
    /// session must not be active, and the file is sealed
    #[arg(long, requires = "to")]
    deep: bool,
}

/// A login that was to be shown on a screen, or among other things.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoPlace {
    /// Standard output is a terminal.
    #[error("expected a file for the session, found a terminal\nname one with -o PATH")]
    Terminal,
    /// Standard output carries the answer.
    #[error(
        "expected a file for the session together with --json, found none\nname one with -o PATH"
    )]
    Json,
}

/// What was written.
#[derive(Serialize)]
struct Written<'a> {
    id: SessionId,
    name: &'a SessionName,
    snapshot: SnapshotId,
    taken_at: Timestamp,
    format: ExportFormat,
    path: Option<&'a Path>,
    bytes: usize,
    sealed_for: &'a [String],
    holds: Contents,
    receipt: &'a Receipt,
}

impl Export {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let path = self.place(context)?;
        let recipients = self.to.iter().map(|to| Recipient::parse(to));
        let recipients: Vec<Recipient> = recipients.collect::<Result<_, _>>()?;
        let client = context.client().await?;
        let query = ExportSession { format: self.format, deep: self.deep };
        let progress = context.output.progress("reading the session");
        let exported = client.export_session(&self.id, &query).await;
        progress.end();
        let exported = exported?;
        let text = exported.file.as_str();
        let sealed;
        let bytes = if recipients.is_empty() {
            text.as_bytes()
        } else {
            sealed = bundle::seal(text.as_bytes(), &recipients)?;
            sealed.as_slice()
        };
        match &path {
            Some(path) => write_private(path, bytes)?,
            None => std::io::stdout().write_all(bytes).context("could not write the session")?,
        }
        self.tell(context, &exported, path.as_deref(), bytes.len());
        Ok(if exported.receipt.rejected > 0 { Exit::Losses } else { Exit::Done })
    }

    /// Where the file goes; none for standard output.
    fn place(&self, context: &Context) -> anyhow::Result<Option<PathBuf>> {
        match &self.output {
            Some(path) => Ok(Some(std::path::absolute(path)?)),
            None if context.output.is_json() => Err(NoPlace::Json.into()),
            None if std::io::stdout().is_terminal() => Err(NoPlace::Terminal.into()),
            None => Ok(None),
        }
    }

    fn tell(&self, context: &Context, exported: &ExportView, path: Option<&Path>, bytes: usize) {
        let ExportView { id, name, snapshot, taken_at, format, holds, receipt, .. } = exported;
        let written = Written {
            id: *id,
            name,
            snapshot: *snapshot,
            taken_at: *taken_at,
            format: *format,
            path,
            bytes,
            sealed_for: &self.to,
            holds: *holds,
            receipt,
        };
        let not_said = output::left_out(receipt);
        if let Some(path) = path {
            context.output.answer(&written, || {
                let line = format!("{}: {}", path.display(), size(bytes as u64));
                let lines = [Some(line), Some(output::contents(holds)), not_said];
                lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
            });
        } else if let Some(not_said) = not_said {
            context.output.note(&not_said);
        }
        context.output.note(if self.to.is_empty() {
            "whoever has this file is logged in: keep it as you keep a password"
        } else {
            "the file is sealed: only who has the identity of a recipient can open it"
        });
    }
}
