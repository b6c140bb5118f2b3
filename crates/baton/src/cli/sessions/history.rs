//! `baton sessions history`

use super::{Context, Reference};
use crate::output;
use baton_api::{Exit, History, ListHistory};
use clap::Args;

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
pub(crate) struct ShowHistory {
    #[command(flatten)]
    session: Reference,
    /// Read all parts, and say of each snapshot how many of them are damaged
    #[arg(long)]
    verify: bool,
}

impl ShowHistory {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
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
