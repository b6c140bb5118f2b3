//! `baton backup`

use super::{Context, passphrase, serve};
use crate::output::{counted, size};
use baton_api::Exit;
use baton_backup::{LeftOut, Manifest, Source};
use clap::Args;
use jiff::Timestamp;
use secrecy::SecretString;
use serde::Serialize;
use std::path::PathBuf;

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
struct Written<'a> {
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
        let passphrase = passphrase::to_seal(self.passphrase)?;
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
        let written = Written {
            file,
            bytes: made.size,
            made_at: manifest.made_at,
            sessions: manifest.sessions,
            snapshots: manifest.snapshots,
            has_key: manifest.has_key,
            profiles: manifest.profiles.len(),
            left_out: &manifest.left_out,
        };
        output.answer(&written, || text(&written, manifest));
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

fn text(written: &Written<'_>, manifest: &Manifest) -> String {
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
