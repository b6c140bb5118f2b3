//! What a sandbox sees, as arguments of bubblewrap.

use crate::error::SandboxError;
use crate::network::Network;
use crate::provider::InitCommand;
use crate::spec::SandboxSpec;
use crate::workspace::WORKSPACE;
use std::ffi::OsString;
use std::path::{Component, Path};

/// Where the sandbox has its first program.
pub(super) const INIT: &str = "/run/baton";

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

/// Namespaces, and no rights in them. Of the kernel's settings nothing can be changed: bubblewrap
/// leaves them writable for whoever runs as root.
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
pub(super) fn arguments(
    spec: &SandboxSpec,
    init: &InitCommand,
    program: &Path,
) -> Result<Vec<OsString>, SandboxError> {
    let mut all = Arguments::default();
    all.add(CONFINED);
    all.add(["--hostname", &spec.name]);
    if spec.network == Network::None {
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
    // They name keys of whoever runs the node, which no namespace hides.
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

    /// Something that cannot even be opened where the kernel tells something: no device works there.
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
