//! Sandboxes that isolate nothing, for machines that are one themselves: a folder and processes of this
//! machine, with the rights of the user who runs the node.
//!
//! The one idea: the same first process, without namespaces. Where the kernel would end what runs and
//! remove its files, that process does it (`init::serve`).

use super::cgroup::{Cgroup, Cgroups};
use super::link::Link;
use super::sandbox::{Held, LocalSandbox};
use super::start::{environment, with_output};
use super::{drain, timed_out};
use crate::init::{BARE, Begin, Order, pair};
use crate::provider::{Answer, InitCommand, Provider, Sandbox, SandboxError, SandboxSpec};
use std::fs::Permissions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// How long a sandbox may take to start.
const LIMIT: Duration = Duration::from_secs(15);
/// Where small files of its programs are, in its folder.
const SMALL: &str = "tmp";

/// Makes sandboxes that isolate nothing.
#[derive(Debug)]
pub struct BareProvider {
    init: InitCommand,
    /// Where its folders are.
    place: PathBuf,
    /// How the names of its folders begin.
    prefix: String,
    cgroups: Cgroups,
}

impl BareProvider {
    /// A provider, whose folders are below `place`, where everybody may make some. What one of the same
    /// `label` left behind there, because the machine went down, is removed.
    pub fn new(init: InitCommand, place: PathBuf, label: &str) -> Self {
        let (prefix, cgroups) = (format!("baton-{label}-"), Cgroups::of(label));
        cgroups.sweep();
        sweep(&place, &prefix);
        Self { init, place, prefix, cgroups }
    }

    async fn steps(&self, spec: &SandboxSpec) -> Result<LocalSandbox, SandboxError> {
        if let Some(mount) = spec.mounts.iter().find(|mount| mount.source != mount.target) {
            let (from, to) = (mount.source.clone(), mount.target.clone());
            return Err(SandboxError::NotShown { from, to });
        }
        if !spec.network.handed_ports().is_empty() {
            return Err(SandboxError::NotApart);
        }
        let folder = self.folder().map_err(SandboxError::system("make a folder for a sandbox"))?;
        let workspace = folder.path().display().to_string();
        let (ours, theirs) = pair().map_err(SandboxError::system("make a pair of sockets"))?;
        let link = Link::open(ours)?;
        let mut process = self.spawn(folder.path(), theirs)?;
        let pid = process.id().ok_or(SandboxError::Gone)?;
        let cgroup = self.cgroups.create(&spec.name, &spec.limits);
        let (cgroup, enforced) = Cgroup::hold(cgroup, pid);
        let begun = async {
            link.order(&Order::Begin(Begin::default()), &[]).await?;
            link.ready().await
        };
        if let Err(error) = begun.await {
            return Err(with_output(&mut process, error).await);
        }
        drain(process.stderr.take());
        Ok(LocalSandbox {
            link,
            env: environment(spec, &workspace, &format!("{workspace}/{SMALL}")),
            held: Mutex::new(Some(Held { process, slirp: None, cgroup, folder: Some(folder) })),
            enforced,
            init: self.init.clone(),
            workspace,
            connections: Mutex::new(None),
        })
    }

    /// A folder that no other user may look into. Its path is short, for sockets are made below it.
    fn folder(&self) -> std::io::Result<TempDir> {
        let folder = tempfile::Builder::new()
            .prefix(&self.prefix)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&self.place)?;
        std::fs::create_dir(folder.path().join(SMALL))?;
        Ok(folder)
    }

    fn spawn(&self, folder: &Path, socket: OwnedFd) -> Result<Child, SandboxError> {
        Command::new(&self.init.program)
            .args(&self.init.args)
            .arg(BARE)
            .arg(folder)
            .env_clear()
            .current_dir(folder)
            .stdin(Stdio::from(socket))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(SandboxError::system("start a sandbox"))
    }
}

impl Provider for BareProvider {
    fn create<'a>(&'a self, spec: &'a SandboxSpec) -> Answer<'a, Box<dyn Sandbox>> {
        Box::pin(async move {
            let limited = tokio::time::timeout(LIMIT, self.steps(spec)).await;
            let sandbox = limited.map_err(|_| timed_out("a sandbox that is ready", LIMIT))??;
            Ok(Box::new(sandbox) as Box<dyn Sandbox>)
        })
    }

    fn isolates(&self) -> bool {
        false
    }
}

/// Removes our folders whose names begin so.
fn sweep(place: &Path, prefix: &str) {
    let us = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_string_lossy().starts_with(prefix);
        let is_ours = entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == us);
        if is_named
            && is_ours
            && let Err(error) = std::fs::remove_dir_all(entry.path())
        {
            tracing::warn!(path = %entry.path().display(), %error, "what a sandbox left could not be removed");
        }
    }
}
