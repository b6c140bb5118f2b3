//! The typed client: finds the node of a data folder, opens a session at an address, captures it, shows what
//! it holds without its secrets, and closes it.
//!
//! ```console
//! $ cargo run -p baton-examples --bin client -- ~/.local/share/baton https://example.org
//! ```
//!
//! A program that is told the node's address and a key needs `baton-api` alone, with its feature `client`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use anyhow::{Context as _, Result, ensure};
use baton_api::{Client, ClientError, ListSessions, OpenSession};
use baton_session::State;
use baton_session::printable::Printable;
use baton_store::data::{DataFolder, NodeFile};
use std::path::Path;
use std::process::ExitCode;
use url::Url;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, url] = arguments.as_slice() else {
        eprintln!("usage: client DATA_FOLDER URL");
        return ExitCode::from(2);
    };
    match run(Path::new(data), url).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", Printable::for_terminal(&describe(&error)));
            ExitCode::FAILURE
        }
    }
}

async fn run(data: &Path, url: &str) -> Result<()> {
    let url: Url = url.parse().with_context(|| format!("expected an address, found {url:?}"))?;
    let client = find(data).await?;
    let sessions = client.list_sessions(&ListSessions::default()).await?.items;
    say(&format!("sessions of the node at {}: {}", client.base(), sessions.len()));
    for session in &sessions {
        say(&format!("  {}, {}", session.name, session.state));
    }
    let opened = client.open_session(&OpenSession::new("example".parse()?, [url])).await?.session;
    say(&format!("opened {}, {}", opened.name, opened.state));
    // A name is free again once its session is closed; the id names this one for good.
    let id = opened.id.to_string();
    let shown = capture(&client, &id).await;
    // Whatever came of it, no browser stays behind.
    let closed = client.close_session(&id).await?.session;
    say(&format!("closed {}, {}", closed.name, closed.state));
    shown
}

/// The node of a data folder, found as the command line finds it.
async fn find(data: &Path) -> Result<Client> {
    let data = DataFolder::at(data)?;
    let node = NodeFile::read(&data)?.with_context(|| {
        format!("expected a node of {}, found none\nbaton serve starts one", data.path().display())
    })?;
    let key = std::fs::read_to_string(data.admin_key()).context("could not read the key")?;
    let client = Client::new(node.url, key.trim().into())?;
    // The port of a node that has ended may be anybody's by now, and must not hear the key: health is
    // asked without it.
    let found = client.health().await?.node_id;
    ensure!(found == node.node_id, "expected the node {}, found {found}", node.node_id);
    Ok(client)
}

/// Takes a snapshot, and shows what is in it.
async fn capture(client: &Client, id: &str) -> Result<()> {
    let snapshot = client.capture_session(id).await?;
    say(&format!("captured {} parts, {} bytes", snapshot.parts, snapshot.bytes));
    // Unless they are to be revealed, which needs a scope, a marker stands in the place of every value.
    let view = client.fetch_state(id, false).await?;
    let state: State = serde_json::from_value(view.state)?;
    for tab in &state.tabs {
        say(&format!("  tab: {} ({})", tab.title, tab.url));
    }
    for cookie in &state.cookies {
        say(&format!("  cookie: {} = {}", cookie.place(), cookie.value));
    }
    for (key, origin) in &state.origins {
        for (name, value) in &origin.local_storage.0 {
            say(&format!("  local storage: {key} {} = {}", name.to_lossy(), value.to_lossy()));
        }
    }
    Ok(())
}

/// Names and titles are a site's, which may have put there what moves the cursor of a terminal.
fn say(line: &str) {
    println!("{}", Printable::for_terminal(line));
}

/// What went wrong; where the node refused, in its own words: its code, what it expected and found, and what
/// to do about it.
fn describe(error: &anyhow::Error) -> String {
    let Some(ClientError::Problem(problem)) = error.downcast_ref() else {
        return format!("{error:#}");
    };
    let hint = problem.hint.as_ref().map(|hint| format!("\n{hint}")).unwrap_or_default();
    format!("the node refused ({}): {}{hint}", problem.code.as_str(), problem.detail)
}
