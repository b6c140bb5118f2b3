//! What an owner has and may have, as a table.

use super::table::{Table, size};
use baton_api::{UsageView, Used};

pub(crate) fn usage(usage: &UsageView) -> String {
    let mut table = Table::new(&["WHAT", "USED", "MOST"]);
    let number = |count: u64| count.to_string();
    let mut row = |what: &str, used: Used, shown: fn(u64) -> String| {
        let most = used.most.map_or_else(|| "no bound".to_owned(), shown);
        table.row([what.to_owned(), shown(used.used), most]);
    };
    row("sessions", usage.sessions, number);
    row("running now", usage.browsers, number);
    row("sandboxes now", usage.sandboxes, number);
    row("stored", usage.stored_bytes, size);
    table.render()
}
