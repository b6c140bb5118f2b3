//! `baton sync run`

use super::direction::Direction;
use super::peers::Stand;
use super::{Context, movement, peers};
use crate::output::{self, Exchange, Failed, Moved, Progress, Way};
use baton_api::sync::{DifferenceList, MovementOutcome, SessionDifference};
use baton_api::{Client, Exit};
use clap::Args;

/// Move what is newer, one session after the other
#[derive(Debug, Args)]
#[command(after_help = "\
What was saved moves (baton save); what differs is found by who has seen what, not by clocks. Of a
session that was changed here and there nothing is lost: one revision counts, and the other is kept
beside it until somebody chooses.

A peer that does not answer does not keep the others from theirs. The exit code is 1 when a peer or
a session failed, else 4 when somebody has to choose (baton sync conflicts). What was interrupted
goes on where it stopped when this is run again.

Examples:
  baton sync run                          all confirmed peers, both ways
  baton sync run server --direction pull  only from one of them to here")]
pub(crate) struct Run {
    /// Only with this peer: its name, its node id, or a unique prefix of that
    #[arg(value_name = "PEER")]
    peer: Option<String>,
    /// Which way: pull (from peers to here), push (from here to them) or both
    #[arg(long, value_name = "WAY", default_value = "both", hide_possible_values = true)]
    direction: Direction,
}

impl Run {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let stand = peers::ask(&client, self.peer.as_deref(), context.output).await?;
        let asked = stand.asked();
        let Stand { lists, failed, asking } = stand;
        let done = Exchange { asked, asking, items: Vec::new(), failed };
        let progress = context.output.progress("moving sessions");
        let mut work = Work { client, direction: self.direction, progress, done };
        for list in &lists {
            work.exchange(list).await;
        }
        let Work { progress, done, .. } = work;
        progress.end();
        context.output.answer(&done, || output::exchange(&done));
        Ok(match (done.failed.is_empty(), done.conflicts()) {
            (false, _) => Exit::Failed,
            (true, 0) => Exit::Done,
            (true, _) => Exit::Conflict,
        })
    }
}

/// A run on its way.
struct Work {
    client: Client,
    direction: Direction,
    progress: Progress,
    done: Exchange,
}

impl Work {
    /// Moves what differs between this node and a peer; what fails does not stop the rest.
    async fn exchange(&mut self, list: &DifferenceList) {
        let direction = self.direction;
        let differ = |item: &&SessionDifference| !direction.ways(item.difference).is_empty();
        let items: Vec<_> = list.items.iter().filter(differ).collect();
        for (at, item) in items.iter().enumerate() {
            let which = format!("{} of {}, {}", at + 1, items.len(), list.name);
            for way in direction.ways(item.difference) {
                match self.step(list, item, *way, &which).await {
                    Ok(moved) => self.done.items.push(moved),
                    // What did not come cannot be joined with what goes.
                    Err(failed) => {
                        let (is_silent, left) = (failed.is_silent(), items.len() - at - 1);
                        self.done.failed.push(failed);
                        if is_silent {
                            let rest = (left > 0).then(|| Failed::rest(&list.name, left));
                            self.done.failed.extend(rest);
                            return;
                        }
                        break;
                    }
                }
            }
        }
    }

    /// Moves one session one way.
    async fn step(
        &self,
        list: &DifferenceList,
        item: &SessionDifference,
        way: Way,
        which: &str,
    ) -> Result<Moved, Failed> {
        let doing = format!("{way} {} ({which})", item.name);
        self.progress.say(&doing);
        let left = |parts| {
            self.progress.say(&format!("{doing}: {} left", output::counted(parts, "part")));
        };
        let (peer, session) = (list.node_id.to_string(), item.session_id.to_string());
        let moved = movement::whole(&self.client, way, &peer, &session, left).await;
        let movement = moved.map_err(|error| Failed::session(&list.name, item, way, &error))?;
        match movement.outcome {
            MovementOutcome::Unfinished => Err(Failed::unfinished(&list.name, item, way)),
            _ => Ok(Moved { peer: list.name.clone(), way, movement }),
        }
    }
}
