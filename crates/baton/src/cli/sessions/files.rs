//! `baton sessions files`

use super::{Context, Reference};
use crate::output;
use anyhow::{Context as _, ensure};
use baton_api::Exit;
use clap::{Args, Subcommand};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

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
        session: Reference,
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
        session: Reference,
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
        session: Reference,
    },
    /// Remove a file of a session
    Remove {
        #[command(flatten)]
        session: Reference,
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
}

impl Files {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
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
