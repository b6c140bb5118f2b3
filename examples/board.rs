//! The board that the agents of a machine share: one agent adds a task, claims it and completes it, and
//! another one that wants it too is refused, and told why.
//!
//! ```console
//! $ cargo run -p baton-examples --bin board -- try-board
//! ```
//!
//! It needs `baton-federation` alone: a board is a folder. `FEDERATION_DIR=try-board baton federation status`
//! shows the same one. Run it again, and its next task is on it, too.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use anyhow::{Context as _, Result, bail};
use baton_federation::{
    AgentName, Federation, FederationError, Held, Operation, Priority, Task, View,
};
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder] = arguments.as_slice() else {
        eprintln!("usage: board FOLDER");
        return ExitCode::from(2);
    };
    match run(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path) -> Result<()> {
    let board = Federation::at(folder, Timestamp::now, rand::random);
    let (kimi, codex): (AgentName, AgentName) = ("kimi".parse()?, "codex".parse()?);
    let added = board.write(&Operation::AddTask {
        description: "write the docs".to_owned(),
        priority: Priority::High,
        agent: Some(kimi.clone()),
        assigned_to: None,
        blocked_by: Vec::new(),
    })?;
    let task = added.task.context("expected the task that was added, found none")?.id;
    println!("kimi adds {task}");

    let claim = |agent: &AgentName| {
        board.write(&Operation::ClaimTask { agent: agent.clone(), task: Some(task.clone()) })
    };
    // Each claim of a board gets a larger number than any before it. What the task is about may ask for it,
    // and so tell a holder that comes late.
    let fence = claim(&kimi)?.task.as_ref().and_then(Task::fence);
    println!("kimi claims it, with the fence {}", fence.context("expected a fence, found none")?);
    match claim(&codex) {
        Err(FederationError::Refused(why)) => {
            println!("codex is refused it ({:?}): {why}", why.kind());
        }
        Err(error) => return Err(error.into()),
        Ok(_) => bail!("expected one holder of {task}, found two"),
    }
    // It is done under the number of the claim: had kimi been silent for so long that codex got the task, it
    // would hear so here.
    board.write(&Operation::CompleteTask(Held { agent: kimi, task: task.clone(), fence }))?;
    println!("kimi completes it");

    let now = board.read()?.context("expected a board, found none")?;
    show(&View::of(now, Timestamp::now(), board.options().gone_after));
    Ok(())
}

/// What every agent sees: who takes part, and what there is to do.
fn show(view: &View) {
    println!("the board after {} operations:", view.board.rev);
    for name in view.board.agents.keys() {
        let is_gone = view.gone.contains(name);
        println!("  {name} is {}", if is_gone { "gone" } else { "there" });
    }
    for task in &view.board.tasks {
        let by = task.claim.as_ref().map(|claim| format!(" by {}", claim.agent));
        let by = by.unwrap_or_default();
        println!("  {} ({}): {}, {}{by}", task.id, task.priority, task.description, task.status);
        for on in view.waiting.get(&task.id).into_iter().flatten() {
            println!("    it waits for {on}");
        }
    }
}
