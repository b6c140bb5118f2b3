//! The board as every door shows it: what is in the file, and what follows from it.

use crate::board::Board;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// A board, and what is derived and never written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// What is in the file.
    #[serde(flatten)]
    pub board: Board,
    /// The agents that were not seen for a while.
    pub gone: Vec<String>,
    /// Tasks that wait for others, and for which.
    pub waiting: BTreeMap<String, Vec<String>>,
    /// Tasks whose holder is gone, so that others may take them.
    pub lapsed: Vec<String>,
}

impl View {
    /// The board at this instant.
    pub fn of(board: Board, now: Timestamp, gone_after: SignedDuration) -> Self {
        let gone = board.agents.iter().filter(|(_, agent)| agent.is_gone(now, gone_after));
        let gone = gone.map(|(name, _)| name.clone()).collect();
        let open: HashSet<&str> = board
            .tasks
            .iter()
            .filter(|task| !task.is_completed())
            .map(|task| task.id.as_str())
            .collect();
        let waiting = board.tasks.iter().filter(|task| !task.is_completed()).filter_map(|task| {
            let on = task.blocked_by.iter().filter(|id| open.contains(id.as_str()));
            let on: Vec<String> = on.cloned().collect();
            (!on.is_empty()).then(|| (task.id.clone(), on))
        });
        let waiting = waiting.collect();
        let lapsed = board.tasks.iter().filter(|task| board.has_lapsed(task, now, gone_after));
        let lapsed = lapsed.map(|task| task.id.clone()).collect();
        Self { board, gone, waiting, lapsed }
    }
}
