//! Making a sandbox, step by step.
//!
//! The steps before bubblewrap run as a fixed script: where the node is root, everything is given to a
//! user without rights first; then a network namespace is made whose rules nothing in the sandbox can
//! change, because it belongs to a user namespace outside of it.

use super::arguments::{INIT, arguments};
use super::cgroup::Cgroup;
use super::environment::{PATH, environment};
use super::link::Link;
use super::rules::rules;
use super::sandbox::{Held, LocalSandbox};
use super::slirp::Slirp;
use super::{LocalProvider, drain, timed_out};
use crate::error::SandboxError;
use crate::init::{Begin, Order, pair};
use crate::network::HOST;
use crate::network::Network;
use crate::provider::InitCommand;
use crate::spec::SandboxSpec;
use crate::workspace::WORKSPACE;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

/// How long a sandbox may take to start.
const LIMIT: Duration = Duration::from_secs(15);

/// Where root shows the first program to a user who cannot read the folder in which it is.
const SHOWN: &str = "/mnt/baton";
/// Run by root, in a mount namespace of its own.
const SHOW: &str = "mount -t tmpfs -o mode=755,size=64k baton /mnt && : > /mnt/baton && \
    mount --bind \"$1\" /mnt/baton && shift && exec \"$@\"";
/// Tells that the namespaces are there, waits for a byte, sets the rules, and goes on.
///
/// The network that comes meanwhile gives itself no address of IPv6: that would be there a second or two
/// later only, and a browser that sees addresses change drops what it is loading (`ERR_NETWORK_CHANGED`).
/// Where `/proc/sys` cannot be written it does all the same, and works.
const SETUP: &str = "if [ -n \"$1\" ]; then \
    { echo 1 > /proc/sys/net/ipv6/conf/default/addr_gen_mode; } 2> /dev/null; fi; \
    printf in && read -r go && if [ -n \"$1\" ]; then printf %s \"$1\" | \
    \"$2\" -f - || exit 1; fi; shift 2; exec \"$@\"";
/// The user and group `nobody` of Linux, who owns nothing.
const NOBODY: &str = "65534";

pub(super) async fn start(
    provider: &LocalProvider,
    spec: &SandboxSpec,
) -> Result<LocalSandbox, SandboxError> {
    let starting = steps(provider, spec);
    let limited = tokio::time::timeout(LIMIT, starting).await;
    limited.map_err(|_| timed_out("a sandbox that is ready", LIMIT))?
}

async fn steps(provider: &LocalProvider, spec: &SandboxSpec) -> Result<LocalSandbox, SandboxError> {
    let (ours, theirs) = pair().map_err(SandboxError::system("make a pair of sockets"))?;
    let link = Link::open(ours)?;
    let cgroup = provider.cgroups.create(&spec.name, &spec.limits);
    let mut process = spawn(provider, spec, theirs)?;
    let pid = process.id().ok_or(SandboxError::Gone)?;
    if let Err(error) = is_in(&mut process).await {
        return Err(told(&mut process, error).await);
    }
    let (cgroup, enforced) = Cgroup::hold(cgroup, pid);
    let slirp = match &spec.network {
        Network::None => None,
        network => {
            let reaches_host = !network.host_ports().is_empty();
            Some(Slirp::start(&provider.tools, &spec.name, pid, reaches_host).await?)
        }
    };
    if let Err(error) = begin(&link, spec).await {
        return Err(told(&mut process, error).await);
    }
    drain(process.stdout.take());
    drain(process.stderr.take());
    Ok(LocalSandbox {
        link,
        held: Mutex::new(Some(Held { process, slirp, cgroup, folder: None })),
        enforced,
        env: environment(spec, WORKSPACE, "/tmp"),
        init: InitCommand { program: INIT.into(), args: provider.init.args.clone() },
        workspace: WORKSPACE.to_owned(),
    })
}

fn spawn(
    provider: &LocalProvider,
    spec: &SandboxSpec,
    socket: OwnedFd,
) -> Result<Child, SandboxError> {
    let tools = &provider.tools;
    let is_root = rustix::process::geteuid().is_root();
    let program = if is_root { Path::new(SHOWN) } else { &provider.init.program };
    let mut words: Vec<OsString> = Vec::new();
    if is_root {
        words.extend(
            [tools.unshare.as_os_str(), "--mount".as_ref(), "--propagation=private".as_ref()]
                .map(Into::into),
        );
        words.extend(["/bin/sh", "-c", SHOW, "sh"].map(Into::into));
        words.push(provider.init.program.clone().into());
        words.push(tools.setpriv.clone().into());
        words.extend(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"].map(Into::into));
        words.push("--".into());
    }
    let rules = match &spec.network {
        Network::None => String::new(),
        network => {
            words.push(tools.unshare.clone().into());
            words.extend(["--user", "--map-root-user", "--net", "--"].map(Into::into));
            rules(network)
        }
    };
    words.extend(["/bin/sh", "-c", SETUP, "sh", &rules].map(Into::into));
    words.extend([tools.nft.clone().into(), tools.bwrap.clone().into()]);
    words.extend(arguments(spec, &provider.init, program)?);
    let (first, rest) = words.split_first().ok_or(SandboxError::Gone)?;
    Command::new(first)
        .args(rest)
        .env_clear()
        .env("PATH", PATH)
        .current_dir("/")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(SandboxError::system("start a sandbox"))
}

/// Waits until the namespaces are there.
async fn is_in(process: &mut Child) -> Result<(), SandboxError> {
    let mut word = [0; 2];
    let output = process.stdout.as_mut().ok_or(SandboxError::Gone)?;
    output.read_exact(&mut word).await.map(drop).map_err(|_| SandboxError::Gone)
}

/// Lets the first program start, and waits until it is ready.
async fn begin(link: &Arc<Link>, spec: &SandboxSpec) -> Result<(), SandboxError> {
    link.go().await?;
    link.order(
        &Order::Begin(Begin { files: files(spec), host_ports: spec.network.host_ports() }),
        &[],
    )
    .await?;
    link.ready().await
}

/// What went wrong, in the words of the programs that should have made the sandbox.
pub(super) async fn told(process: &mut Child, error: SandboxError) -> SandboxError {
    let mut reason = String::new();
    if let Some(errors) = process.stderr.take() {
        // What they say is told as far as it can be read.
        let _ = errors.take(4096).read_to_string(&mut reason).await;
    }
    match reason.trim() {
        "" => error,
        reason => SandboxError::NotStarted { reason: reason.to_owned() },
    }
}

/// The small files that programs look for.
fn files(spec: &SandboxSpec) -> BTreeMap<String, String> {
    let names = if matches!(spec.network, Network::Public(_)) {
        format!("nameserver {}\n", super::rules::NAMES)
    } else {
        String::new()
    };
    let hosts = format!("127.0.0.1 localhost {}\n{} host\n", spec.name, HOST);
    let files = [
        ("passwd", "agent:x:1000:1000:agent:/workspace:/bin/sh\n".to_owned()),
        ("group", "agent:x:1000:\n".to_owned()),
        ("hosts", hosts),
        ("resolv.conf", names),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
    ];
    files.into_iter().map(|(name, text)| (format!("/etc/{name}"), text)).collect()
}
