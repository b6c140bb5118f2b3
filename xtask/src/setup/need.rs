//! What must be there: each program, how to find it, and what it is called in each package manager.

use crate::cargo;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Something that the demo or the tests start.
pub(crate) struct Need {
    /// What people call it.
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) purpose: &'static str,
    /// What is searched for, in words.
    pub(crate) expected: &'static str,
    /// Where it is, if it is there.
    search: fn() -> Option<PathBuf>,
    /// Debian's packages.
    pub(crate) apt: &'static [&'static str],
    /// How it comes onto this machine.
    pub(crate) way: Source,
    /// What to type where apt is not: Fedora, Arch, macOS.
    pub(crate) dnf: &'static str,
    pub(crate) pacman: &'static str,
    pub(crate) brew: &'static str,
    /// What to do on Ubuntu when its own package does not serve.
    pub(crate) ubuntu: Option<&'static str>,
}

/// How a need comes onto a machine.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Source {
    /// As packages of the system.
    Installed,
    /// As packages of the system that are only unpacked, below [`shelf`]: installed, they would be a service that
    /// starts with the machine.
    Unpacked,
    /// As a crate, which cargo builds below [`shelf`]: its name and version.
    Built(&'static str),
    /// As wheels, which pip installs below [`shelf`]: their names, versions and sums.
    Wheels(&'static str),
}

impl Need {
    /// Where it is, if it is there.
    pub(crate) fn find(&self) -> Option<PathBuf> {
        (self.search)()
    }
}

/// Where the packages of a need are unpacked that are not installed.
pub(crate) fn shelf(name: &str) -> PathBuf {
    cargo::root().join("target/tools").join(name)
}

/// A browser to keep alive.
pub(crate) const CHROMIUM: Need = Need {
    name: "Chromium",
    purpose: "the browser that sessions run in",
    expected: "chromium, chromium-browser or google-chrome on the PATH",
    search: find_chromium,
    // The sandbox is a package of its own, which a browser that does not run as root may need.
    apt: &["chromium", "chromium-sandbox"],
    way: Source::Installed,
    dnf: "sudo dnf install chromium",
    pacman: "sudo pacman -S chromium",
    brew: "brew install --cask chromium",
    ubuntu: Some(
        "Ubuntu packages Chromium as a snap, which cannot be started on a profile of our choice; \
         install Google Chrome's .deb from https://www.google.com/chrome/ instead",
    ),
};

/// The second database that the store is tested on; the tests start a server of their own.
pub(crate) const POSTGRESQL: Need = Need {
    name: "PostgreSQL",
    purpose: "the store's tests start a server of their own in a temporary folder",
    expected: "initdb and postgres on the PATH or in /usr/lib/postgresql/*/bin",
    search: find_postgresql,
    apt: &["postgresql"],
    way: Source::Installed,
    dnf: "sudo dnf install postgresql-server",
    pacman: "sudo pacman -S postgresql",
    brew: "brew install postgresql",
    ubuntu: None,
};

/// What a file is sealed with that travels.
pub(crate) const AGE: Need = Need {
    name: "age",
    purpose: "the tests make an identity as the guide to moving a login does",
    expected: "age-keygen on the PATH",
    search: || on_path("age-keygen"),
    apt: &["age"],
    way: Source::Installed,
    dnf: "sudo dnf install age",
    pacman: "sudo pacman -S age",
    brew: "brew install age",
    ubuntu: None,
};

/// SQLite, zstd and the cryptography are partly written in C and are compiled from source.
pub(crate) const C_COMPILER: Need = Need {
    name: "C compiler",
    purpose: "SQLite, zstd and the cryptography are compiled from source",
    expected: "cc, gcc or clang on the PATH",
    search: || ["cc", "gcc", "clang"].iter().find_map(|name| on_path(name)),
    apt: &["build-essential"],
    way: Source::Installed,
    dnf: "sudo dnf install gcc make",
    pacman: "sudo pacman -S base-devel",
    brew: "xcode-select --install",
    ubuntu: None,
};

/// What Selenium drives a browser with.
pub(crate) const DRIVER: Need = Need {
    name: "ChromeDriver",
    purpose: "the tests take cookies that Selenium wrote",
    expected: "chromedriver on the PATH",
    search: || on_path("chromedriver"),
    apt: &["chromium-driver"],
    way: Source::Installed,
    dnf: "sudo dnf install chromedriver",
    pacman: "not alone: it comes with chromium",
    brew: "brew install chromedriver",
    ubuntu: None,
};

/// A browser whose file of a login is taken.
pub(crate) const FIREFOX: Need = Need {
    name: "Firefox",
    purpose: "the tests take what Playwright saved of a Firefox",
    expected: "firefox-esr or firefox on the PATH",
    search: || on_path("firefox-esr").or_else(|| on_path("firefox")),
    apt: &["firefox-esr"],
    way: Source::Installed,
    dnf: "sudo dnf install firefox",
    pacman: "sudo pacman -S firefox",
    brew: "brew install --cask firefox",
    ubuntu: Some(
        "Ubuntu packages Firefox as a snap, whose home is not the test's; install Mozilla's own .deb instead, as \
         https://support.mozilla.org/kb/install-firefox-linux says",
    ),
};

/// What networks between machines of a test are made with.
pub(crate) const NETWORKS: Need = Need {
    name: "Networks",
    purpose: "two machines of a test have a network of their own, in namespaces",
    expected: "ip on the PATH or in /usr/sbin",
    search: || on_path("ip").or_else(|| file("/usr/sbin/ip".into())),
    apt: &["iproute2"],
    way: Source::Installed,
    dnf: "sudo dnf install iproute",
    pacman: "sudo pacman -S iproute2",
    brew: "not there: only Linux has it",
    ubuntu: None,
};

/// What runs the tests, each in a process of its own with a limit.
pub(crate) const NEXTEST: Need = Need {
    name: "nextest",
    purpose: "it runs the tests, each in a process of its own with a limit",
    expected: "cargo-nextest on the PATH",
    search: find_nextest,
    apt: &[],
    way: Source::Built("cargo-nextest@0.9.143"),
    dnf: "cargo install --locked cargo-nextest",
    pacman: "sudo pacman -S cargo-nextest",
    brew: "brew install cargo-nextest",
    ubuntu: None,
};

/// What most of the other tools that drive a session are written for.
pub(crate) const NODE: Need = Need {
    name: "Node",
    purpose: "the tests run the recipes for other tools: Playwright, agent-browser, MCP servers",
    expected: "node and npm on the PATH",
    search: || on_path("npm").and_then(|_| on_path("node")),
    apt: &["nodejs", "npm"],
    way: Source::Installed,
    dnf: "sudo dnf install nodejs npm",
    pacman: "sudo pacman -S nodejs npm",
    brew: "brew install node",
    ubuntu: None,
};

/// What browser-use is written for.
pub(crate) const PYTHON: Need = Need {
    name: "Python",
    purpose: "the tests run the recipe for browser-use",
    expected: "python3 on the PATH, 3.11 or newer, with venv",
    search: find_python,
    apt: &["python3", "python3-venv"],
    way: Source::Installed,
    dnf: "sudo dnf install python3",
    pacman: "sudo pacman -S python",
    brew: "brew install python",
    ubuntu: None,
};

/// What people put in front of their pages, and what the proxy's benchmark measures against.
pub(crate) const NGINX: Need = Need {
    name: "nginx",
    purpose: "the tests put a real web server behind the proxy",
    expected: "nginx on the PATH or in /usr/sbin",
    search: find_nginx,
    apt: &["nginx"],
    way: Source::Unpacked,
    dnf: "sudo dnf install nginx",
    pacman: "sudo pacman -S nginx",
    brew: "brew install nginx",
    ubuntu: None,
};

/// What the nodes of a cluster tell each other by that something changed.
pub(crate) const NATS: Need = Need {
    name: "nats",
    purpose: "the tests put a real server of NATS between the nodes of a cluster",
    expected: "nats-server on the PATH or in /usr/sbin",
    search: find_nats,
    apt: &["nats-server"],
    way: Source::Unpacked,
    dnf: "go install github.com/nats-io/nats-server/v2@latest",
    pacman: "go install github.com/nats-io/nats-server/v2@latest",
    brew: "brew install nats-server",
    ubuntu: None,
};

/// Where a browser of a desktop keeps the password of its cookies.
pub(crate) const KEYRING: Need = Need {
    name: "Keyring",
    purpose: "the tests start a keyring of their own, on a session bus of their own",
    expected: "gnome-keyring-daemon and dbus-daemon on the PATH",
    search: || on_path("dbus-daemon").and_then(|_| on_path("gnome-keyring-daemon")),
    apt: &["gnome-keyring", "dbus"],
    way: Source::Installed,
    dnf: "sudo dnf install gnome-keyring dbus-daemon",
    pacman: "sudo pacman -S gnome-keyring dbus",
    brew: "not there: only Linux has it",
    ubuntu: None,
};

/// What the native modules of code-server are compiled against.
pub(crate) const VSCODE: Need = Need {
    name: "VS Code",
    purpose: "code-server compiles native modules of its own",
    expected: "pkg-config on the PATH, which knows krb5, libsecret-1, x11 and xkbfile",
    search: find_headers,
    apt: &["libkrb5-dev", "libsecret-1-dev", "libx11-dev", "libxkbfile-dev", "pkg-config"],
    way: Source::Installed,
    dnf: "sudo dnf install krb5-devel libsecret-devel libX11-devel libxkbfile-devel pkgconf",
    pacman: "sudo pacman -S krb5 libsecret libx11 libxkbfile pkgconf",
    brew: "not there: the tests drive it on Linux",
    ubuntu: None,
};

/// What makes sandboxes of this machine.
pub(crate) const SANDBOXES: Need = Need {
    name: "Sandboxes",
    purpose: "agents run in sandboxes made of namespaces, with a network and a display of their own",
    expected: "bwrap, slirp4netns, nft and Xtigervnc on the PATH or in /usr/sbin",
    search: find_sandboxes,
    apt: &["bubblewrap", "slirp4netns", "nftables", "tigervnc-standalone-server"],
    way: Source::Installed,
    dnf: "sudo dnf install bubblewrap slirp4netns nftables tigervnc-server",
    pacman: "sudo pacman -S bubblewrap slirp4netns nftables tigervnc",
    brew: "not there: only Linux has it",
    ubuntu: None,
};

/// What makes systems of their own to install packages in, and the image.
pub(crate) const CONTAINERS: Need = Need {
    name: "Containers",
    purpose: "packages are installed in a bare Debian, and the image is built and run",
    expected: "buildah, debootstrap, socat, curl and ip on the PATH or in /usr/sbin",
    search: find_containers,
    apt: &["buildah", "debootstrap", "socat", "curl", "iproute2"],
    way: Source::Installed,
    dnf: "sudo dnf install buildah debootstrap socat curl iproute",
    pacman: "sudo pacman -S buildah debootstrap socat curl iproute2",
    brew: "not there: only Linux has it",
    ubuntu: None,
};

/// What links the program against an old glibc, and for other processors.
pub(crate) const ZIG: Need = Need {
    name: "Zig",
    purpose: "it links the program that is given to people against an old glibc",
    expected: "cargo-zigbuild in target/tools/Zig",
    search: find_zig,
    apt: &[],
    way: Source::Wheels(include_str!("zig.txt")),
    dnf: "pip install cargo-zigbuild ziglang",
    pacman: "sudo pacman -S cargo-zigbuild",
    brew: "brew install cargo-zigbuild",
    ubuntu: None,
};

/// The same places, in the same order, as `crates/browser` looks at.
fn find_chromium() -> Option<PathBuf> {
    let binaries = ["/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser"];
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
    let binary = binaries.iter().find_map(|path| file(path.into()));
    binary.or_else(|| names.iter().find_map(|name| on_path(name)))
}

fn find_postgresql() -> Option<PathBuf> {
    let complete =
        |folder: &PathBuf| ["initdb", "postgres"].iter().all(|name| folder.join(name).is_file());
    let packaged = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    path_folders().into_iter().chain(packaged.map(|entry| entry.path().join("bin"))).find(complete)
}

/// Debian has the half of venv that makes pip in a package of its own, so Python is asked for it.
fn find_python() -> Option<PathBuf> {
    let python = on_path("python3")?;
    let question = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    let asked = Command::new(&python).args(["-c", question]).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success()).then_some(python)
}

fn find_headers() -> Option<PathBuf> {
    let program = on_path("pkg-config")?;
    let known = ["--exists", "krb5-gssapi", "libsecret-1", "x11", "xkbfile"];
    let asked = Command::new(&program).args(known).status();
    asked.is_ok_and(|status| status.success()).then_some(program)
}

fn find_nextest() -> Option<PathBuf> {
    on_path("cargo-nextest").or_else(|| file(shelf(NEXTEST.name).join("bin/cargo-nextest")))
}

fn find_nginx() -> Option<PathBuf> {
    let places = ["/usr/sbin/nginx".into(), shelf(NGINX.name).join("usr/sbin/nginx")];
    on_path("nginx").or_else(|| places.into_iter().find_map(file))
}

fn find_nats() -> Option<PathBuf> {
    let places = ["/usr/sbin/nats-server".into(), shelf(NATS.name).join("usr/sbin/nats-server")];
    on_path("nats-server").or_else(|| places.into_iter().find_map(file))
}

/// Only where it was installed by us, in the versions that are pinned.
fn find_zig() -> Option<PathBuf> {
    let program = file(shelf(ZIG.name).join("bin/cargo-zigbuild"))?;
    let installed = std::fs::read_to_string(shelf(ZIG.name).join(INSTALLED)).ok()?;
    matches!(ZIG.way, Source::Wheels(pinned) if pinned == installed).then_some(program)
}

/// The file below a shelf that says which wheels were installed there.
pub(crate) const INSTALLED: &str = "installed.txt";

/// Administrators' programs are not on everybody's PATH.
fn find_sandboxes() -> Option<PathBuf> {
    let nft = on_path("nft").or_else(|| file("/usr/sbin/nft".into()));
    let display = nft.and_then(|_| on_path("Xtigervnc").or_else(|| on_path("Xvnc")));
    display.and_then(|_| on_path("slirp4netns")).and_then(|_| on_path("bwrap"))
}

fn find_containers() -> Option<PathBuf> {
    let program = |name: &str| on_path(name).or_else(|| file(format!("/usr/sbin/{name}").into()));
    ["debootstrap", "socat", "curl", "ip", "buildah"]
        .into_iter()
        .map(program)
        .collect::<Option<Vec<_>>>()?
        .pop()
}

/// The first file of this name on the PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    path_folders().into_iter().find_map(|folder| file(folder.join(name)))
}

fn path_folders() -> Vec<PathBuf> {
    std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect()
}

fn file(path: PathBuf) -> Option<PathBuf> {
    Path::is_file(&path).then_some(path)
}
