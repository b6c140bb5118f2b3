//! A session as a file: read and opened where it lies, and put where one goes that leaves
//! (`baton export`).
//!
//! One that leaves is a login: it never goes to a screen, and is sealed if asked.

use super::{Context, prompt};
use crate::output;
use anyhow::Context as _;
use baton_api::sync::SealedFile;
use baton_api::{Contents, Exit, ExportFormat, ExportSession, ExportView, FileText};
use baton_runtime::sessions::FILE_LIMIT;
use baton_session::import::ImportError;
use baton_session::{Receipt, SessionId, SessionName, SnapshotId, import};
use baton_store::data::write_private;
use baton_sync::file;
use baton_sync::file::{BundleKey, Recipient};
use clap::Args;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::json;
use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    /// It is not there.
    #[error("expected a file at {}, found none", .0.display())]
    NotThere(PathBuf),
    /// It is too large.
    #[error("expected {} to have at most {limit} bytes, found more", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// How many it may have.
        limit: usize,
    },
    /// It is sealed.
    #[error(
        "expected an identity that opens {}, which is sealed, found none\nname its file with \
         --identity", .0.display()
    )]
    Sealed(PathBuf),
    /// It is of no known kind.
    #[error("{}: {source}", path.display())]
    OtherKind {
        /// Which file.
        path: PathBuf,
        /// What it is.
        source: ImportError,
    },
}

/// The document in the file at `path`; `identity` is the file with what opens a sealed one, unless a
/// passphrase does.
pub(super) fn read(
    path: &Path,
    identity: Option<&Path>,
    passphrase: Option<SecretString>,
) -> anyhow::Result<FileText> {
    // Sealing adds little, and what is in a bundle has its own bound.
    let mut bytes = read_bounded(path, FILE_LIMIT + FILE_LIMIT / 64)?;
    if file::is_sealed(&bytes) {
        if file::is_by_passphrase(&bytes) {
            let passphrase = prompt::to_open_bundle(passphrase)?;
            bytes = file::open_by_passphrase(&bytes, passphrase, FILE_LIMIT)?;
            return text_of(&bytes, path);
        }
        let Some(identity) = identity else {
            return Err(Unreadable::Sealed(path.to_owned()).into());
        };
        let text = SecretString::from(String::from_utf8(read_bounded(identity, 1 << 20)?)?);
        let identities = BundleKey::parse_all(text.expose_secret())?;
        bytes = file::open(&bytes, &identities, FILE_LIMIT)?;
    }
    text_of(&bytes, path)
}

/// The document in a file that is not sealed.
pub(super) fn plain(path: &Path) -> anyhow::Result<FileText> {
    text_of(&read_bounded(path, FILE_LIMIT)?, path)
}

/// Whether it is a sync file, which only the node opens for which it was sealed.
pub(super) fn is_for_a_node(file: &FileText) -> bool {
    #[derive(serde::Deserialize)]
    struct Sealed {
        #[serde(rename = "sealed")]
        _sealed: serde::de::IgnoredAny,
        #[serde(rename = "signature")]
        _signature: serde::de::IgnoredAny,
    }
    serde_json::from_str::<Sealed>(file.as_str()).is_ok()
}

fn text_of(bytes: &[u8], path: &Path) -> anyhow::Result<FileText> {
    let text = import::text(bytes);
    let text = text.map_err(|source| Unreadable::OtherKind { path: path.to_owned(), source })?;
    Ok(FileText::of(text.into_owned()))
}

/// The bytes of a file that has at most `limit` of them.
pub(super) fn read_bounded(path: &Path, limit: usize) -> anyhow::Result<Vec<u8>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Unreadable::NotThere(path.to_owned()).into());
        }
        file => file.with_context(|| format!("could not read {}", path.display()))?,
    };
    let mut bytes = Vec::new();
    let read = file.take(limit as u64 + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("could not read {}", path.display()))?;
    if bytes.len() > limit {
        return Err(Unreadable::TooLarge { path: path.to_owned(), limit }.into());
    }
    Ok(bytes)
}

/// Where to, and for whom.
#[derive(Debug, Args)]
pub(super) struct DestinationArgs {
    /// Where to; an older file there is replaced once the new one is whole [default: standard
    /// output, unless that is a terminal]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Seal the file for this age recipient, age1…; may be repeated
    #[arg(long, value_name = "RECIPIENT")]
    to: Vec<String>,
    /// Seal the file with a passphrase, which is asked for, or is in `BATON_BUNDLE_PASSPHRASE`
    #[arg(long, conflicts_with = "to")]
    passphrase: bool,
    #[arg(long, env = "BATON_BUNDLE_PASSPHRASE", hide = true, hide_env_values = true)]
    set_passphrase: Option<SecretString>,
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

/// A place that was found fit before anything was read.
#[derive(Debug)]
pub(super) struct Destination {
    /// None for standard output.
    pub(super) path: Option<PathBuf>,
    /// As they were typed.
    pub(super) sealed_for: Vec<String>,
    recipients: Vec<Recipient>,
    passphrase: Option<SecretString>,
}

impl DestinationArgs {
    /// Looks whether something can be written there.
    pub(super) fn find(self, context: &Context) -> anyhow::Result<Destination> {
        let path = match self.output {
            Some(path) => Some(std::path::absolute(path)?),
            None if context.output.is_json() => return Err(NoPlace::Json.into()),
            None if std::io::stdout().is_terminal() => return Err(NoPlace::Terminal.into()),
            None => None,
        };
        let recipients = self.to.iter().map(|to| Recipient::parse(to));
        let recipients = recipients.collect::<Result<_, _>>()?;
        let passphrase = self.passphrase.then(|| prompt::to_seal_bundle(self.set_passphrase));
        let passphrase = passphrase.transpose()?;
        Ok(Destination { path, sealed_for: self.to, recipients, passphrase })
    }

    /// The peer for which the file is sealed, when it is one that is named: no recipient of age.
    pub(super) fn peer(&self) -> Option<&str> {
        match self.to.as_slice() {
            [to] if !to.trim().starts_with("age1") => Some(to.trim()),
            _ => None,
        }
    }

    /// The same place for a file that is sealed already.
    pub(super) fn find_for_sealed(mut self, context: &Context) -> anyhow::Result<Destination> {
        let sealed_for = std::mem::take(&mut self.to);
        Ok(Destination { sealed_for, ..self.find(context)? })
    }
}

impl Destination {
    /// Writes the file, sealed if there is a passphrase or a recipient. How many bytes it has.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<usize> {
        let sealed;
        let bytes = if let Some(passphrase) = &self.passphrase {
            sealed = file::seal_by_passphrase(text.as_bytes(), passphrase.clone())?;
            sealed.as_slice()
        } else if self.recipients.is_empty() {
            text.as_bytes()
        } else {
            sealed = file::seal(text.as_bytes(), &self.recipients)?;
            sealed.as_slice()
        };
        match &self.path {
            Some(path) => write_private(path, bytes)?,
            None => std::io::stdout().write_all(bytes).context("could not write the session")?,
        }
        Ok(bytes.len())
    }

    /// Says who can read what was written.
    pub(super) fn warn(&self, context: &Context) {
        context.output.note(if self.passphrase.is_some() {
            "the file is sealed: whoever has it and knows the passphrase is logged in"
        } else if self.sealed_for.is_empty() {
            "whoever has this file is logged in: keep it as you keep a password"
        } else if self.recipients.is_empty() {
            "the file is sealed: only the node of that peer can open it"
        } else {
            "the file is sealed: only who has the identity of a recipient can open it"
        });
    }
}

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
