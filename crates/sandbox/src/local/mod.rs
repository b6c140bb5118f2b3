//! Sandboxes on this machine: bubblewrap for what they see, slirp4netns and nftables for what they
//! reach, cgroups for what they use. [`bare`] makes them without the first three.
//!
//! The one idea: everything is made of namespaces that belong to a user without rights, so nothing
//! outside has to be undone; when the first process ends, the kernel takes all of it away.

mod arguments;
pub mod bare;
mod cgroup;
mod environment;
mod link;
mod rules;
mod sandbox;
mod slirp;
mod start;
mod tools;

pub use tools::Tools;

use crate::{Answer, InitCommand, Provider, Sandbox, SandboxError, SandboxSpec};
use cgroup::Cgroups;

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

/// A limit that ran out.
fn timed_out(what: &'static str, limit: std::time::Duration) -> SandboxError {
    SandboxError::TimedOut { what, limit }
}
