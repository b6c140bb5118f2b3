//! `baton export`

use super::Context;
use super::state_file::{Destination, DestinationArgs};
use crate::output;
use baton_api::sync::SealedFile;
use baton_api::{Contents, Exit, ExportFormat, ExportSession, ExportView};
use baton_session::{Receipt, SessionId, SessionName, SnapshotId};
use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// Write a session to a file that another Baton, or Playwright, can read
#[derive(Debug, Args)]
#[command(after_help = "\
An active session is captured first; of any other the file holds the last good snapshot.

  session        everything that a session keeps; baton import reads it
  storage-state  cookies, localStorage and IndexedDB, for Playwright and whatever reads its files

WHOEVER HAS THE FILE IS LOGGED IN. It is written with mode 0600. With --to it is sealed: only who has
the identity of the recipient can open it. Make an identity with age-keygen -o FILE, which says its
recipient; baton import --identity FILE, and age -d -i FILE, open what was sealed for it.

--to also takes the name of a confirmed peer. The session is saved then, and the file holds all that
is shared of it, sealed for that node: baton import there makes it the same session, as baton sync run
would, with no network between the two. --passphrase seals the file for whoever knows the words.

What the file does not say is listed. The exit code is 6 when something is missing for which the
format has a place; tabs and sessionStorage have none in storage-state, and are listed only.

Examples:
  baton export shop -o shop.json
  baton export shop -o shop.baton \\
    --to age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
  baton export shop --to server -o shop.baton
  baton export shop --passphrase -o shop.baton
  baton export shop --deep -o shop.baton \\
    --to age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
  baton export shop --format storage-state -o state.json
  baton export shop --format storage-state | my-tests --state -")]
pub(super) struct Export {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
    /// The form of the file: session or storage-state
    #[arg(long, value_name = "FORMAT", default_value = "session")]
    format: ExportFormat,
    #[command(flatten)]
    destination: DestinationArgs,
    /// Keys that no script can read too: the browser's own folders of the databases concerned. The
    /// session must not be active, and the file is sealed
    #[arg(long, requires = "to")]
    deep: bool,
}

/// What was written.
#[derive(Serialize)]
struct WrittenExport<'a> {
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
        if let Some(peer) = self.destination.peer().map(ToOwned::to_owned) {
            return self.run_for(context, &peer).await;
        }
        let destination = self.destination.find(context)?;
        let client = context.client().await?;
        let query = ExportSession { format: self.format, deep: self.deep };
        let progress = context.output.progress("reading the session");
        let exported = client.export_session(&self.id, &query).await;
        progress.end();
        let exported = exported?;
        let bytes = destination.write(exported.file.as_str())?;
        tell(context, &exported, &destination, bytes);
        Ok(if exported.receipt.rejected > 0 { Exit::Losses } else { Exit::Done })
    }
}

impl Export {
    /// Seals the session for a peer.
    async fn run_for(self, context: &Context, peer: &str) -> anyhow::Result<Exit> {
        if self.deep || self.format != ExportFormat::Session {
            return Err(NotForPeers.into());
        }
        let destination = self.destination.find_for_sealed(context)?;
        let client = context.client().await?;
        let progress = context.output.progress("sealing the session");
        let sealed = client.seal_session(&self.id, peer).await;
        progress.end();
        let SealedFile { id, name, rev, node_id, peer, left_out, file } = sealed?;
        let bytes = destination.write(file.as_str())?;
        if let Some(path) = &destination.path {
            let document = json!({
                "id": id, "name": name, "rev": rev, "nodeId": node_id, "peer": peer,
                "path": path, "bytes": bytes, "leftOut": left_out,
            });
            context.output.answer(&document, || {
                let path = path.display();
                format!("{path}: “{name}” as revision {}, sealed for “{peer}”", rev.version())
            });
        }
        if let Some(not_said) = output::left_out(&left_out) {
            context.output.note(&not_said);
        }
        destination.warn(context);
        Ok(if left_out.has_losses() { Exit::Losses } else { Exit::Done })
    }
}

/// A form of a file that nodes do not take from each other.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected --to to name an age recipient, age1…, found a peer: a file for a peer is its own form, \
     and has no --format and no --deep"
)]
pub(super) struct NotForPeers;

fn tell(context: &Context, exported: &ExportView, destination: &Destination, bytes: usize) {
    let ExportView { id, name, snapshot, taken_at, format, holds, receipt, .. } = exported;
    let written = WrittenExport {
        id: *id,
        name,
        snapshot: *snapshot,
        taken_at: *taken_at,
        format: *format,
        path: destination.path.as_deref(),
        bytes,
        sealed_for: &destination.sealed_for,
        holds: *holds,
        receipt,
    };
    let not_said = output::left_out(receipt);
    if let Some(path) = &destination.path {
        context.output.answer(&written, || output::written(path, bytes, holds, not_said));
    } else if let Some(not_said) = not_said {
        context.output.note(&not_said);
    }
    destination.warn(context);
}
