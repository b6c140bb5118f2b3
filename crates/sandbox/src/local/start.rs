//! Making a sandbox, step by step: what it sees, in which environment, and how its first process comes up.
//!
//! The steps before bubblewrap run as a fixed script: where the node is root, everything is given to a user
//! without rights first; then a network namespace is made whose rules nothing in the sandbox can change,
//! because it belongs to a user namespace outside of it.

use super::cgroup::Cgroup;
use super::connections::connections;
use super::link::Link;
use super::network::{Slirp, own_addresses, rules};
use super::sandbox::{Held, LocalSandbox};
use super::{LocalProvider, drain, timed_out};
use crate::init::{Begin, Order, pair};
use crate::network::{HOST, Network};
use crate::provider::{InitCommand, SandboxError, SandboxSpec, WORKSPACE};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};
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
/// Tells the node that the namespaces are there, waits for a byte, sets the rules, and goes on.
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
        return Err(with_output(&mut process, error).await);
    }
    let (cgroup, enforced) = Cgroup::hold(cgroup, pid);
    let slirp = if spec.network.is_connected() {
        let reaches_host = !spec.network.host_ports().is_empty();
        Some(Slirp::start(&provider.tools, &spec.name, pid, reaches_host).await?)
    } else {
        None
    };
    let (connections, theirs) = connections(&spec.network)?.unzip();
    if let Err(error) = start_init(&link, spec, theirs).await {
        return Err(with_output(&mut process, error).await);
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
        connections: Mutex::new(connections),
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
    let rules = if spec.network.is_connected() {
        words.push(tools.unshare.clone().into());
        words.extend(["--user", "--map-root-user", "--net", "--"].map(Into::into));
        rules(&spec.network, &own_addresses()?)
    } else {
        String::new()
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

/// Lets the first program start, and waits until it is ready. With `connections` it hands over what connects to
/// the ports of which the network says so.
async fn start_init(
    link: &Arc<Link>,
    spec: &SandboxSpec,
    connections: Option<OwnedFd>,
) -> Result<(), SandboxError> {
    link.go().await?;
    let begin = Begin {
        files: files(spec),
        host_ports: spec.network.host_ports(),
        handed_ports: spec.network.handed_ports().to_vec(),
    };
    let descriptors: Vec<_> = connections.iter().map(AsFd::as_fd).collect();
    link.order(&Order::Begin(begin), &descriptors).await?;
    link.ready().await
}

/// What went wrong, in the words of the programs that should have made the sandbox.
pub(super) async fn with_output(process: &mut Child, error: SandboxError) -> SandboxError {
    let mut reason = String::new();
    if let Some(errors) = process.stderr.take() {
        // What they say is shown as far as it can be read.
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
        format!("nameserver {}\n", super::network::NAMES)
    } else {
        String::new()
    };
    let host = if spec.network.is_connected() { HOST } else { Ipv4Addr::LOCALHOST };
    let hosts = format!("127.0.0.1 localhost {}\n{host} host\n", spec.name);
    let files = [
        ("passwd", "agent:x:1000:1000:agent:/workspace:/bin/sh\n".to_owned()),
        ("group", "agent:x:1000:\n".to_owned()),
        ("hosts", hosts),
        ("resolv.conf", names),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
    ];
    files.into_iter().map(|(name, text)| (format!("/etc/{name}"), text)).collect()
}

/// Where the sandbox has its first program.
const INIT: &str = "/run/baton";

/// Programs and libraries. What is a link here is the same link there.
const SYSTEM: [&str; 5] = ["/usr", "/bin", "/lib", "/lib64", "/sbin"];

/// Settings that programs need, and that tell nothing about this machine's users.
const SETTINGS: [&str; 10] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/chromium",
    "/etc/chromium.d",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl",
];

/// Room for small files that programs leave in `/tmp`, `/etc` and `/run`.
const SMALL: u64 = 64 << 20;
const TINY: u64 = 1 << 20;

/// Namespaces, and no rights in them. Of the kernel's settings nothing can be changed: bubblewrap leaves them
/// writable for what runs as root.
const CONFINED: [&str; 15] = [
    "--unshare-user",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--as-pid-1",
    "--clearenv",
    "--cap-drop",
    "ALL",
];

/// The arguments; `program` is where the first program is found.
fn arguments(
    spec: &SandboxSpec,
    init: &InitCommand,
    program: &Path,
) -> Result<Vec<OsString>, SandboxError> {
    let mut all = Arguments::default();
    all.add(CONFINED);
    all.add(["--hostname", &spec.name]);
    if !spec.network.is_connected() {
        all.add(["--unshare-net"]);
    }
    all.system();
    all.room("/etc", TINY);
    for path in SETTINGS {
        all.show("--ro-bind-try", path, path);
    }
    all.room("/run", TINY);
    all.show("--ro-bind", program, INIT);
    all.add(["--proc", "/proc"]);
    all.show("--ro-bind", "/proc/sys", "/proc/sys");
    // They name keys of the user who runs the node, which no namespace hides.
    for keys in ["/proc/keys", "/proc/key-users"] {
        all.show_nothing_at(keys);
    }
    all.add(["--dev", "/dev"]);
    all.room("/dev/shm", spec.limits.disk);
    all.add(["--remount-ro", "/dev"]);
    all.room("/tmp", SMALL);
    all.room(WORKSPACE, spec.limits.disk);
    for mount in &spec.mounts {
        for path in [&mount.source, &mount.target] {
            is_plain(path).then_some(()).ok_or_else(|| SandboxError::InvalidMount(path.clone()))?;
        }
        all.show("--ro-bind", &mount.source, &mount.target);
    }
    all.add(["--remount-ro", "/", "--chdir", WORKSPACE, "--", INIT]);
    all.add(&init.args);
    Ok(all.0)
}

#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn add<T: Into<OsString>>(&mut self, words: impl IntoIterator<Item = T>) {
        self.0.extend(words.into_iter().map(Into::into));
    }

    /// A folder in memory, of so many bytes.
    fn room(&mut self, path: &str, size: u64) {
        self.add(["--size".to_owned(), size.to_string(), "--tmpfs".into(), path.into()]);
    }

    fn show(&mut self, how: &str, source: impl AsRef<Path>, target: impl AsRef<Path>) {
        self.add([how.as_ref(), source.as_ref().as_os_str(), target.as_ref().as_os_str()]);
    }

    /// Where the kernel tells something, shows what cannot even be opened: no device works there.
    fn show_nothing_at(&mut self, path: &str) {
        if Path::new(path).exists() {
            self.show("--ro-bind", "/dev/null", path);
        }
    }

    fn system(&mut self) {
        for path in SYSTEM {
            match std::fs::read_link(path) {
                Ok(target) => self.show("--symlink", target, path),
                Err(_) if Path::new(path).exists() => self.show("--ro-bind", path, path),
                Err(_) => {}
            }
        }
    }
}

fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| part != Component::ParentDir)
}

/// The path on which a sandbox looks for programs, unless it is given another one.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The environment of every command, with the workspace at `workspace` and room for small files at
/// `small`.
pub(super) fn environment(
    spec: &SandboxSpec,
    workspace: &str,
    small: &str,
) -> BTreeMap<String, String> {
    let ours = [
        ("HOME", workspace),
        ("LANG", "C.UTF-8"),
        ("PATH", PATH),
        ("TMPDIR", small),
        ("USER", "agent"),
    ];
    let mut env: BTreeMap<String, String> =
        ours.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let files = spec.files.iter();
    env.extend(files.map(|(name, path)| (name.clone(), format!("{workspace}/{path}"))));
    env.extend(spec.env.clone());
    env
}
