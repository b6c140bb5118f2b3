//! The snapshots of a session: taken, listed, compared, and brought back.

use super::{Context, SessionReference};
use crate::output;
use baton_api::{Exit, History, ListHistory, ResumeAs, ResumeResult, ResumeSession};
use baton_session::Receipt;
use clap::Args;

/// Take a snapshot of an active session now
#[derive(Debug, Args)]
pub(in crate::cli) struct Capture {
    #[command(flatten)]
    session: SessionReference,
}

impl Capture {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("reading the browser");
        let captured = client.capture_session(&self.session.id).await;
        progress.end();
        let snapshot = captured?;
        context.output.answer(&snapshot, || {
            let size = output::size(snapshot.bytes);
            let line =
                format!("captured {}: {} parts, {size}, on disk", self.session.id, snapshot.parts);
            output::with_unread(line, &snapshot)
        });
        Ok(Exit::Done)
    }
}

/// The most snapshots that are shown.
const MOST: usize = 1000;

/// Show the snapshots of a session, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
A resume takes the snapshot that is marked so. One that is shrunk was taken by itself when more than
half of the cookies or of the storage was missing as a browser had just come back, and is passed over;
baton sessions rollback goes to any of them.

Which one a resume takes is told by their lists of parts. Where parts themselves are damaged, as on a
disk that fails, a resume takes the newest older one that is whole: --verify reads them all and minds
that, which takes as long as there is much to read.")]
pub(in crate::cli) struct ShowHistory {
    #[command(flatten)]
    session: SessionReference,
    /// Read all parts, and say of each snapshot how many of them are damaged
    #[arg(long)]
    verify: bool,
}

impl ShowHistory {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let mut query = ListHistory { limit: Some(200), after: None, verify: self.verify };
        let mut all = History::default();
        loop {
            let page = client.list_history(&self.session.id, &query).await?;
            all.items.extend(page.items);
            all.damaged.extend(page.damaged);
            (all.resumes_from, all.next, query.after) = (page.resumes_from, page.next, page.next);
            if all.next.is_none() || all.items.len() >= MOST {
                break;
            }
        }
        for id in &all.damaged {
            context.output.note(&format!("snapshot {id} is damaged and cannot be read"));
        }
        context.output.answer(&all, || output::history(&all));
        Ok(Exit::Done)
    }
}

/// Show where a session may be logged in, the likeliest first, and why
#[derive(Debug, Args)]
#[command(after_help = "\
By the snapshot that a resume would take. Names and kinds of cookies and of storage tell what looks like a
login; where somebody signed in while Baton watched, what is new since then tells more. Only the site knows.")]
pub(in crate::cli) struct Logins {
    #[command(flatten)]
    session: SessionReference,
}

impl Logins {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let list = context.client().await?.list_logins(&self.session.id).await?;
        context.output.answer(&list, || output::logins(&list));
        Ok(Exit::Done)
    }
}

/// Show what changed from one snapshot of a session to another
#[derive(Debug, Args)]
#[command(after_help = "\
Cookies, entries of storage, databases, tabs and settings are named; no value is shown.

Example:
  baton sessions diff shopping 0197c0de-51 0197c0de-9a")]
pub(in crate::cli) struct Diff {
    #[command(flatten)]
    session: SessionReference,
    /// The snapshot before: an id, or a unique prefix of one
    a: String,
    /// The snapshot after
    b: String,
}

impl Diff {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let view = client.diff_snapshots(&self.session.id, &self.a, &self.b).await?;
        for unreadable in &view.unreadable {
            context.output.note(&format!("left out: {}", output::plain(unreadable)));
        }
        context.output.answer(&view, || output::diff(&view.diff));
        Ok(Exit::Done)
    }
}

/// Bring a session back from its last good snapshot
#[derive(Debug, Args)]
#[command(after_help = "\
The receipt says item by item what came back. When something did not, the exit code is 6.

A snapshot that was taken by itself when more than half of the cookies or of the storage was gone is
passed over, and the receipt says so; baton sessions rollback goes to it all the same.

Where the session was signed in with another browser than the one that is started, the receipt says
so. --browser same shows sites the former, as baton open --user-agent does; --browser new shows them
the one that is started, and says no more of the former.")]
pub(in crate::cli) struct Resume {
    #[command(flatten)]
    session: SessionReference,
    /// Which browser sites see from now on: same, the one that it was signed in with, or new, the one
    /// that is started [default: as it is]
    #[arg(long, value_name = "WHICH", value_parser = resume_as)]
    browser: Option<ResumeAs>,
}

fn resume_as(text: &str) -> Result<ResumeAs, String> {
    match text {
        "same" => Ok(ResumeAs::Same),
        "new" => Ok(ResumeAs::New),
        _ => Err("expected same or new".to_owned()),
    }
}

impl Resume {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let request = ResumeSession { browser: self.browser };
        let progress = context.output.progress("bringing the session back");
        let resumed = client.resume_session_as(&self.session.id, request).await;
        progress.end();
        Ok(answer(context, &resumed?))
    }
}

/// Shows what came back.
pub(super) fn answer(context: &Context, result: &ResumeResult) -> Exit {
    context.output.answer(result, || output::resumed(result));
    let lost = result.session.receipt.as_ref().is_some_and(Receipt::has_losses);
    if lost { Exit::Losses } else { Exit::Done }
}

/// Take a session back to any of its snapshots
#[derive(Debug, Args)]
#[command(after_help = "\
An active session is captured first, so that the way back is open too; then its browser ends, and
another one starts with what the snapshot holds. The receipt says item by item what came back. When
something did not, the exit code is 6.

What the snapshot does not name and no tab of it shows, such as the storage of a site that was
visited later, stays in the browser's profile.

Example:
  baton sessions history shopping
  baton sessions rollback shopping --to 0197c0de-51")]
pub(in crate::cli) struct Rollback {
    #[command(flatten)]
    session: SessionReference,
    /// A snapshot of the session: an id, or a unique prefix of one
    #[arg(long, value_name = "SNAPSHOT")]
    to: String,
}

impl Rollback {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("taking the session back");
        let resumed = client.roll_back_session(&self.session.id, &self.to).await;
        progress.end();
        Ok(answer(context, &resumed?))
    }
}
