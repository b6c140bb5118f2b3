//! What sandboxes may use, held by the kernel's control groups, versions 1 and 2
//! (Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst of Linux).

use crate::provider::{Enforced, Limits};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where control groups are.
const ROOT: &str = "/sys/fs/cgroup";
/// The controllers that we need.
const CONTROLLERS: [&str; 3] = ["memory", "pids", "cpu"];
/// Of each such stretch of time, in microseconds, processes get a share.
const PERIOD: u32 = 100_000;
/// How often, and how long in between, we try to remove a group whose processes are just ending.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Makes groups below our own.
#[derive(Debug)]
pub(super) struct Cgroups {
    prefix: String,
}

/// The groups of one sandbox: one, or in version 1 one for each controller.
#[derive(Debug)]
pub(super) struct Cgroup {
    folders: Vec<PathBuf>,
}

impl Cgroups {
    pub(super) fn of(label: &str) -> Self {
        Self { prefix: format!("baton-{label}-") }
    }

    /// Makes the groups of a sandbox, with its limits; where the machine does not let us, says why.
    pub(super) fn create(
        &self,
        name: &str,
        limits: &Limits,
    ) -> std::result::Result<Cgroup, String> {
        let name = format!("{}{name}", self.prefix);
        let mut cgroup = Cgroup { folders: Vec::new() };
        let made = match parents() {
            Ok(Parents::One(parent)) => cgroup.limit_all(&parent.join(name), limits),
            Ok(Parents::Each(parents)) => parents.iter().try_for_each(|(controller, parent)| {
                cgroup.limit_one(controller, &parent.join(&name), limits)
            }),
            Err(error) => Err(error),
        };
        match made {
            Ok(()) => Ok(cgroup),
            Err(error) => {
                cgroup.try_remove();
                Err(format!("control groups cannot be used here: {error}"))
            }
        }
    }

    /// Removes groups of our label in which nothing runs.
    pub(super) fn sweep(&self) {
        let parents = match parents() {
            Ok(Parents::One(parent)) => vec![parent],
            Ok(Parents::Each(parents)) => parents.into_iter().map(|(_, parent)| parent).collect(),
            Err(_) => return,
        };
        for parent in parents {
            for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
                if entry.file_name().to_string_lossy().starts_with(&self.prefix) {
                    // One in which something runs stays.
                    let _ = std::fs::remove_dir(entry.path());
                }
            }
        }
    }
}

impl Cgroup {
    /// Puts a process into the groups that were made for it, if they were, and says whether they hold.
    pub(super) fn hold(
        made: std::result::Result<Self, String>,
        pid: u32,
    ) -> (Option<Self>, Enforced) {
        let added =
            made.and_then(|made| made.add(pid).map(|()| made).map_err(|error| error.to_string()));
        match added {
            Ok(cgroup) => (Some(cgroup), Enforced::Yes),
            Err(reason) => (None, Enforced::No(reason)),
        }
    }

    /// Puts a process, and whatever it starts, into the groups.
    fn add(&self, pid: u32) -> Result<()> {
        let mut folders = self.folders.iter();
        folders.try_for_each(|folder| write(folder, "cgroup.procs", pid))
    }

    /// Removes the groups when all that ran in them has ended.
    pub(super) async fn remove(mut self) {
        for _ in 0..TRIES {
            self.try_remove();
            if self.folders.is_empty() {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
        tracing::warn!(folders = ?self.folders, "control groups of a sandbox could not be removed");
    }

    fn try_remove(&mut self) {
        self.folders.retain(|folder| {
            std::fs::remove_dir(folder).is_err_and(|error| error.kind() != ErrorKind::NotFound)
        });
    }

    fn make(&mut self, folder: &Path) -> Result<()> {
        std::fs::create_dir(folder)?;
        self.folders.push(folder.to_owned());
        Ok(())
    }

    fn limit_all(&mut self, folder: &Path, limits: &Limits) -> Result<()> {
        self.make(folder)?;
        write(folder, "memory.max", limits.memory)?;
        // A machine without swap has no such file.
        let _ = write(folder, "memory.swap.max", 0);
        write(folder, "pids.max", limits.processes)?;
        write(folder, "cpu.max", format!("{} {PERIOD}", quota(limits)))
    }

    fn limit_one(&mut self, controller: &str, folder: &Path, limits: &Limits) -> Result<()> {
        self.make(folder)?;
        match controller {
            "memory" => write(folder, "memory.limit_in_bytes", limits.memory),
            "pids" => write(folder, "pids.max", limits.processes),
            _ => {
                write(folder, "cpu.cfs_period_us", PERIOD)?;
                write(folder, "cpu.cfs_quota_us", quota(limits))
            }
        }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.try_remove();
    }
}

/// Below which groups ours are made.
enum Parents {
    One(PathBuf),
    Each(Vec<(&'static str, PathBuf)>),
}

/// The groups in which we are ourselves.
fn parents() -> Result<Parents> {
    let own = std::fs::read_to_string("/proc/self/cgroup")?;
    // A line is `number:controllers:path`; of version 2 number and controllers are `0` and nothing.
    let path = |controller: &str| {
        let mut fields = own.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        let found = fields.find(|(names, _)| names.split(',').any(|name| name == controller));
        found.map(|(_, path)| path.trim_start_matches('/').to_owned())
    };
    let missing = |what: &str| Error::new(ErrorKind::NotFound, format!("no controller {what}"));
    if Path::new(ROOT).join("cgroup.controllers").exists() {
        let path = path("").ok_or_else(|| missing("of version 2"))?;
        return Ok(Parents::One(Path::new(ROOT).join(path)));
    }
    let parents = CONTROLLERS.map(|controller| {
        let path = path(controller).ok_or_else(|| missing(controller))?;
        Ok((controller, Path::new(ROOT).join(controller).join(path)))
    });
    parents.into_iter().collect::<Result<_>>().map(Parents::Each)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded by what a machine has, and never below one hundredth of a processor"
)]
fn quota(limits: &Limits) -> u64 {
    (limits.processors.clamp(0.01, 4096.0) * f64::from(PERIOD)) as u64
}

fn write(folder: &Path, file: &str, value: impl std::fmt::Display) -> Result<()> {
    std::fs::write(folder.join(file), value.to_string())
}
