//! `baton sync` and `baton save`: sessions move between this node and its peers, and the user chooses.

use super::Context;
use crate::output::{
    self, Exchange, Failed, MoveDirection, Moved, Names, NodeReport, Output, Progress, Standing,
};
use baton_api::sync::{
    Difference, DifferenceList, Movement, MovementOutcome, PeerView, ResolveConflict, SaveSession,
    SavedView, SessionDifference,
};
use baton_api::{Client, ClientError, Exit};
use baton_session::SessionName;
use baton_session::peer::PeerState;
use clap::{Args, Subcommand, ValueEnum};
use futures_util::{StreamExt as _, stream};

/// Move sessions between this node and its peers, and choose where both changed one
#[derive(Debug, Subcommand)]
pub(super) enum Sync {
    Run(Run),
    Status(SyncStatus),
    Conflicts(Conflicts),
    Resolve(Resolve),
}

impl Sync {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Run(command) => command.run(context).await,
            Self::Status(command) => command.run(context).await,
            Self::Conflicts(command) => command.run(context).await,
            Self::Resolve(command) => command.run(context).await,
        }
    }
}

/// Show what is where, what is newer, what waits and what conflicts, and move nothing
#[derive(Debug, Args)]
#[command(after_help = "\
A line for each session: which revision is here, how each peer that was asked stands, and what
waits. A peer has the same, something newer or older, or it changed the session too; or the
session is missing there, or deleted. Below the table stand the commands that end a conflict. What
was captured and not saved is not compared: baton save makes a revision of it.

A node that keeps a sync directory says how it stands with that, and which files in it are left
aside, and why. The last line says all together what waits. The exit code is 1 when a peer does
not answer.")]
pub(super) struct SyncStatus {
    /// Only with this peer: its name, its node id, or a unique prefix of that
    #[arg(value_name = "PEER")]
    peer: Option<String>,
}

impl SyncStatus {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let stand = ask(&client, self.peer.as_deref(), context.output).await?;
        let Stand { lists, failed, asking } = stand;
        let here = client.fetch_sync_index().await?;
        let conflicts = client.list_conflicts().await?.items;
        let directory = client.fetch_sync_directory().await?;
        let names = Names::of(&client.list_known_peers().await?);
        let told = NodeReport { lists, failed, asking, here, conflicts, directory, names };
        let standing = Standing::of(told);
        context.output.answer(&standing, || output::standing(&standing));
        Ok(if standing.failed.is_empty() { Exit::Done } else { Exit::Failed })
    }
}

/// How many peers are asked at once: one that is silent keeps no other peer waiting.
const ASKED_AT_ONCE: usize = 16;
/// What is shown while peers are asked.
const ASKING: &str = "asking what differs";

/// How sessions stand here and at peers, and which peers could not say.
#[derive(Default)]
struct Stand {
    lists: Vec<DifferenceList>,
    failed: Vec<Failed>,
    /// Confirmed peers that have no address: they ask this node.
    asking: Vec<String>,
}

impl Stand {
    /// How many peers were asked.
    fn asked(&self) -> usize {
        self.lists.len() + self.failed.len()
    }
}

/// Asks the peer that was named, or all that are confirmed and can be asked. One that was named has to
/// answer; of all, the command names those that do not, and the others count.
async fn ask(client: &Client, named: Option<&str>, output: Output) -> anyhow::Result<Stand> {
    if let Some(peer) = named {
        let progress = output.progress(ASKING);
        let asked = client.list_differences(peer).await;
        progress.end();
        return Ok(Stand { lists: vec![asked?], ..Stand::default() });
    }
    let mut peers = client.list_known_peers().await?.items;
    let asks = |peer: &&PeerView| peer.state == PeerState::Confirmed && peer.url.is_none();
    let asking: Vec<String> = peers.iter().filter(asks).map(|peer| peer.name.clone()).collect();
    // The command says which peers it leaves out before anything moves on the terminal.
    peers.retain(|peer| is_asked(peer, output));
    let progress = output.progress(ASKING);
    let mut stand = Stand { asking, ..Stand::default() };
    let asked = stream::iter(peers).map(|peer| async move {
        let said = client.list_differences(&peer.node_id.to_string()).await;
        said.map_err(|error| Failed::peer(peer.name, &error))
    });
    for said in asked.buffered(ASKED_AT_ONCE).collect::<Vec<_>>().await {
        match said {
            Ok(list) => stand.lists.push(list),
            Err(failed) => stand.failed.push(failed),
        }
    }
    progress.end();
    Ok(stand)
}

fn is_asked(peer: &PeerView, output: Output) -> bool {
    let name = &peer.name;
    let next = output::next_for_peer(peer);
    let why = match (&peer.url, next) {
        (_, Some(next)) if peer.state == PeerState::Pending => {
            format!("{name} is pending, and left out: {next}")
        }
        (_, Some(next)) => {
            format!("nobody has given an API key of {name}, which is left out: {next}")
        }
        (None, None) => format!("{name} has no address, and is left out: it asks this node"),
        (Some(_), None) => return true,
    };
    output.note(&why);
    false
}

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
pub(super) struct Run {
    /// Only with this peer: its name, its node id, or a unique prefix of that
    #[arg(value_name = "PEER")]
    peer: Option<String>,
    /// Which way: pull (from peers to here), push (from here to them) or both
    #[arg(long, value_name = "WAY", default_value = "both", hide_possible_values = true)]
    direction: Direction,
}

impl Run {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let stand = ask(&client, self.peer.as_deref(), context.output).await?;
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
        way: MoveDirection,
        which: &str,
    ) -> Result<Moved, Failed> {
        let doing = format!("{way} {} ({which})", item.name);
        self.progress.say(&doing);
        let left = |parts| {
            self.progress.say(&format!("{doing}: {} left", output::counted(parts, "part")));
        };
        let (peer, session) = (list.node_id.to_string(), item.session_id.to_string());
        let moved = whole(&self.client, way, &peer, &session, left).await;
        let movement = moved.map_err(|error| Failed::session(&list.name, item, way, &error))?;
        match movement.outcome {
            MovementOutcome::Unfinished => Err(Failed::unfinished(&list.name, item, way)),
            _ => Ok(Moved { peer: list.name.clone(), way, movement }),
        }
    }
}

/// Which way sessions move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Direction {
    /// From peers to here
    Pull,
    /// From here to peers
    Push,
    /// To whoever lacks something
    Both,
}

impl Direction {
    /// What has to move of a session that differs so, in this order. What both have changed comes here
    /// first, so that what goes back joins the two.
    fn ways(self, difference: Difference) -> &'static [MoveDirection] {
        match (difference, self) {
            (Difference::Behind | Difference::Diverged, Self::Pull)
            | (Difference::Behind, Self::Both) => &[MoveDirection::Pull],
            (Difference::Ahead | Difference::Diverged, Self::Push)
            | (Difference::Ahead, Self::Both) => &[MoveDirection::Push],
            (Difference::Diverged, Self::Both) => &[MoveDirection::Pull, MoveDirection::Push],
            (Difference::Same, _)
            | (Difference::Ahead, Self::Pull)
            | (Difference::Behind, Self::Push) => &[],
        }
    }
}

/// Moves a session, and goes on where time ran out; `left` hears how many parts are to come. What time
/// ran out for before a single part moved comes back unfinished.
async fn whole(
    client: &Client,
    way: MoveDirection,
    peer: &str,
    session: &str,
    mut left: impl FnMut(u64),
) -> Result<Movement, ClientError> {
    let (mut parts, mut bytes) = (0, 0);
    loop {
        let mut moved = match way {
            MoveDirection::Pull => client.pull_session(peer, session).await?,
            MoveDirection::Push => client.push_session(peer, session).await?,
        };
        let goes_on = moved.outcome == MovementOutcome::Unfinished && moved.parts > 0;
        parts += moved.parts;
        bytes += moved.bytes;
        if !goes_on {
            (moved.parts, moved.bytes) = (parts, bytes);
            return Ok(moved);
        }
        left(moved.left);
    }
}

/// Show the sessions in which somebody has to choose, and what each choice would change
#[derive(Debug, Args)]
#[command(after_help = "\
A session was changed at two nodes, and neither had seen what the other did. Nothing is lost: one
revision counts, and the others are kept beside it until baton sync resolve says which one stays.

For each of the others it says how it differs from the one that counts: by site and kind, how
many cookies, entries, databases and tabs would be added, removed or changed, and their names. No
value is shown.")]
pub(super) struct Conflicts {
    /// Only this session: an id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: Option<String>,
}

impl Conflicts {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
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
        // A client here or at a peer may have chosen meanwhile.
        items.retain(|item| !item.conflict.siblings.is_empty());
        let list = output::ConflictedSessions { items };
        let names = Names::of(&client.list_known_peers().await?);
        context.output.answer(&list, || output::conflicts(&list, &names));
        Ok(Exit::Done)
    }
}

/// Say which revision of a session counts from now on
#[derive(Debug, Args)]
#[command(after_help = "\
The others end here, and at each peer once it hears of it. A browser that runs is left as it is:
close the session before you choose, and resume it to have what you kept.

Example:
  baton sync conflicts
  baton sync resolve shop --keep 3-a1b2c3")]
pub(super) struct Resolve {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
    /// The revision that stays, or a unique beginning of it
    #[arg(long, value_name = "REV")]
    keep: String,
}

impl Resolve {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let request = ResolveConflict { keep: self.keep };
        let resolved = client.resolve_conflict(&self.id, &request).await?;
        context.output.answer(&resolved, || output::resolved(&resolved));
        Ok(Exit::Done)
    }
}

/// Save a session as it is now, so that it can move to other nodes
#[derive(Debug, Args)]
#[command(after_help = "\
An active session is captured first; of any other the last good snapshot is saved. What is saved is
kept for good, and is what baton sync run moves. Without a peer it is a mark to come back to.

The exit code is 4 when somebody has to choose between revisions (baton sync conflicts), and 1 when
a peer was not reached with --sync-to-peers: the session is saved all the same.

Examples:
  baton save shop
  baton save shop --description \"after the audit\" --sync-to-peers")]
pub(super) struct Save {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
    /// Call it this from now on: letters, digits, '-', '_' and '.'
    #[arg(long)]
    name: Option<SessionName>,
    /// Free text for people
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Move it to every confirmed peer at once
    #[arg(long)]
    sync_to_peers: bool,
}

impl Save {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let Self { id, name, description, sync_to_peers } = self;
        let client = context.client().await?;
        let request = SaveSession { name, description, sync_to_peers };
        let progress = context.output.progress("saving the session");
        let saved = client.save_session(&id, &request).await;
        progress.end();
        let saved = saved?;
        // Its peers are known by their names, where there are any.
        let names = if saved.pushed.is_empty() {
            Names::default()
        } else {
            client.list_known_peers().await.map(|list| Names::of(&list)).unwrap_or_default()
        };
        context.output.answer(&saved, || output::saved(&saved, &names));
        Ok(exit(&saved))
    }
}

fn exit(saved: &SavedView) -> Exit {
    let conflicts = |outcome| outcome == MovementOutcome::Conflict;
    let is_left = saved.pushed.iter().any(|one| one.outcome == MovementOutcome::Unfinished);
    if is_left || !saved.failed.is_empty() {
        return Exit::Failed;
    }
    let has_conflict = saved.pushed.iter().any(|one| conflicts(one.outcome));
    match () {
        () if has_conflict || !saved.conflicts.is_empty() => Exit::Conflict,
        () if saved.left_out.has_losses() => Exit::Losses,
        () => Exit::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::Direction::{Both, Pull, Push};
    use crate::output::MoveDirection;
    use baton_api::sync::Difference::{Ahead, Behind, Diverged, Same};

    #[test]
    fn whoever_lacks_something_gets_it_if_the_direction_allows() {
        let table: [(_, _, &[MoveDirection]); 12] = [
            (Same, Pull, &[]),
            (Same, Push, &[]),
            (Same, Both, &[]),
            (Ahead, Pull, &[]),
            (Ahead, Push, &[MoveDirection::Push]),
            (Ahead, Both, &[MoveDirection::Push]),
            (Behind, Pull, &[MoveDirection::Pull]),
            (Behind, Push, &[]),
            (Behind, Both, &[MoveDirection::Pull]),
            (Diverged, Pull, &[MoveDirection::Pull]),
            (Diverged, Push, &[MoveDirection::Push]),
            (Diverged, Both, &[MoveDirection::Pull, MoveDirection::Push]),
        ];
        for (difference, direction, ways) in table {
            assert_eq!(direction.ways(difference), ways, "{difference:?}, {direction:?}");
        }
    }
}
