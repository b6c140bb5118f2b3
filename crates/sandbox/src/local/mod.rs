//! Sandboxes on this machine: bubblewrap for what they see, slirp4netns and nftables for what they
//! reach, cgroups for what they use. [`bare`] makes them without the first three.
//!
//! The one idea: everything is made of namespaces that belong to a user without rights, so nothing
//! outside has to be undone; when the first process ends, the kernel takes all of it away.

pub mod bare;
mod cgroup;
mod connections;
mod link;
mod network;
mod sandbox;
mod start;

use crate::provider::{Answer, InitCommand, Provider, Sandbox, SandboxError, SandboxSpec};
use cgroup::Cgroups;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use tokio::io::AsyncRead;

/// Where administrators' programs are, which is not on everybody's path.
const MORE: [&str; 2] = ["/usr/sbin", "/sbin"];

/// The programs of the system that make sandboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    bwrap: PathBuf,
    slirp: PathBuf,
    nft: PathBuf,
    unshare: PathBuf,
    setpriv: PathBuf,
}

impl Tools {
    /// Finds them on a search path, such as the variable `PATH`.
    pub fn find(path: &OsStr) -> Result<Self, SandboxError> {
        let find = |program, hint| {
            let folders = std::env::split_paths(path).chain(MORE.map(PathBuf::from));
            let mut places = folders.map(|folder| folder.join(program));
            places.find(|place| is_program(place)).ok_or(SandboxError::Missing { program, hint })
        };
        Ok(Self {
            bwrap: find("bwrap", "the package bubblewrap")?,
            slirp: find("slirp4netns", "the package slirp4netns")?,
            nft: find("nft", "the package nftables")?,
            unshare: find("unshare", "the package util-linux")?,
            setpriv: find("setpriv", "the package util-linux")?,
        })
    }
}

fn is_program(place: &Path) -> bool {
    place.is_absolute() && place.is_file()
}

/// Makes sandboxes on this machine.
#[derive(Debug)]
pub struct LocalProvider {
    tools: Tools,
    init: InitCommand,
    cgroups: Cgroups,
}

impl LocalProvider {
    /// A provider. What one of the same `label` left behind, because its process was killed, is
    /// removed.
    pub fn new(tools: Tools, init: InitCommand, label: &str) -> Self {
        let cgroups = Cgroups::of(label);
        cgroups.sweep();
        Self { tools, init, cgroups }
    }
}

impl Provider for LocalProvider {
    fn create<'a>(&'a self, spec: &'a SandboxSpec) -> Answer<'a, Box<dyn Sandbox>> {
        Box::pin(async move {
            let sandbox = start::start(self, spec).await?;
            Ok(Box::new(sandbox) as Box<dyn Sandbox>)
        })
    }

    fn isolates(&self) -> bool {
        true
    }
}

/// Reads on what a process says and no one wants to know: where it is not read, it stops one day.
fn drain(pipe: Option<impl AsyncRead + Unpin + Send + 'static>) {
    if let Some(mut pipe) = pipe {
        tokio::spawn(async move { tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await });
    }
}

/// A limit that ran out.
fn timed_out(what: &'static str, limit: std::time::Duration) -> SandboxError {
    SandboxError::TimedOut { what, limit }
}

#[cfg(test)]
mod tests {
    use super::drain;
    use std::process::Stdio;
    use std::time::Duration;
    use tokio::process::Command;

    #[tokio::test]
    async fn who_says_much_once_it_runs_goes_on() {
        // More than a pipe holds.
        let mut shell = Command::new("/bin/sh");
        let talk = shell.args(["-c", "head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero"]);
        let talk = talk.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut process = talk.spawn().unwrap();
        drain(process.stdout.take());
        drain(process.stderr.take());
        let ended = tokio::time::timeout(Duration::from_mins(1), process.wait()).await;
        assert!(ended.unwrap().unwrap().success());
    }
}
