//! `baton federation`: the board that agents share, what there is to do, and who does it.
//!
//! It works on the files directly: no node, no runtime, nothing to wait for but the disk, for it runs
//! in the hooks of shells and agents. Only `status` asks a node, when one runs.

mod desk;

pub(super) use desk::Nameless;

use crate::local::Context;
use crate::output;
use baton_api::Exit;
use baton_federation::{AgentName, Board, Operation, Priority, Refusal, Source, View, WaitOutcome};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use desk::{Desk, driven};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Take turns: one board that all agents of this machine share
#[derive(Debug, Args)]
#[command(after_help = "\
The board is a file that anybody can read: sessions/active-session.json in the folder. Agents that
write it themselves and agents that use these commands do not disturb each other.

Examples:
  baton federation update kimi active --task \"tests\"   say what you do
  baton federation task add \"write the docs\"           add something to do
  baton federation task claim --as kimi                take the best free task
  baton federation task done task-x7k2pq --as kimi     say that it is done
  baton federation status                              who does what")]
pub(super) struct Federation {
    /// Folder of the board [default: ~/.federation]
    #[arg(long, value_name = "DIR", env = "FEDERATION_DIR", hide_env_values = true, global = true)]
    dir: Option<PathBuf>,
    /// After how long an agent that is not seen is gone, and others may take its tasks
    #[arg(
        long, value_name = "DURATION", env = "FEDERATION_GONE_AFTER", hide_env_values = true,
        default_value = "15m", value_parser = duration, global = true
    )]
    gone_after: SignedDuration,
    /// After how long without activity a session is archived
    #[arg(
        long, value_name = "DURATION", env = "FEDERATION_ARCHIVE_AFTER", hide_env_values = true,
        default_value = "24h", value_parser = duration, global = true
    )]
    archive_after: SignedDuration,
    #[command(subcommand)]
    command: FederationCommand,
}

#[derive(Debug, Subcommand)]
enum FederationCommand {
    Status(FederationStatus),
    Update(Update),
    #[command(subcommand)]
    Task(Task),
    Sprint(Sprint),
    Router(Router),
    /// Close the session: it is archived, and the next update or task begins another
    Close,
    History(History),
    Watch(Watch),
    Recover(Recover),
}

impl Federation {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let desk = Desk::new(self.dir, self.gone_after, self.archive_after, context)?;
        match self.command {
            FederationCommand::Status(command) => command.run(&desk, context),
            FederationCommand::Update(command) => command.run(&desk),
            FederationCommand::Task(command) => command.run(&desk),
            FederationCommand::Sprint(command) => command.run(&desk),
            FederationCommand::Router(command) => command.run(&desk),
            FederationCommand::Close => desk.end(&Operation::Close { agent: desk.agent.clone() }),
            FederationCommand::History(command) => command.run(&desk),
            FederationCommand::Watch(command) => command.run(&desk),
            FederationCommand::Recover(command) => command.run(&desk),
        }
    }
}

fn duration(text: &str) -> Result<SignedDuration, String> {
    let read = text.parse::<SignedDuration>().ok().filter(SignedDuration::is_positive);
    read.ok_or_else(|| "expected a time such as 15m or 24h".to_owned())
}

/// Show who does what, and which agent drives which browser session
#[derive(Debug, Args)]
#[command(after_help = "\
With --json: `board`, null when no session is active; and `sessions`, null when no node runs that
could tell which agent drives which.")]
struct FederationStatus {}

impl FederationStatus {
    #[expect(clippy::unused_self, reason = "as every command")]
    fn run(self, desk: &Desk, context: &Context) -> anyhow::Result<Exit> {
        let view = desk.view()?;
        let sessions = driven(context);
        desk.output.answer(&json!({ "board": view, "sessions": sessions }), || {
            let now = Timestamp::now();
            let board = match &view {
                Some(view) => output::board(view, now),
                None => "no active session; the first update or task begins one".to_owned(),
            };
            let driven = sessions.filter(|sessions| !sessions.is_empty());
            let driven = driven.map(|sessions| output::driven(&sessions, now));
            [Some(board), driven].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
        });
        Ok(Exit::Done)
    }
}

/// Say what an agent does
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  baton federation update kimi active --task \"testing the router\"")]
struct Update {
    /// The agent that you are
    agent: AgentName,
    /// In a word: active, idle, standby …
    status: String,
    /// What you work on; without it nothing
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The folder in which you work; without it what it was
    #[arg(long, value_name = "DIR")]
    workspace: Option<String>,
    /// The model that you run; without it what it was
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

impl Update {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let Self { agent, status, task, workspace, model } = self;
        let shown = format!("{agent}  {status}");
        let name = agent.to_string();
        let operation =
            Operation::UpdateAgent { agent, status, current_task: task, workspace, model };
        let done = desk.board.write(&operation)?;
        let entry = done.board.as_ref().and_then(|board| board.agents.get(&name));
        desk.output.answer(&json!({ "agent": entry }), || shown);
        Ok(Exit::Done)
    }
}

/// Show the archived sessions, newest first, or one of them
#[derive(Debug, Args)]
struct History {
    /// Which: its name or its session's id
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// How many at most
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

impl History {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        if let Some(session) = &self.session {
            let archived = desk.board.archived(session)?;
            let then = archived.board.last_activity().unwrap_or_else(Timestamp::now);
            let view = View::of(archived.board, then, SignedDuration::MAX);
            desk.output.answer(&view.board, || {
                let all: Vec<_> = view.board.tasks.iter().collect();
                format!("{}\n\n{}", view.board.session_id, output::tasks(&view, &all))
            });
            return Ok(Exit::Done);
        }
        let sessions = desk.board.history(usize::from(self.limit))?;
        let items: Vec<_> = sessions
            .iter()
            .map(|one| {
                let board = &one.board;
                json!({
                    "name": one.name, "session_id": board.session_id, "sprint": board.sprint,
                    "created_at": board.created_at, "closed_at": board.closed_at,
                    "closed_because": board.closed_because, "tasks": board.tasks.len(),
                })
            })
            .collect();
        desk.output.answer(&json!({ "items": items }), || output::archived(&sessions));
        Ok(Exit::Done)
    }
}

/// The longest single wait; the loop begins again after it.
const WAIT: Duration = Duration::from_hours(1);

/// Show the board, and again whenever it changes
#[derive(Debug, Args)]
#[command(after_help = "\
With --json there is a document a line, `null` when no session is active.

Example:
  baton federation watch --once --for 10m    wait until something changes")]
struct Watch {
    /// Show nothing at first, and end after the first change
    #[arg(long)]
    once: bool,
    /// End after this time
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    limit: Option<jiff::SignedDuration>,
}

impl Watch {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let mut watch = desk.board.watch()?;
        let limit = self.limit.and_then(|limit| Duration::try_from(limit).ok());
        let end = limit.map(|limit| Instant::now() + limit);
        if !self.once && !show(desk, watch.board().cloned()) {
            return Ok(Exit::Done);
        }
        loop {
            let left = end.map_or(WAIT, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(Exit::Done);
            }
            if let WaitOutcome::Changed(board) = watch.wait(left.min(WAIT))?
                && (!show(desk, board.map(|board| *board)) || self.once)
            {
                return Ok(Exit::Done);
            }
        }
    }
}

/// Shows the board; false when there is no reader any more.
fn show(desk: &Desk, board: Option<Board>) -> bool {
    let now = Timestamp::now();
    let view = board.map(|board| View::of(board, now, desk.board.options().gone_after));
    desk.output.goes_on(&view, || match &view {
        Some(view) => format!("{}\n", output::board(view, now)),
        None => "no active session\n".to_owned(),
    })
}

/// Name the sprint, or end it: then the session is archived
#[derive(Debug, Args)]
struct Sprint {
    /// What it is called; the router is to be measured again
    #[arg(required_unless_present = "end", conflicts_with = "end")]
    name: Option<String>,
    /// End it
    #[arg(long)]
    end: bool,
}

impl Sprint {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let agent = desk.agent.clone();
        let Some(sprint) = self.name else { return desk.end(&Operation::EndSprint { agent }) };
        desk.board.write(&Operation::SetSprint { agent, sprint: sprint.clone() })?;
        desk.output.answer(&json!({ "sprint": sprint }), || format!("sprint {sprint}"));
        Ok(Exit::Done)
    }
}

/// Show the router of models, or say what it is now
#[derive(Debug, Args)]
#[command(after_help = "\
A new version is to be measured again (pending_eval); an accuracy says that it was.

Example:
  baton federation router --set-version v4
  baton federation router --accuracy 0.41")]
struct Router {
    /// Its version
    #[arg(long, value_name = "VERSION")]
    set_version: Option<String>,
    /// How often it chose well, from 0 to 1
    #[arg(long, value_name = "SHARE")]
    accuracy: Option<f64>,
    /// Its tier
    #[arg(long, value_name = "NUMBER")]
    tier: Option<i64>,
}

impl Router {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let Self { set_version: version, accuracy, tier } = self;
        let board = if version.is_none() && accuracy.is_none() && tier.is_none() {
            desk.board.read()?
        } else {
            let agent = desk.agent.clone();
            desk.board.write(&Operation::SetRouter { agent, version, accuracy, tier })?.board
        };
        let router =
            board.ok_or(baton_federation::FederationError::from(Refusal::NoSession))?.router;
        let shown = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
        desk.output.answer(&router, || {
            format!(
                "version   {}\ntier      {}\naccuracy  {}\nto be measured  {}",
                shown(router.version.clone()),
                shown(router.tier.map(|tier| tier.to_string())),
                shown(router.accuracy.map(|accuracy| accuracy.to_string())),
                if router.pending_eval { "yes" } else { "no" },
            )
        });
        Ok(Exit::Done)
    }
}

/// Put the last good board in the place of one that cannot be read, which is kept beside it
#[derive(Debug, Args)]
struct Recover {}

impl Recover {
    #[expect(clippy::unused_self, reason = "as every command")]
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let (board, source) = desk.board.recover()?;
        let from = match source {
            Source::Copy => "copy",
            Source::History => "history",
        };
        let document = json!({ "session_id": board.session_id, "rev": board.rev, "from": from });
        desk.output.answer(&document, || match source {
            Source::Copy => format!("{} is back, as it was acknowledged last", board.session_id),
            Source::History => {
                format!("{} goes on from the newest archived session", board.session_id)
            }
        });
        Ok(Exit::Done)
    }
}

/// Add, list, claim, start, finish, give back and block tasks
#[derive(Debug, Subcommand)]
enum Task {
    Add(AddTask),
    List(ListTasks),
    Claim(Claim),
    /// Say that you begin to work on a task that you claimed
    Start(Held),
    /// Say that a task that you claimed is done
    Done(Held),
    /// Give a task back that you claimed
    Release(Held),
    Block(Block),
}

impl Task {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        match self {
            Self::Add(command) => command.run(desk),
            Self::List(command) => command.run(desk),
            Self::Claim(command) => command.run(desk),
            Self::Start(held) => desk.change(&Operation::StartTask(held.of(desk)?)),
            Self::Done(held) => desk.change(&Operation::CompleteTask(held.of(desk)?)),
            Self::Release(held) => desk.change(&Operation::ReleaseTask(held.of(desk)?)),
            Self::Block(command) => command.run(desk),
        }
    }
}

/// Add something to do
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  baton federation task add \"publish the docs\" --priority high \\
    --after task-x7k2pq")]
struct AddTask {
    /// What is to be done; keep secrets out of it
    #[arg(value_name = "TEXT")]
    text: String,
    /// How soon
    #[arg(long, default_value = "normal", value_parser = priorities())]
    priority: Priority,
    /// Only for this agent
    #[arg(long = "for", value_name = "AGENT")]
    meant_for: Option<AgentName>,
    /// Tasks that must be done before
    #[arg(long, value_name = "ID", num_args = 1..)]
    after: Vec<String>,
}

impl AddTask {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.change(&Operation::AddTask {
            description: self.text,
            priority: self.priority,
            agent: desk.agent.clone(),
            assigned_to: self.meant_for,
            blocked_by: self.after,
        })
    }
}

/// The words that we know; another program may use others.
fn priorities() -> impl TypedValueParser<Value = Priority> {
    PossibleValuesParser::new(["low", "normal", "high", "urgent"]).map(Priority::from)
}

/// Let a task wait until others are done
#[derive(Debug, Args)]
struct Block {
    /// Which task
    #[arg(value_name = "ID")]
    id: String,
    /// For which others
    #[arg(long, value_name = "ID", required = true, num_args = 1..)]
    on: Vec<String>,
}

impl Block {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.change(&Operation::BlockTask { agent: desk.agent.clone(), task: self.id, on: self.on })
    }
}

/// Take a task: exactly one agent gets it
#[derive(Debug, Args)]
#[command(after_help = "\
Without an ID the best that is free is taken: the highest priority, then the oldest. A claim lasts as
long as you are seen: every command of yours counts. The fence that is shown is the claim's number.")]
struct Claim {
    /// Which task
    #[arg(value_name = "ID")]
    id: Option<String>,
}

impl Claim {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.change(&Operation::ClaimTask { agent: desk.who()?, task: self.id })
    }
}

#[derive(Debug, Args)]
struct Held {
    /// Which task
    #[arg(value_name = "ID")]
    id: String,
    /// The number that the claim gave you: if somebody took the task over since, you are told
    #[arg(long, value_name = "NUMBER")]
    fence: Option<u64>,
}

impl Held {
    /// The task, as held by the agent that acts.
    fn of(self, desk: &Desk) -> anyhow::Result<baton_federation::Held> {
        Ok(baton_federation::Held { agent: desk.who()?, task: self.id, fence: self.fence })
    }
}

/// Show the tasks that are open
#[derive(Debug, Args)]
struct ListTasks {
    /// Those that are done as well
    #[arg(long)]
    all: bool,
}

impl ListTasks {
    fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let Some(view) = desk.view()? else {
            desk.output.answer(&json!({ "items": [] }), || "no active session".to_owned());
            return Ok(Exit::Done);
        };
        let tasks = view.board.tasks.iter().filter(|task| self.all || !task.is_completed());
        let tasks: Vec<_> = tasks.collect();
        desk.output.answer(&json!({ "items": tasks }), || output::tasks(&view, &tasks));
        Ok(Exit::Done)
    }
}
