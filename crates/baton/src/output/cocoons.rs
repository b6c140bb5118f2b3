//! How cocoons read.

use super::table::Table;
use baton_api::cocoon::{CocoonAccess, CocoonList};

/// A list of cocoons, each with the address where a person begins.
pub(crate) fn cocoons(list: &CocoonList) -> String {
    let mut table = Table::new(&["ID", "SERVICE", "FOR", "LOOK IN", "OPEN"]);
    for cocoon in &list.items {
        let access = match cocoon.access {
            CocoonAccess::Loopback => "this machine",
            CocoonAccess::Key => "keys",
        };
        let is_seen = cocoon.browser_debug.enabled.unwrap_or_default();
        table.row([
            cocoon.id.to_string(),
            cocoon.upstream.to_string(),
            access.to_owned(),
            if is_seen { "yes" } else { "no" }.to_owned(),
            cocoon.urls.first().map_or_else(|| "no proxy".to_owned(), ToString::to_string),
        ]);
    }
    table.render()
}
