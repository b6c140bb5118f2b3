//! A profile as a session file: that of a folder, or one of a person's own browser.

use super::error::NotImported;
use super::{Brought, choose};
use crate::browsers::{self, Browser, TakenProfile};
use crate::cli::Context;
use crate::cli::consent::Consent;
use crate::clients::Homes;
use crate::output;
use anyhow::Context as _;
use baton_api::FileText;
use baton_browser::profile::read::{Choice, ProfileFolder, Read};
use baton_runtime::sessions::FILE_LIMIT;
use baton_session::domains::{self, Domain};
use baton_session::wire::{self, SessionFile};
use clap::Args;
use std::path::Path;

/// What is taken of which profile.
#[derive(Debug, Args)]
#[command(next_help_heading = "Profiles")]
pub(super) struct ProfileArgs {
    /// Take a profile of your own browser
    #[arg(long, value_name = "BROWSER")]
    pub(super) from: Option<Browser>,
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
    pub(super) fn expect_none(&self, path: &Path) -> Result<(), NotImported> {
        let option = match (&self.domain[..], &self.product) {
            ([_, ..], _) => "--domain",
            (_, Some(_)) => "--product",
            _ => return Ok(()),
        };
        Err(NotImported::NoFolder { option, path: path.to_owned() })
    }

    /// Reads the profile in a folder, or one of a person's own browser, if that person agrees.
    pub(super) fn bring(
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
                let choice = Choice::of(&std::path::absolute(path)?)?;
                if let Some(told) = browsers::told(&choice) {
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
        let own = choose::one(browser, all, &looked, self.profile.as_deref())?;
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
            domains::keep(&mut state, &self.domain);
            left_out = domains::concerning(left_out, &self.domain);
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
