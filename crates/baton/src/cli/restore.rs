//! `baton restore`

use super::{Context, passphrase, serve};
use crate::output::counted;
use baton_api::Exit;
use baton_backup::{FileKeyKind, Restored, Unlock};
use clap::Args;
use jiff::Timestamp;
use secrecy::SecretString;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Make a data folder of a backup; no node may run on it
#[derive(Debug, Args)]
#[command(after_help = "\
The folder is the one of --data. It must be empty or missing; with --force an older data folder is
kept beside it under another name. Everything is checked first: a restore that fails changes nothing.

The database becomes the file baton.db in it, or goes to the empty PostgreSQL database of
--database-url, whatever it was when the backup was made. One that holds something is never replaced.

What is restored is the node that made the backup, with its id and key, in a new epoch. Sessions
that were active are recoverable, and the local admin key is made anew at the first start. Do not
resume a session here while the original runs: a site sees one login used twice.

The passphrase is read from BATON_BACKUP_PASSPHRASE, or asked for on a terminal.

Examples:
  baton restore /media/usb/baton.backup
  baton --data /srv/baton restore \\
    --key-file /media/safe/key /media/usb/baton.backup
  baton restore --database-url postgres://baton@db/baton /media/usb/baton.backup")]
pub(super) struct Restore {
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Take the place of a data folder that is not empty
    #[arg(long)]
    force: bool,
    /// The master key's file, for a backup that was made without a passphrase
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The passphrase
    #[arg(long, env = "BATON_BACKUP_PASSPHRASE", hide = true, hide_env_values = true)]
    passphrase: Option<SecretString>,
    /// Master key in base64, instead of its file
    #[arg(long, env = "BATON_MASTER_KEY", hide = true, hide_env_values = true)]
    master_key: Option<SecretString>,
    #[command(flatten)]
    database: serve::DatabaseArgs,
}

/// A backup that only the master key opens, and no key.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected the master key of {}, which was made without a passphrase, found none\nname the key's \
     file with --key-file, or set BATON_MASTER_KEY", .0.display()
)]
pub(super) struct NoKey(PathBuf);

/// What was restored.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    data: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<&'a str>,
    node_id: String,
    made_at: Timestamp,
    sessions: u64,
    snapshots: u64,
    profiles: usize,
    recoverable: u64,
    closed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_folder: Option<&'a Path>,
}

impl Restore {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let force = self.force;
        let file = self.file.clone();
        let server = self.database.database()?;
        let unlock = self.unlock()?;
        let progress = context.output.progress("restoring");
        let restored =
            baton_backup::restore(&file, &context.data, server.as_ref(), unlock, force).await;
        progress.end();
        let restored = restored?;
        let answer = answer(&restored, context.data.path());
        context.output.answer(&answer, || text(&answer));
        Ok(Exit::Done)
    }

    /// The backup says what opens it.
    fn unlock(self) -> anyhow::Result<Unlock> {
        match baton_backup::kind(&self.file)? {
            FileKeyKind::Passphrase => {
                Ok(Unlock::Passphrase(passphrase::to_open(self.passphrase)?))
            }
            FileKeyKind::Master => match (self.key_file, self.master_key) {
                (Some(path), _) => Ok(Unlock::KeyFile(path)),
                (None, Some(text)) => Ok(Unlock::KeyText(text)),
                (None, None) => Err(NoKey(self.file).into()),
            },
        }
    }
}

fn answer<'a>(restored: &'a Restored, data: &'a Path) -> Answer<'a> {
    let manifest = &restored.manifest;
    Answer {
        data,
        database: restored.server.as_deref(),
        node_id: restored.node.to_string(),
        made_at: manifest.made_at,
        sessions: manifest.sessions,
        snapshots: manifest.snapshots,
        profiles: manifest.profiles.len(),
        recoverable: restored.epoch.recoverable,
        closed: restored.epoch.closed,
        old_folder: restored.old.as_deref(),
    }
}

fn text(answer: &Answer<'_>) -> String {
    let mut lines = vec![format!(
        "{}: {}, {}, {}, as they were at {:.0}",
        answer.data.display(),
        counted(answer.sessions, "session"),
        counted(answer.snapshots, "snapshot"),
        counted(answer.profiles, "profile"),
        answer.made_at,
    )];
    if answer.recoverable + answer.closed > 0 {
        lines.push(format!(
            "of those that were active: {} recoverable, {} closed for want of a snapshot",
            answer.recoverable, answer.closed,
        ));
    }
    if let Some(database) = answer.database {
        lines.push(format!(
            "the database is {database}: name it in baton.toml before a node starts on this folder"
        ));
    }
    if let Some(old) = answer.old_folder {
        lines.push(format!("the old data folder is {}", old.display()));
    }
    lines.join("\n")
}
