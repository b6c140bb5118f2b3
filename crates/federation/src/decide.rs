//! From an operation to a change: pure, and the only place that refuses.

mod claim;
mod tasks;

use crate::board::Board;
use crate::change::Change;
use crate::operation::Operation;
use crate::refusal::Refusal;
use crate::words::Priority;
use jiff::{SignedDuration, Timestamp};

/// What a decision may know beside the board.
pub(crate) struct Moment<'a> {
    pub(crate) now: Timestamp,
    /// After how long an agent counts as gone.
    pub(crate) gone_after: SignedDuration,
    /// Random numbers.
    pub(crate) random: &'a mut dyn FnMut() -> u64,
}

/// A change, and the task that it is about.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) change: Change,
    pub(crate) task: Option<String>,
}

impl From<Change> for Decision {
    fn from(change: Change) -> Self {
        Self { change, task: None }
    }
}

/// What the operation comes to on this board.
pub(crate) fn decide(
    operation: &Operation,
    board: &Board,
    moment: &mut Moment,
) -> Result<Decision, Refusal> {
    operation.validate()?;
    Ok(match operation {
        Operation::UpdateAgent { agent, status, current_task, workspace, model } => {
            Change::Update {
                agent: agent.to_string(),
                status: status.clone(),
                current_task: current_task.clone(),
                workspace: workspace.clone(),
                model: model.clone(),
            }
            .into()
        }
        Operation::Heartbeat { .. } => Change::Seen.into(),
        Operation::AddTask { .. } => tasks::add(operation, board, moment)?,
        Operation::ClaimTask { agent, task: Some(id) } => {
            claim::one(board, tasks::find(board, id)?, agent.as_str(), moment)?
        }
        Operation::ClaimTask { agent, task: None } => claim::best(board, agent.as_str(), moment)?,
        Operation::StartTask(held) => tasks::step(board, held, Change::Start)?,
        Operation::CompleteTask(held) => tasks::step(board, held, Change::Complete)?,
        Operation::ReleaseTask(held) => tasks::step(board, held, Change::Release)?,
        Operation::BlockTask { task, on, .. } => tasks::block(board, task, on)?,
        Operation::SetRouter { version, accuracy, tier, .. } => {
            let is_new = version.is_some() && *version != board.router.version;
            let was_measured = accuracy.is_some();
            Change::Router {
                version: version.clone(),
                accuracy: *accuracy,
                tier: *tier,
                pending_eval: is_new || (board.router.pending_eval && !was_measured),
            }
            .into()
        }
        Operation::SetSprint { sprint, .. } => {
            let is_new = board.sprint.as_ref() != Some(sprint);
            let pending_eval = is_new || board.router.pending_eval;
            Change::Sprint { sprint: sprint.clone(), pending_eval }.into()
        }
        Operation::EndSprint { .. } => close("sprint ended"),
        Operation::Close { .. } => close("closed"),
    })
}

fn close(because: &str) -> Decision {
    Change::Close { because: because.to_owned() }.into()
}

/// Six letters or digits.
pub(crate) fn letters(random: u64) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let letter = |index: u32| LETTERS[usize::try_from(random >> (5 * index) & 31).unwrap_or(0)];
    (0..6).map(|index| char::from(letter(index))).collect()
}

/// Sooner first.
fn urgency(priority: &Priority) -> std::cmp::Reverse<u8> {
    std::cmp::Reverse(priority.rank())
}
