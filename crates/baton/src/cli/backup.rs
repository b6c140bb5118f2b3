//! `baton backup` and `baton restore`: a data folder as one file, and back.

use super::{Context, prompt, serve};
use crate::output::{counted, size};
use baton_api::Exit;
use baton_backup::{FileKeyKind, LeftOut, Manifest, Restored, Source, Unlock};
use clap::Args;
use jiff::Timestamp;
use secrecy::SecretString;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Write the database, and what opens it, to one sealed file; the node may run
#[derive(Debug, Args)]
#[command(after_help = "\
With a passphrase the master key is in the backup, and the passphrase alone brings everything back.
It is read from BATON_BACKUP_PASSPHRASE, or asked for on a terminal.
Without one the key is left out, and the backup opens only with the file `key` of the data folder:
keep a copy of that file, and keep it somewhere else.

Settings that only a node needs are read and not used.

Examples:
  baton backup /media/usb/baton.backup   asks for a passphrase
  baton backup --with-profiles /media/usb/baton.backup
                                         the browsers' own folders too")]
pub(super) struct Backup {
    /// Where to; an older backup there is replaced once the new one is whole
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Profiles too, except those whose browsers run
    #[arg(long)]
    with_profiles: bool,
    /// The passphrase
    #[arg(long, env = "BATON_BACKUP_PASSPHRASE", hide = true, hide_env_values = true)]
    passphrase: Option<SecretString>,
    #[command(flatten)]
    node: serve::NodeArgs,
}

/// What was written.
#[derive(Debug, Serialize)]
struct WrittenBackup<'a> {
    file: PathBuf,
    bytes: u64,
    made_at: Timestamp,
    sessions: u64,
    snapshots: u64,
    has_key: bool,
    profiles: usize,
    left_out: &'a [LeftOut],
}

impl Backup {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let output = context.output;
        let file = std::path::absolute(&self.file)?;
        let passphrase = prompt::to_seal(self.passphrase)?;
        let config = self.node.config(&context.data)?;
        let source = Source {
            data: &config.data,
            database: &config.database,
            master_key: config.master_key.as_ref(),
        };
        let progress = output.progress("writing the backup");
        let made = baton_backup::create(source, &file, passphrase, self.with_profiles).await;
        progress.end();
        let made = made?;
        let manifest = &made.manifest;
        let written = WrittenBackup {
            file,
            bytes: made.size,
            made_at: manifest.made_at,
            sessions: manifest.sessions,
            snapshots: manifest.snapshots,
            has_key: manifest.has_key,
            profiles: manifest.profiles.len(),
            left_out: &manifest.left_out,
        };
        output.answer(&written, || text_of_backup(&written, manifest));
        if !manifest.has_key {
            let key = match config.master_key {
                Some(_) => "the key in BATON_MASTER_KEY".to_owned(),
                None => context.data.key().display().to_string(),
            };
            output.note(&format!(
                "the master key is not in it: without {key} it cannot be opened; keep a copy of \
                 that elsewhere"
            ));
        }
        Ok(if manifest.left_out.is_empty() { Exit::Done } else { Exit::Losses })
    }
}

fn text_of_backup(written: &WrittenBackup<'_>, manifest: &Manifest) -> String {
    let mut lines = vec![format!(
        "{}: {}, {}, {}, {}",
        written.file.display(),
        counted(written.sessions, "session"),
        counted(written.snapshots, "snapshot"),
        counted(written.profiles, "profile"),
        size(written.bytes),
    )];
    lines.push(if written.has_key {
        "sealed with the passphrase; the master key is in it".to_owned()
    } else {
        "sealed with the master key".to_owned()
    });
    let left_out = manifest.left_out.iter();
    lines
        .extend(left_out.map(|one| format!("without the profile of {}: {}", one.session, one.why)));
    lines.join("\n")
}

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
        context.output.answer(&answer, || text_of_answer(&answer));
        Ok(Exit::Done)
    }

    /// The backup says what opens it.
    fn unlock(self) -> anyhow::Result<Unlock> {
        match baton_backup::kind(&self.file)? {
            FileKeyKind::Passphrase => Ok(Unlock::Passphrase(prompt::to_open(self.passphrase)?)),
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

fn text_of_answer(answer: &Answer<'_>) -> String {
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
