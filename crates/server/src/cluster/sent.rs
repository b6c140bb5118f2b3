//! What was sent to other nodes since they last said how they are.

use super::rooms::Kind;
use baton_session::NodeId;
use baton_store::ClusterRow;
use jiff::Timestamp;
use std::collections::HashMap;

/// How many of what went where, since the last word of each node.
#[derive(Debug, Default)]
pub(super) struct SentCounts(HashMap<(NodeId, Kind), SentCount>);

#[derive(Debug, Clone, Copy)]
struct SentCount {
    seen_at: Timestamp,
    count: u64,
}

impl SentCounts {
    /// Notes that one of these was sent to a node.
    pub(super) fn note(&mut self, row: &ClusterRow, what: Kind) {
        let fresh = SentCount { seen_at: row.seen_at, count: 0 };
        let entry = self.0.entry((row.member.node, what)).or_insert(fresh);
        if entry.seen_at != row.seen_at {
            *entry = fresh;
        }
        entry.count += 1;
    }

    /// How many a node was sent that it does not count yet.
    pub(super) fn to(&self, row: &ClusterRow, what: Kind) -> u64 {
        let sent = self.0.get(&(row.member.node, what)).filter(|sent| sent.seen_at == row.seen_at);
        sent.map_or(0, |sent| sent.count)
    }
}
