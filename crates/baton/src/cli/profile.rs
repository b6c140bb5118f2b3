//! `baton profile`: folders as browsers have them, with no node and no browser.

use super::Context;
use super::state_file::{self, Destination, DestinationArgs};
use crate::browsers::{self, Browser, TakenProfile};
use crate::output;
use baton_api::{Contents, Exit, ExportFormat};
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::{self, CompileError, Times};
use baton_browser::profile::read::{self, ProfileChoice};
use baton_session::cookie::Expiry;
use baton_session::import::{self, Imported};
use baton_session::wire::{self, Head, SessionFile, Version};
use baton_session::{Receipt, State, admit, playwright};
use baton_store::clock;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Make a browser's profile of a state, or read one, with no browser running
#[derive(Debug, Subcommand)]
pub(super) enum Profile {
    Compile(Compile),
    Read(Read),
}

impl Profile {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Compile(command) => command.run(context),
            Self::Read(command) => command.run(context),
        }
    }
}

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
pub(super) struct Read {
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
struct WrittenProfile<'a> {
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
    fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let destination = self.destination.find(context)?;
        let choice = ProfileChoice::of(&std::path::absolute(&self.profile)?)?;
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
        let document = WrittenProfile {
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

fn tell(
    context: &Context,
    choice: &ProfileChoice,
    to: &Destination,
    document: &WrittenProfile<'_>,
) {
    let not_said = output::left_out(document.receipt);
    if let Some(path) = &to.path {
        let text = || output::written(path, document.bytes, &document.holds, not_said);
        context.output.answer(document, text);
    } else if let Some(not_said) = not_said {
        context.output.note(&not_said);
    }
    if let Some(told) = browsers::choice_note(choice) {
        context.output.note(&told);
    }
    if let Some(pid) = browsers::in_use(&choice.taken.folder) {
        context.output.note(&output::in_use(pid));
    }
    to.warn(context);
}

/// Make a profile, with which any Chromium starts logged in, of a file
#[derive(Debug, Args)]
#[command(after_help = "\
STATE is a file that baton import reads: a session file, a Playwright storageState, a list of cookies, a
cookies.txt, or one of them sealed.
DIR is a Chrome user data dir afterwards, whole or not at all.

Cookies, localStorage and what sites may do are written. What only a page can make (IndexedDB,
caches, service workers) and what no profile has (tabs, sessionStorage) is listed; a session has
them too: baton import and baton sessions resume. The exit code is 6 when something was left out that
a profile can have, or that only a page can make.

WHOEVER HAS THE FOLDER IS LOGGED IN. Its cookies are not encrypted until a browser writes them anew.

Examples:
  baton profile compile state.json ./profile
  AGENT_BROWSER_PROFILE=./profile agent-browser open https://example.org
  baton profile compile shop.baton ./profile --merge \\
    --identity ~/.config/baton/identity")]
pub(super) struct Compile {
    /// The file
    #[arg(value_name = "STATE")]
    state: PathBuf,
    /// The folder: an empty one, or none yet
    #[arg(value_name = "DIR")]
    profile: PathBuf,
    /// What opens a sealed file: a file with age identities
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// Put the state into a profile that is there, and on which no browser runs. A cookie takes the
    /// place of the same one, the localStorage of an origin that of all its entries
    #[arg(long)]
    merge: bool,
}

/// Something is there already.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected {} to be an empty folder, or none, found a profile in it\ngive --merge to put the \
     state into that profile", .0.display()
)]
pub(super) struct NeedsMerge(PathBuf);

/// What was made.
#[derive(Serialize)]
struct Compiled<'a> {
    profile: &'a Path,
    receipt: &'a Receipt,
}

impl Compile {
    fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let file = state_file::read(&self.state, self.identity.as_deref(), None)?;
        let Imported { mut state, left_out: mut receipt, .. } =
            import::read(file.as_str().as_bytes())?;
        let profile = std::path::absolute(&self.profile)?;
        let now = clock::now().as_microsecond();
        receipt.extend(admit::admit(&mut state, Expiry(now)));
        let times = Times::at(Instant(now));
        let written = if self.merge {
            compile::merge(&state, &profile, times)
        } else {
            compile::compile(&state, &profile, times)
        };
        receipt.extend(written.map_err(explain)?);
        receipt.sort();
        let document = Compiled { profile: &profile, receipt: &receipt };
        context.output.answer(&document, || output::compiled(&profile, &receipt));
        context.output.note("whoever has this folder is logged in: keep it as you keep a password");
        Ok(if receipt.has_losses_of_a_profile() { Exit::Losses } else { Exit::Done })
    }
}

/// Of a profile in the way it is said how to go on.
fn explain(error: CompileError) -> anyhow::Error {
    match error {
        CompileError::NotEmpty(path) if path.join("Default").is_dir() => NeedsMerge(path).into(),
        error => error.into(),
    }
}
