//! `baton profile compile`

use super::Context;
use crate::cli::state_file;
use crate::output;
use baton_api::Exit;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::{self, CompileError, Times};
use baton_session::cookie::Expiry;
use baton_session::import::{self, Imported};
use baton_session::{Receipt, admit};
use baton_store::clock;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

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
pub(in crate::cli) struct Compile {
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
pub(in crate::cli) struct NeedsMerge(PathBuf);

/// What was made.
#[derive(Serialize)]
struct Compiled<'a> {
    profile: &'a Path,
    receipt: &'a Receipt,
}

impl Compile {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
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
