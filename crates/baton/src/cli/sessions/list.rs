//! `baton sessions list`

use super::Context;
use crate::output;
use baton_api::{Exit, ListSessions, SessionList};
use baton_session::Lifecycle;
use clap::Args;

/// The most sessions that one list shows.
const MOST: usize = 1000;

/// Show the sessions there are, newest first
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only those in this state: active, recoverable, stale, failed or closed
    #[arg(long, value_name = "STATE")]
    state: Option<Lifecycle>,
}

impl List {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let mut query = ListSessions { state: self.state, ..ListSessions::default() };
        let mut all = SessionList { items: Vec::new(), next: None };
        loop {
            let page = client.list_sessions(&query).await?;
            all.items.extend(page.items);
            all.next = page.next;
            query.after = page.next;
            if all.next.is_none() || all.items.len() >= MOST {
                break;
            }
        }
        context.output.answer(&all, || output::sessions(&all, context.output));
        Ok(Exit::Done)
    }
}
