//! Who really holds sessions: their browsers, as the system's list of processes shows them.
//!
//! The one idea: what a node believes proves nothing. A watcher looks at the processes themselves,
//! again and again, and writes down when a browser on a session's profile came and went.

use crate::test_node::TestNode;
use anyhow::{Result, anyhow, ensure};
use baton_session::SessionId;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the processes are looked at.
const STEP: Duration = Duration::from_millis(20);

/// One browser's time with a session.
#[derive(Debug, Clone)]
pub struct Tenure {
    /// Whose it is.
    pub session: SessionId,
    /// Which test node it lived in, by its position.
    pub test_node: usize,
    /// Its process.
    pub pid: u32,
    /// When it was first seen.
    pub from: Instant,
    /// When it was last seen.
    pub to: Instant,
}

/// What was seen, by process.
type Tenures = Mutex<BTreeMap<u32, Tenure>>;

/// Watches who holds the sessions of some nodes until it is dropped.
pub struct Watcher {
    end: Arc<AtomicBool>,
    seen: Arc<Tenures>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Watches the browsers of all sessions in these test nodes.
    pub fn start(test_nodes: &[&TestNode]) -> Self {
        let data: Vec<PathBuf> =
            test_nodes.iter().map(|test_node| test_node.data().path().to_owned()).collect();
        let (end, seen) = (Arc::<AtomicBool>::default(), Arc::<Tenures>::default());
        let (told, writes) = (Arc::clone(&end), Arc::clone(&seen));
        let thread = thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                observe(&data, &writes);
                thread::sleep(STEP);
            }
        });
        Self { end, seen, thread: Some(thread) }
    }

    /// What was seen so far.
    pub fn seen(&self) -> Vec<Tenure> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// What was seen so far; fails when two test nodes ever held a session at once.
    pub fn expect_one_holder(&self) -> Result<Vec<Tenure>> {
        let tenures = self.seen();
        for (at, one) in tenures.iter().enumerate() {
            let others = tenures.iter().skip(at + 1);
            let elsewhere =
                |other: &&Tenure| other.session == one.session && other.test_node != one.test_node;
            for other in others.filter(elsewhere) {
                let apart = one.to < other.from || other.to < one.from;
                ensure!(apart, "expected one holder at a time, found {one:?} and {other:?}");
            }
        }
        Ok(tenures)
    }

    /// Ends it, and says what was seen; fails when two test nodes ever held a session at once.
    pub fn finish(mut self) -> Result<Vec<Tenure>> {
        self.end.store(true, Ordering::Relaxed);
        let thread = self.thread.take();
        let ended = thread.map_or(Ok(()), JoinHandle::join);
        ended.map_err(|_| anyhow!("the watcher panicked"))?;
        self.expect_one_holder()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
    }
}

fn observe(data: &[PathBuf], seen: &Tenures) {
    let now = Instant::now();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process that is gone has no command line, and neither has one that is dead.
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // A browser may have written its arguments anew, joined by spaces.
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let Some((test_node, session)) = holds(data, &line) else { continue };
        let new = Tenure { session, test_node, pid, from: now, to: now };
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.entry(pid).or_insert(new).to = now;
    }
}

/// In which data folder a browser is, and whose profile it has, by its command line; none for others, and for what
/// helps a browser.
fn holds(data: &[PathBuf], line: &str) -> Option<(usize, SessionId)> {
    let (_, profile) = line.split_once("--user-data-dir=")?;
    let profile = Path::new(profile.split(' ').next()?);
    let test_node = data.iter().position(|data| profile.starts_with(data))?;
    let session = profile.parent()?.file_name()?.to_str()?.parse().ok()?;
    (profile.ends_with("profile") && !line.contains(" --type=")).then_some((test_node, session))
}
