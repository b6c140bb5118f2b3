//! `baton import`

mod choose;
mod error;
mod profile;

pub(super) use error::NotImported;

use super::{Context, consent::Consent, state_file};
use crate::browsers::TakenProfile;
use crate::output;
use baton_api::{Exit, FileText, ImportSession, ImportView};
use baton_session::{Receipt, SessionName};
use clap::Args;
use profile::ProfileArgs;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;

/// Make a session of a file, of a profile, or of your own browser
#[derive(Debug, Args)]
#[command(after_help = "\
What PATH is, is recognised: a session file, a Playwright storageState (also of agent-browser,
browser-use or Steel), a list of cookies (of Selenium, Puppeteer or an extension), a cookies.txt, one of
these sealed, or a folder with a Chrome profile (of several the one that the browser used last: the
others are named, and each has a folder of its own). Only a session file has a name of its own. A file that a
peer sealed for this node (baton export --to PEER) becomes the same session as there; the exit code is 4
when it was changed here and there.

--from takes a profile of your own browser, after asking: cookies, localStorage and what sites may
do, with --tabs the open tabs too. Nothing in it is changed, and the browser may run. With --domain
the session knows only the sites that an agent is to have.

The session is recoverable, and baton sessions resume brings it to life on a fresh profile. What
cannot be read or used is listed, and costs nothing else; the exit code is 6 then. A file that is
damaged, or sealed for somebody else, changes nothing.

Do not use one login in two places: where refresh tokens rotate, the slower one is logged out.

Examples:
  baton import shop.json
  baton import state.json --name shop
  baton import cookies.txt --name shop-1
  baton import shop.baton --identity ~/.config/baton/identity --name shop-2
  baton import ./profile --name shop-3
  baton import --from chrome --domain example.com --name mine
  baton import --from brave --profile Work --tabs --name work")]
pub(super) struct Import {
    /// The file, or the folder of a profile
    #[arg(value_name = "PATH", required_unless_present = "from", conflicts_with = "from")]
    path: Option<PathBuf>,
    /// Name of the session [default: the one in the file]
    #[arg(long)]
    name: Option<SessionName>,
    /// Free text for people [default: the one in the file]
    #[arg(long)]
    description: Option<String>,
    /// What opens a sealed file: a file with age identities
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    identity: Option<PathBuf>,
    #[arg(long, env = "BATON_BUNDLE_PASSPHRASE", hide = true, hide_env_values = true)]
    set_passphrase: Option<SecretString>,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    profile: ProfileArgs,
}

/// What is sent to the node, and what was left out before.
struct Brought {
    file: FileText,
    left_out: Receipt,
    /// The profile in a folder that was named.
    profile: Option<TakenProfile>,
}

/// What became of it.
#[derive(Serialize)]
struct Imported {
    #[serde(flatten)]
    view: ImportView,
    #[serde(flatten)]
    profile: Option<TakenProfile>,
}

impl Import {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let Some(Brought { file, left_out: mut unread, profile }) = self.bring(context)? else {
            let document = json!({ "imported": false });
            context.output.answer(&document, || "nothing was imported".to_owned());
            return Ok(Exit::Done);
        };
        if state_file::is_for_a_node(&file) {
            return self.take(context, &file).await;
        }
        let request = ImportSession { name: self.name, description: self.description, file };
        let client = context.client().await?;
        let progress = context.output.progress("importing the session");
        let imported = client.import_session(&request).await;
        progress.end();
        let mut view = imported?;
        unread.extend(view.left_out);
        unread.sort();
        view.left_out = unread;
        let imported = Imported { view, profile };
        context.output.answer(&imported, || output::imported(&imported.view));
        let whole = imported.view.left_out.items.is_empty();
        Ok(if whole { Exit::Done } else { Exit::Losses })
    }

    /// Takes a file that a peer sealed for this node.
    async fn take(self, context: &Context, file: &FileText) -> anyhow::Result<Exit> {
        if self.name.is_some() || self.description.is_some() {
            return Err(NotImported::KeepsItsName.into());
        }
        let client = context.client().await?;
        let progress = context.output.progress("taking the session");
        let taken = client.take_sync_file(file).await;
        progress.end();
        let taken = taken?;
        context.output.answer(&taken, || output::taken(&taken));
        Ok(if taken.conflicts.is_empty() { Exit::Done } else { Exit::Conflict })
    }

    /// The session file that is sent; none when somebody was asked and did not agree.
    fn bring(&self, context: &Context) -> anyhow::Result<Option<Brought>> {
        match &self.path {
            Some(path) if !path.is_dir() => {
                self.profile.expect_none(path)?;
                let passphrase = self.set_passphrase.clone();
                let file = state_file::read(path, self.identity.as_deref(), passphrase)?;
                Ok(Some(Brought { file, left_out: Receipt::default(), profile: None }))
            }
            _ if self.name.is_none() => Err(NotImported::NoName.into()),
            path => self.profile.bring(context, path.as_deref(), &self.consent),
        }
    }
}
