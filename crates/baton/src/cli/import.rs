//! `baton import`: a session of a file, of the profile in a folder, or of a person's own browser.

use super::prompt::Consent;
use super::{Context, state_file};
use crate::browsers::{self, Browser, Own, TakenProfile};
use crate::clients::Homes;
use crate::output;
use anyhow::Context as _;
use baton_api::{Exit, FileText, ImportSession, ImportView};
use baton_browser::profile::read::{ProfileChoice, ProfileFolder, Read};
use baton_runtime::sessions::FILE_LIMIT;
use baton_session::printable::Printable;
use baton_session::view::{self, Domain};
use baton_session::wire::{self, SessionFile};
use baton_session::{Receipt, SessionName};
use clap::Args;
use console::Term;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

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

/// Why no profile was imported.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotImported {
    /// A profile has a name for its person, not for a session.
    #[error(
        "expected a name for the session, found none, for a profile has none that fits\n\
         give one with --name"
    )]
    NoName,
    /// A session that moves between nodes has the name that it has there.
    #[error(
        "expected no --name and no --description for a file of a peer, found one: it becomes the same \
         session as there"
    )]
    KeepsItsName,
    /// A file is taken as a whole.
    #[error("expected the folder of a profile together with {option}, found another file at {}\n\
         leave {option} away: a file is imported as a whole", path.display())]
    NoFolder {
        /// What was given beside it.
        option: &'static str,
        /// What it is.
        path: PathBuf,
    },
    /// The browser was never used here.
    #[error(
        "expected a profile of {browser} in {looked}, found none\n\
         give the folder of a profile that is elsewhere: baton import DIR"
    )]
    NoneFound {
        /// Which browser.
        browser: Browser,
        /// Where it was looked for.
        looked: String,
    },
    /// None is called like that, or more than one.
    #[error(
        "expected one profile of {browser} that is called {wanted:?}, found {found}\n\
         name one with --profile, by its name or its folder:\n{there}"
    )]
    NoneCalled {
        /// Which browser.
        browser: Browser,
        /// What was typed.
        wanted: String,
        /// How many are called so.
        found: usize,
        /// What there is, a line each.
        there: String,
    },
    /// The user did not say which.
    #[error(
        "expected to be told which profile of {browser} is meant, found {found}\n\
         name one with --profile, by its name or its folder:\n{there}"
    )]
    Several {
        /// Which browser.
        browser: Browser,
        /// How many there are.
        found: usize,
        /// What there is, a line each.
        there: String,
    },
    /// More than a file may have.
    #[error(
        "expected at most {FILE_LIMIT} bytes of session file, found {0}\n\
         take less with --domain"
    )]
    TooLarge(usize),
}

impl Import {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let Some(Brought { file, left_out: mut unread, profile }) = self.bring(context)? else {
            let document = json!({ "imported": false });
            context.output.answer(&document, || "nothing was imported".to_owned());
            return Ok(Exit::Done);
        };
        if state_file::is_for_a_node(&file) {
            return self.import_from_peer(context, &file).await;
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
    async fn import_from_peer(self, context: &Context, file: &FileText) -> anyhow::Result<Exit> {
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

    /// The session file that is sent; none when the user was asked and did not agree.
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

/// What is taken of which profile.
#[derive(Debug, Args)]
#[command(next_help_heading = "Profiles")]
struct ProfileArgs {
    /// Take a profile of your own browser
    #[arg(long, value_name = "BROWSER")]
    from: Option<Browser>,
    /// Which one: its name as the browser shows it, or its folder [default: the only one, or a
    /// question]
    #[arg(long, value_name = "NAME", requires = "from")]
    profile: Option<String>,
    /// Only what belongs to this domain and to those below it; again for more
    #[arg(long, value_name = "DOMAIN")]
    domain: Vec<Domain>,
    /// Take the open tabs of your browser, and their sessionStorage, too
    #[arg(long, requires = "from")]
    tabs: bool,
    /// Whose password opens the cookies of a folder [default: as its path says, else chromium]
    #[arg(long, value_name = "BROWSER", conflicts_with = "from")]
    product: Option<Browser>,
}

impl ProfileArgs {
    /// Refuses a file in the place of a folder, where something was said that only a folder can obey.
    fn expect_none(&self, path: &Path) -> Result<(), NotImported> {
        let option = match (&self.domain[..], &self.product) {
            ([_, ..], _) => "--domain",
            (_, Some(_)) => "--product",
            _ => return Ok(()),
        };
        Err(NotImported::NoFolder { option, path: path.to_owned() })
    }

    /// Reads the profile in a folder, or one of a person's own browser, if that person agrees.
    fn bring(
        &self,
        context: &Context,
        path: Option<&Path>,
        consent: &Consent,
    ) -> anyhow::Result<Option<Brought>> {
        let mut profile = None;
        let found = match (path, self.from) {
            (_, Some(browser)) => self.own(context, browser, consent)?,
            (path, None) => {
                let path = path.context("expected a folder, found none")?;
                let choice = ProfileChoice::of(&std::path::absolute(path)?)?;
                if let Some(told) = browsers::choice_note(&choice) {
                    context.output.note(&told);
                }
                profile = Some(TakenProfile::of(&choice));
                let folder = choice.taken.folder;
                let browser = self.product.unwrap_or_else(|| Browser::of_path(folder.path()));
                Some((folder, browser))
            }
        };
        let Some((folder, browser)) = found else { return Ok(None) };
        if let Some(pid) = browsers::in_use(&folder) {
            context.output.note(&output::in_use(pid));
        }
        let progress = context.output.progress("reading the profile");
        let read = browsers::read(&folder, browser);
        progress.end();
        self.file(context, read?).map(|brought| Some(Brought { profile, ..brought }))
    }

    /// A profile of a person's own browser; none when that person does not agree.
    fn own(
        &self,
        context: &Context,
        browser: Browser,
        consent: &Consent,
    ) -> anyhow::Result<Option<(ProfileFolder, Browser)>> {
        let (all, looked) = browsers::own(browser, &Homes::of_this_user()?);
        let own = choose(browser, all, &looked, self.profile.as_deref())?;
        let what = format!("the logins of {browser} are taken");
        let shown = self.shown(browser, &own.to_string());
        let agreed = consent.asked(context.output, &what, &shown, "import this?")?;
        Ok(agreed.then_some((own.folder, browser)))
    }

    /// What a person agrees to.
    fn shown(&self, browser: Browser, own: &str) -> String {
        let domains: Vec<String> = self.domain.iter().map(ToString::to_string).collect();
        let what = match domains.as_slice() {
            [] => "every login in it".to_owned(),
            domains => format!("the logins of {} and below", domains.join(", ")),
        };
        format!(
            "{browser}: {}\nwhat is taken: {what}\nwhoever may use the session, an agent for \
             example, is logged in as you",
            output::plain(own)
        )
    }

    /// What was wanted of all that was read, as a session file.
    fn file(&self, context: &Context, read: Read) -> anyhow::Result<Brought> {
        let Read { mut state, mut left_out, .. } = read;
        if !self.domain.is_empty() {
            view::keep(&mut state, &self.domain);
            left_out = view::concerning(left_out, &self.domain);
        }
        if self.from.is_some() && !self.tabs && !state.tabs.is_empty() {
            let tabs = output::counted(state.tabs.len(), "open tab");
            context.output.note(&format!("not taken: {tabs}; --tabs takes them too"));
            state.tabs.clear();
        }
        let text = wire::write(&SessionFile { state, ..SessionFile::default() });
        match text.len() {
            size if size > FILE_LIMIT => Err(NotImported::TooLarge(size).into()),
            _ => Ok(Brought { file: FileText::new(text)?, left_out, profile: None }),
        }
    }
}

/// The one that was named, the only one, or the one that the user chose on a terminal.
fn choose(
    browser: Browser,
    mut all: Vec<Own>,
    looked: &[PathBuf],
    wanted: Option<&str>,
) -> anyhow::Result<Own> {
    if all.is_empty() {
        let looked: Vec<String> = looked.iter().map(|path| path.display().to_string()).collect();
        return Err(NotImported::NoneFound { browser, looked: looked.join(", ") }.into());
    }
    let there = listed(&all);
    if let Some(wanted) = wanted {
        all.retain(|own| own.is(wanted));
        let (wanted, found) = (wanted.to_owned(), all.len());
        return only(all)
            .ok_or_else(|| NotImported::NoneCalled { browser, wanted, found, there }.into());
    }
    let several = NotImported::Several { browser, found: all.len(), there };
    match all.len() {
        1 => only(all).ok_or_else(|| several.into()),
        count => match ask(browser, &all)? {
            Some(number @ 1..) if number <= count => Ok(all.swap_remove(number - 1)),
            _ => Err(several.into()),
        },
    }
}

fn only(mut all: Vec<Own>) -> Option<Own> {
    all.pop().filter(|_| all.is_empty())
}

fn listed(all: &[Own]) -> String {
    let lines: Vec<String> = all.iter().map(|own| output::plain(&own.to_string())).collect();
    lines.join("\n")
}

/// The number that the user chose; none without a terminal to ask on, or when what was typed is no number.
fn ask(browser: Browser, all: &[Own]) -> anyhow::Result<Option<usize>> {
    let terminal = Term::stderr();
    if !std::io::stdin().is_terminal() || !terminal.is_term() {
        return Ok(None);
    }
    terminal.write_line(&format!("profiles of {browser}:"))?;
    for (position, line) in listed(all).lines().enumerate() {
        let line = Printable::for_terminal(line);
        terminal.write_line(&format!("  {}  {line}", position + 1))?;
    }
    terminal.write_str(&format!("which one? [1-{}] ", all.len()))?;
    Ok(terminal.read_line()?.trim().parse().ok())
}
