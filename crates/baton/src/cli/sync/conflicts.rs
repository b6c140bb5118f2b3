//! `baton sync conflicts`

use super::Context;
use crate::output::{self, Names};
use baton_api::Exit;
use clap::Args;

/// Show the sessions in which somebody has to choose, and what each choice would change
#[derive(Debug, Args)]
#[command(after_help = "\
A session was changed at two nodes, and neither had seen what the other did. Nothing is lost: one
revision counts, and the others are kept beside it until baton sync resolve says which one stays.

For each of the others it says how it differs from the one that counts: by site and kind, how
many cookies, entries, databases and tabs would be added, removed or changed, and their names. No
value is shown.")]
pub(crate) struct Conflicts {
    /// Only this session: an id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: Option<String>,
}

impl Conflicts {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let asked = if let Some(id) = self.id {
            vec![id]
        } else {
            let found = client.list_conflicts().await?.items;
            found.iter().map(|conflict| conflict.session_id.to_string()).collect()
        };
        let mut items = Vec::with_capacity(asked.len());
        for session in asked {
            items.push(client.fetch_conflict(&session).await?);
        }
        // Somebody may have chosen meanwhile.
        items.retain(|item| !item.conflict.siblings.is_empty());
        let list = output::Conflicts { items };
        let names = Names::of(&client.list_known_peers().await?);
        context.output.answer(&list, || output::conflicts(&list, &names));
        Ok(Exit::Done)
    }
}
