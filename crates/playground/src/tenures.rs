//! Who really holds a session: its browsers, as the system's list of processes shows them.
//!
//! The one idea: what a node believes proves nothing. A watcher looks at the processes themselves,
//! again and again, and writes down when a browser on a session's profile came and went.

use crate::test_node::TestNode;
use anyhow::{Result, ensure};
use baton_session::SessionId;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the processes are looked at.
const STEP: Duration = Duration::from_millis(20);

/// One browser's time with a session.
#[derive(Debug, Clone)]
pub struct Tenure {
    /// Which test node it lived in, by its position.
    pub test_node: usize,
    /// Its process.
    pub pid: u32,
    /// When it was first seen.
    pub from: Instant,
    /// When it was last seen.
    pub to: Instant,
}

/// Watches who holds a session until it is asked for what it saw.
pub struct Watcher {
    end: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Tenure>>,
}

impl Watcher {
    /// Watches the browsers of a session in these test nodes.
    pub fn start(test_nodes: &[&TestNode], session: SessionId) -> Self {
        let profiles: Vec<PathBuf> =
            test_nodes.iter().map(|test_node| test_node.data().profile(session)).collect();
        let end = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&end);
        let thread = thread::spawn(move || {
            let mut tenures = BTreeMap::new();
            while !told.load(Ordering::Relaxed) {
                observe(&profiles, &mut tenures);
                thread::sleep(STEP);
            }
            tenures.into_values().collect()
        });
        Self { end, thread }
    }

    /// What was seen; fails when two test nodes ever held the session at once.
    pub fn finish(self) -> Result<Vec<Tenure>> {
        self.end.store(true, Ordering::Relaxed);
        let tenures = self.thread.join().map_err(|_| anyhow::anyhow!("the watcher panicked"))?;
        for (at, one) in tenures.iter().enumerate() {
            for other in
                tenures.iter().skip(at + 1).filter(|other| other.test_node != one.test_node)
            {
                let apart = one.to < other.from || other.to < one.from;
                ensure!(apart, "expected one holder at a time, found {one:?} and {other:?}");
            }
        }
        Ok(tenures)
    }
}

fn observe(profiles: &[PathBuf], tenures: &mut BTreeMap<u32, Tenure>) {
    let now = Instant::now();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process that is gone has no command line, and neither has one that is dead.
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // A browser may have written its arguments anew, joined by spaces.
        let line = format!("{} ", String::from_utf8_lossy(&line).replace('\0', " "));
        let holds =
            |profile: &PathBuf| line.contains(&format!("--user-data-dir={} ", profile.display()));
        let is_helper = line.contains(" --type=");
        if let Some(test_node) = profiles.iter().position(holds).filter(|_| !is_helper) {
            let new = Tenure { test_node, pid, from: now, to: now };
            tenures.entry(pid).or_insert(new).to = now;
        }
    }
}
