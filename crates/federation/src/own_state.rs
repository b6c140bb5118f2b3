//! `agents/{agent}-state.json`: what an agent that acted needs to know of itself, in a file of its own.
//!
//! It follows from the board and can be made anew, so nothing waits for it and nothing fails with it.

use crate::board::Board;
use crate::error::FederationError;
use crate::folder::{Folder, LARGEST, fetch, options};
use crate::hook::before;
use crate::steps::Step;
use crate::task::Task;
use serde_json::{Map, Value, json};
use std::fs;
use std::io::Write as _;

/// Writes the agent's file, whole or not at all. Fields of others in it stay.
pub(crate) fn write(folder: &Folder, board: &Board, agent: &str) -> Result<(), FederationError> {
    before(Step::Own)?;
    let path = folder.own_state(agent);
    let Some(mut state) = there(&path) else { return Ok(()) };
    let Some(entry) = board.agents.get(agent) else { return Ok(()) };
    if let Ok(Value::Object(fields)) = serde_json::to_value(entry) {
        state.extend(fields);
    }
    let held = board.tasks.iter().filter(|task| task.holder() == Some(agent));
    state.insert("agent".to_owned(), json!(agent));
    state.insert("session_id".to_owned(), json!(board.session_id));
    state.insert("rev".to_owned(), json!(board.rev));
    state.insert("claims".to_owned(), held.map(claim).collect());
    let Ok(text) = serde_json::to_vec_pretty(&state) else { return Ok(()) };
    if text.len() < LARGEST {
        let draft = path.with_added_extension("draft");
        let open = options().write(true).create(true).truncate(true).open(&draft);
        let written = open.and_then(|mut file| file.write_all(&text));
        if written.and_then(|()| fs::rename(&draft, &path)).is_err() {
            let _ = fs::remove_file(&draft);
        }
    }
    Ok(())
}

/// What the file holds; none when it is no object of JSON, which is somebody's and stays.
fn there(path: &std::path::Path) -> Option<Map<String, Value>> {
    match fetch(path).ok()? {
        Some(bytes) => serde_json::from_slice(&bytes).ok(),
        None => Some(Map::new()),
    }
}

fn claim(task: &Task) -> Value {
    let claim = task.claim.as_ref();
    json!({
        "task": task.id,
        "description": task.description,
        "status": task.status,
        "fence": task.fence(),
        "since": claim.map(|claim| &claim.since),
        "lease_seconds": claim.map(|claim| claim.lease_seconds),
    })
}
