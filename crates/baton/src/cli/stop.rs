//! `baton stop`

use super::Context;
use anyhow::{Context as _, bail};
use baton_api::Exit;
use baton_server::inspect;
use baton_store::data::DataFolder;
use baton_store::data::NodeFile;
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a node may take to end; it kills itself before that.
const END_LIMIT: Duration = Duration::from_secs(90);
/// How often it is looked whether it has ended.
const STEP: Duration = Duration::from_millis(20);

/// End the node of the data folder; browsers run on, and the next node finds them
#[derive(Debug, Args)]
#[command(after_help = "\
What is under way is finished, sandboxes are written back, and every session is captured; that may
take up to 90 seconds. Sessions stay active: the next command that needs a node starts one, which
carries on with their browsers. baton sessions close ends a browser.")]
pub(super) struct Stop {}

impl Stop {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let data = &context.data;
        if !inspect::is_held(data) {
            let told = || format!("no node runs on {}", data.path().display());
            context.output.answer(&json!({"stopped": null}), told);
            return Ok(Exit::Done);
        }
        let progress = context.output.progress("ending the node");
        // One that is on its way out has given up its address.
        let pid = NodeFile::read(data)?.map(|file| file.pid);
        if let Some(pid) = pid {
            ask_to_end(data, pid)?;
        }
        ended(data).await?;
        drop(progress);
        context.output.answer(&json!({"stopped": pid}), || "ended the node".to_owned());
        Ok(Exit::Done)
    }
}

fn ask_to_end(data: &DataFolder, pid: u32) -> anyhow::Result<()> {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let Some(process) = process.filter(|_| is_node(pid)) else {
        bail!(
            "expected the node of {} to be a process of this machine, found none with the id {pid}\n\
             end it where it runs: in another container, or on another machine",
            data.path().display()
        );
    };
    kill_process(process, Signal::TERM)
        .with_context(|| format!("could not ask process {pid} to end"))
}

/// Waits until no node holds the folder.
async fn ended(data: &DataFolder) -> anyhow::Result<()> {
    let until = Instant::now() + END_LIMIT;
    while inspect::is_held(data) {
        if Instant::now() >= until {
            bail!(
                "expected the node of {} to end within {END_LIMIT:?}, found it still there\n\
                 its log says what it waits for",
                data.path().display()
            );
        }
        sleep(STEP).await;
    }
    Ok(())
}

/// Whether a process of this machine is a node: the id may be one of another container's.
fn is_node(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|word| word == b"serve")
}
