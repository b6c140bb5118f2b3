//! `baton profile read`

use super::Context;
use crate::browsers::{self, Browser, TakenProfile};
use crate::cli::destination::{Destination, DestinationArgs};
use crate::output;
use baton_api::{Contents, Exit, ExportFormat};
use baton_browser::profile::read::{self, Choice};
use baton_session::wire::{self, Head, SessionFile, Version};
use baton_session::{Receipt, State, playwright};
use baton_store::clock;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Write what a profile holds to a file that baton import, or Playwright, can read
#[derive(Debug, Args)]
#[command(after_help = "\
DIR is a user data dir, or the folder of one of its profiles (Default, Profile 1). Of several the one
is read that the browser used last; the others are named, and each is read by its own folder. Nothing
in it is changed. A browser may run on it; what happened in the last half minute may be missing.

Cookies, localStorage, tabs with their sessionStorage, and what sites may do are read. IndexedDB,
caches, files and service workers are listed: only a browser can read them (baton attach). Of a
database that is damaged in the middle the rest is read, as a browser does. Cookies that the browser
encrypted with a password of the desktop's keyring are opened with it; the keyring must be unlocked.

WHOEVER HAS THE FILE IS LOGGED IN. It is written with mode 0600; --to seals it.

What the file does not say is listed, and the exit code is 6 then. What storage-state has no place
for (tabs, sessionStorage, what sites may do) is listed only.

Examples:
  baton profile read ./profile -o state.json --format storage-state
  baton profile read ~/.config/google-chrome/Default -o mine.json
  baton profile read ./copy --product brave -o mine.json")]
pub(in crate::cli) struct Read {
    /// The folder
    #[arg(value_name = "DIR")]
    profile: PathBuf,
    /// The form of the file: session or storage-state
    #[arg(long, value_name = "FORMAT", default_value = "session")]
    format: ExportFormat,
    #[command(flatten)]
    destination: DestinationArgs,
    /// Whose password opens the cookies [default: as the path says, else chromium]
    #[arg(long, value_name = "BROWSER")]
    product: Option<Browser>,
}

/// What was written.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    profile: TakenProfile,
    format: ExportFormat,
    path: Option<&'a Path>,
    bytes: usize,
    sealed_for: &'a [String],
    holds: Contents,
    receipt: &'a Receipt,
}

impl Read {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let destination = self.destination.find(context)?;
        let choice = Choice::of(&std::path::absolute(&self.profile)?)?;
        let folder = &choice.taken.folder;
        let browser = self.product.unwrap_or_else(|| Browser::of_path(folder.path()));
        let progress = context.output.progress("reading the profile");
        let read = browsers::read(folder, browser);
        progress.end();
        let read::Read { state, left_out: mut receipt, .. } = read?;
        let holds = Contents::from(&state);
        let is_whole = receipt.items.is_empty();
        let (text, lost) = written(self.format, state);
        let is_exact = lost.rejected == 0;
        receipt.extend(lost);
        let bytes = destination.write(&text)?;
        let document = Written {
            profile: TakenProfile::of(&choice),
            format: self.format,
            path: destination.path.as_deref(),
            bytes,
            sealed_for: &destination.sealed_for,
            holds,
            receipt: &receipt,
        };
        tell(context, &choice, &destination, &document);
        Ok(if is_whole && is_exact { Exit::Done } else { Exit::Losses })
    }
}

/// The text of the file, and what it has no place for.
fn written(format: ExportFormat, state: State) -> (String, Receipt) {
    match format {
        ExportFormat::Session => {
            let last_modified = Some(clock::now());
            let sync = Version { version: 1, last_modified, ..Version::default() };
            let head = Head { sync, ..Head::default() };
            (wire::write(&SessionFile { head, state }), Receipt::default())
        }
        ExportFormat::StorageState => {
            let (text, lost) = playwright::write(&state);
            (text, lost.into_iter().map(Into::into).collect())
        }
    }
}

fn tell(context: &Context, choice: &Choice, to: &Destination, document: &Written<'_>) {
    let not_said = output::left_out(document.receipt);
    if let Some(path) = &to.path {
        let text = || output::written(path, document.bytes, &document.holds, not_said);
        context.output.answer(document, text);
    } else if let Some(not_said) = not_said {
        context.output.note(&not_said);
    }
    if let Some(told) = browsers::told(choice) {
        context.output.note(&told);
    }
    if let Some(pid) = browsers::in_use(&choice.taken.folder) {
        context.output.note(&output::in_use(pid));
    }
    to.warn(context);
}
