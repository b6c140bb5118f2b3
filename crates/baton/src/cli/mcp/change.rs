//! One change in the files of several programs: read all, show, ask, write one by one. A file that cannot
//! be written keeps no other from being written, and the answer names it beside those that were.

use super::Context;
use crate::cli::prompt::Consent;
use crate::clients::{
    Client, ClientFile, EditKind, Edited, FileError, Homes, Mistake, ServerEntry,
};
use crate::output;
use baton_api::Exit;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How a change is made.
#[derive(Debug, Args)]
pub(super) struct Manner {
    /// Change the project's file in the current folder, not the user's
    #[arg(long)]
    project: bool,
    /// Only show what would change
    #[arg(long, conflicts_with = "yes")]
    print: bool,
    #[command(flatten)]
    consent: Consent,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotChanged {
    /// No program is known here.
    #[error(
        "expected the configuration of a program in which agents run, found none\nthere are \
         claude-code, codex, cursor, vscode and gemini: name one to set it up all the same"
    )]
    NoneFound,
    /// Two servers are to drive one browser.
    #[error(
        "expected --drive or --with, found both\n--drive names one of three servers, --with starts any"
    )]
    TwoServers,
    /// A path that no such file can hold.
    #[error("expected a path in UTF-8, found {0:?}")]
    NotText(PathBuf),
    /// A file is not what it should be.
    #[error(
        "expected {path} to be readable, but {mistake}\nnothing was changed; correct the file{paste}",
        path = path.display()
    )]
    Unread {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        mistake: String,
        /// What its owner can do himself.
        paste: String,
    },
}

/// The change in one file.
struct Change {
    client: Client,
    found: ClientFile,
    edited: Edited,
}

/// What was done, for a program.
#[derive(Serialize)]
struct ChangeDocument<'a> {
    clients: Vec<Done<'a>>,
}

/// What was done in one file.
#[derive(Serialize)]
struct Done<'a> {
    client: Client,
    path: &'a Path,
    change: EditKind,
    written: bool,
    /// Why it was not written, though it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<&'a ServerEntry>,
}

impl Manner {
    /// Makes the change that `edit` describes. All files are read before the first is written.
    pub(super) fn change(
        &self,
        context: &Context,
        homes: &Homes,
        clients: &[Client],
        entry: Option<&ServerEntry>,
        edit: impl Fn(&str, Client) -> Result<Edited, Mistake>,
    ) -> anyhow::Result<Exit> {
        let clients: BTreeSet<Client> = clients.iter().copied().collect();
        let plan = |client: Client| {
            let path =
                if self.project { client.project_file(homes) } else { client.user_file(homes) };
            Ok(Change::plan(client, ClientFile::read(path)?, entry, &edit)?)
        };
        let changes: Vec<Change> = clients.into_iter().map(plan).collect::<anyhow::Result<_>>()?;
        let (mut done, mut end) = (Vec::new(), Exit::Done);
        for change in &changes {
            let is_wanted = self.is_wanted(context, change)?;
            let written = if is_wanted {
                change.found.replace(change.edited.text.as_bytes()).map(|()| true)
            } else {
                Ok(false)
            };
            if !context.output.is_json() {
                context.output.line(&change.outcome(entry.is_some(), self.print, &written));
            }
            let (path, kind) = (change.found.path.as_path(), change.edited.kind);
            let (written, failure) = match written {
                Ok(written) => (written, None),
                Err(error) => {
                    end = error.exit();
                    (false, Some(error_text(&error)))
                }
            };
            done.push(Done { client: change.client, path, change: kind, written, failure, entry });
        }
        if context.output.is_json() {
            context.output.answer(&ChangeDocument { clients: done }, String::new);
        } else if !self.print && done.iter().any(|done| done.written) {
            context.output.note("a program that runs reads its file when it starts again");
        }
        Ok(end)
    }

    /// Whether one file is to be written.
    fn is_wanted(&self, context: &Context, change: &Change) -> anyhow::Result<bool> {
        if change.edited.kind == EditKind::None || self.print {
            return Ok(false);
        }
        let path = change.found.path.display().to_string();
        self.consent.given(context.output, &path, &change.shown())
    }
}

impl Change {
    fn plan(
        client: Client,
        found: ClientFile,
        entry: Option<&ServerEntry>,
        edit: impl Fn(&str, Client) -> Result<Edited, Mistake>,
    ) -> Result<Self, NotChanged> {
        let unread = |mistake: String| {
            let paste = entry.map(|entry| entry.to_paste(client.form()));
            let paste = paste.map(|entry| format!(", or write this into it yourself:\n{entry}"));
            let path = found.path.clone();
            NotChanged::Unread { path, mistake, paste: paste.unwrap_or_default() }
        };
        let text =
            str::from_utf8(found.bytes()).map_err(|_| unread("it is not UTF-8".to_owned()))?;
        let edited = edit(text, client).map_err(|mistake| unread(mistake.to_string()))?;
        Ok(Self { client, found, edited })
    }

    /// What changes where.
    fn shown(&self) -> String {
        let path = output::plain(&self.found.path.display().to_string());
        let lines = self.edited.shown.iter().map(|line| output::plain(line));
        std::iter::once(path).chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// What was done, in a line; what would be, as a whole.
    fn outcome(
        &self,
        is_wanted: bool,
        only_shown: bool,
        written: &Result<bool, FileError>,
    ) -> String {
        let (client, path) = (self.client.name(), self.found.path.display());
        let written = match written {
            Ok(written) => *written,
            Err(error) => return format!("{client}: not written: {}", error_text(error)),
        };
        match self.edited.kind {
            EditKind::None if is_wanted => format!("{client}: already in {path}"),
            EditKind::None => format!("{client}: not in {path}"),
            _ if only_shown => self.shown(),
            _ if !written => format!("{client}: left as it is"),
            EditKind::Add => format!("{client}: added to {path}"),
            EditKind::Change => format!("{client}: changed in {path}"),
            EditKind::Remove => format!("{client}: removed from {path}"),
        }
    }
}

/// Why a file was not written.
fn error_text(error: &FileError) -> String {
    match error {
        FileError::Io { source, .. } => format!("{error}: {source}"),
        error => error.to_string(),
    }
}
