//! Tells whoever reads of a failure what a node knows.

use super::world::World;
use baton_session::{Actor, RevisionId, Signed};

impl World {
    /// What a node knows, a line for each revision, for whoever reads of a failure.
    pub(super) fn tell(&self, at: usize) -> String {
        let short = |id: RevisionId| id.to_string().chars().take(8).collect::<String>();
        let actor = |actor: &Actor| {
            let (node, epoch) = (actor.node.to_string(), actor.epoch.to_string());
            format!("{}#{}.{}", &node[..2], epoch.trim_start_matches('0'), actor.line)
        };
        let replica = &self.nodes[at].folder.replica;
        let line = |signed: &Signed| {
            let id = signed.id();
            let is_head = replica.heads().any(|head| head.id() == id);
            let is_whole = replica.whole().any(|whole| whole.id() == id);
            let place = if is_head {
                "head"
            } else if is_whole {
                "kept"
            } else {
                "known"
            };
            let vector =
                signed.vector.iter().map(|(of, counter)| format!("{} {counter}", actor(of)));
            let parents: Vec<String> = signed.parents.iter().map(|id| short(*id)).collect();
            format!(
                "{place} {} of {} by {:?} [{}] stands for {:b}, names {}, says {}{}\n",
                short(id),
                parents.join(" and "),
                signed.author.as_ref().map(actor),
                vector.collect::<Vec<_>>().join(", "),
                self.oracle.find(id).unwrap_or(0),
                signed.conflicts.iter().map(|id| short(*id)).collect::<Vec<_>>().join(" and "),
                &signed.checksum.to_string()[..4],
                if signed.deleted { ", deleted" } else { "" },
            )
        };
        replica.known().map(line).collect()
    }
}
