//! `baton import`

use super::Context;
use crate::output;
use anyhow::Context as _;
use baton_api::{Exit, FileText, ImportSession};
use baton_node::bundle::{self, Identity};
use baton_node::sessions::FILE_LIMIT;
use baton_session::SessionName;
use clap::Args;
use secrecy::{ExposeSecret, SecretString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Make a session of a file that baton export or Playwright wrote
#[derive(Debug, Args)]
#[command(after_help = "\
The kind of the file is recognised: a session file, a Playwright storageState, or either of them
sealed. Only a storageState has no name of its own.

The session is recoverable, and baton sessions resume brings it to life on a fresh profile. What in
the file cannot be used is listed, and costs nothing else; the exit code is 6 then. A file that is
damaged, or sealed for somebody else, changes nothing.

Do not use one login in two places: where refresh tokens rotate, the slower one is logged out.

Examples:
  baton import shop.json
  baton import state.json --name shop
  baton import shop.baton --identity ~/.config/baton/identity --name shop-2")]
pub(super) struct Import {
    /// The file
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Name of the session [default: the one in the file]
    #[arg(long)]
    name: Option<SessionName>,
    /// Free text for people [default: the one in the file]
    #[arg(long)]
    description: Option<String>,
    /// What opens a sealed file: a file with age identities
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
}

/// Why a file was not even sent to the node.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotSent {
    /// It is not there.
    #[error("expected a file at {}, found none", .0.display())]
    NotThere(PathBuf),
    /// It is too large.
    #[error("expected {} to have at most {FILE_LIMIT} bytes, found more", .0.display())]
    TooLarge(PathBuf),
    /// It is sealed.
    #[error(
        "expected an identity that opens {}, which is sealed, found none\nname its file with \
         --identity", .0.display()
    )]
    Sealed(PathBuf),
    /// It is of no known kind.
    #[error(
        "expected {} to be a session file, a Playwright storageState or a sealed bundle, found \
         something else: {source}", path.display()
    )]
    NoJson {
        /// Which file.
        path: PathBuf,
        /// Why it is no JSON.
        source: serde_json::Error,
    },
}

impl Import {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let file = self.read()?;
        let request = ImportSession { name: self.name, description: self.description, file };
        let client = context.client().await?;
        let progress = context.output.progress("importing the session");
        let imported = client.import_session(&request).await;
        progress.end();
        let imported = imported?;
        context.output.answer(&imported, || output::imported(&imported));
        let whole = imported.left_out.items.is_empty();
        Ok(if whole { Exit::Done } else { Exit::Losses })
    }

    /// The document in the file, opened if it is sealed.
    fn read(&self) -> anyhow::Result<FileText> {
        // Sealing adds little, and what is in a bundle has its own bound.
        let mut bytes = read_bounded(&self.path, FILE_LIMIT + FILE_LIMIT / 64)?;
        if bundle::is_sealed(&bytes) {
            let Some(identity) = &self.identity else {
                return Err(NotSent::Sealed(self.path.clone()).into());
            };
            let text = SecretString::from(String::from_utf8(read_bounded(identity, 1 << 20)?)?);
            let identities = Identity::parse_all(text.expose_secret())?;
            bytes = bundle::open(&bytes, &identities, FILE_LIMIT)?;
        }
        let not_json = |source| NotSent::NoJson { path: self.path.clone(), source };
        let text = String::from_utf8(bytes)
            .map_err(|error| not_json(serde::de::Error::custom(error.utf8_error())))?;
        Ok(FileText::new(text).map_err(not_json)?)
    }
}

fn read_bounded(path: &Path, limit: usize) -> anyhow::Result<Vec<u8>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(NotSent::NotThere(path.to_owned()).into());
        }
        file => file.with_context(|| format!("could not read {}", path.display()))?,
    };
    let mut bytes = Vec::new();
    let read = file.take(limit as u64 + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("could not read {}", path.display()))?;
    if bytes.len() > limit { Err(NotSent::TooLarge(path.to_owned()).into()) } else { Ok(bytes) }
}
