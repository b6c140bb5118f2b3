//! What a confined browser sees of its machine: one list, whatever enforces it.
//!
//! Programs, libraries, fonts and certificates to read; its profile and the session's own files to
//! write; a few devices. What is not named is not there: the data folder, the home, `/tmp`, other
//! sessions. `docs/reference/confinement.md` shows the list to people.

use super::super::options::{Folder, LaunchOptions};
use super::Home;
use std::path::{Path, PathBuf};

/// Programs and libraries.
const PROGRAMS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system/sw",
];

/// Settings of the machine, without what is a secret in `/etc`: of `/etc/ssl` the certificates, not
/// `private`.
const SETTINGS: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/chromium",
    "/etc/chromium.d",
    "/etc/drirc",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/glvnd",
    "/etc/gtk-3.0",
    "/etc/gtk-4.0",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/machine-id",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/opt",
    "/etc/os-release",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/resolv.conf",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/static",
    "/etc/timezone",
    "/etc/vulkan",
    "/run/systemd/resolve",
    "/sys",
    "/var/cache/fontconfig",
];

/// What only a browser with windows reads beside that.
const WINDOWS: &[&str] = &["/etc/X11", "/etc/xdg", "/run/udev/data"];

/// Devices of every browser.
pub(super) const DEVICES: &[&str] =
    &["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// Devices of a browser with windows, by how their names begin: graphics, sound, cameras, security
/// keys.
const WINDOW_DEVICES: &[&str] =
    &["/dev/dri", "/dev/hidraw", "/dev/kfd", "/dev/nvidia", "/dev/snd", "/dev/video"];

/// What may be done with a file, or with what is below a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read, listed and executed.
    Run,
    /// Read and listed.
    Read,
    /// A device: read, written and controlled.
    Device,
    /// `/proc`. An ordinary user's Chromium writes the maps of its own user namespaces there.
    Processes {
        /// Whether it may be written.
        writable: bool,
    },
    /// Shared memory: files that are made, used and removed, and never listed.
    Shared,
    /// Everything but to run what was written there.
    Write,
}

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisiblePath {
    /// A file or a folder with all below it. Links lead to what they name.
    pub path: PathBuf,
    /// What may be done there.
    pub access: Access,
}

/// All that a browser sees; what of it does not exist is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The list.
    pub seen: Vec<VisiblePath>,
    /// Whether the browser shows windows: then it reaches the display's abstract sockets.
    pub headed: bool,
}

impl View {
    /// What the browser of `options` sees, whose home is `home`.
    pub(in crate::launch) fn of(options: &LaunchOptions, home: &Home, as_root: bool) -> Self {
        let mut seen = Vec::new();
        let all = |access, paths: &[&str]| {
            let one = |path: &&str| VisiblePath { path: path.into(), access };
            paths.iter().map(one).collect::<Vec<_>>()
        };
        seen.extend(all(Access::Run, PROGRAMS));
        seen.extend(all(Access::Read, SETTINGS));
        seen.extend(all(Access::Device, DEVICES));
        if options.headed {
            seen.extend(all(Access::Read, WINDOWS));
            let devices = window_devices().into_iter();
            seen.extend(devices.map(|path| VisiblePath { path, access: Access::Device }));
        }
        let mut add =
            |access, path: &Path| seen.push(VisiblePath { path: path.to_owned(), access });
        add(Access::Processes { writable: !as_root }, "/proc".as_ref());
        add(Access::Shared, "/dev/shm".as_ref());
        add(Access::Run, &program(options));
        for name in ["FONTCONFIG_FILE", "FONTCONFIG_PATH"] {
            let path = options.inherited.get(name).map(Path::new);
            if let Some(path) = path.filter(|path| !holds_private(path, options)) {
                add(Access::Read, path);
            }
        }
        for path in &home.shown {
            add(Access::Read, path);
        }
        for Folder { path, writable } in &options.folders {
            add(if *writable { Access::Write } else { Access::Read }, path);
        }
        add(Access::Write, &options.profile);
        add(Access::Write, &options.files);
        seen.retain(|one| one.path.exists());
        Self { seen, headed: options.headed }
    }
}

/// The program with the files beside it, or, where these are a whole home or hold the data folder,
/// the program alone.
fn program(options: &LaunchOptions) -> PathBuf {
    let program = options.program.canonicalize().unwrap_or_else(|_| options.program.clone());
    match program.parent() {
        Some(folder) if !holds_private(folder, options) => folder.to_owned(),
        _ => program,
    }
}

/// Whether a folder holds the caller's home or what is hidden: it must not be shown as a whole.
fn holds_private(folder: &Path, options: &LaunchOptions) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real(folder);
    let home = options.inherited.get("HOME").map(Path::new);
    let private = [home, options.hidden.as_deref(), Some(options.profile.as_path())];
    private.into_iter().flatten().any(|path| real(path).starts_with(&folder))
}

fn window_devices() -> Vec<PathBuf> {
    let devices = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let wanted = |path: &PathBuf| {
        let path = path.to_string_lossy();
        WINDOW_DEVICES.iter().any(|begins| path.starts_with(begins))
    };
    devices.map(|entry| entry.path()).filter(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> LaunchOptions {
        LaunchOptions {
            hidden: Some("/home/ada/.local/share/baton".into()),
            inherited: [("HOME".to_owned(), "/home/ada".to_owned())].into(),
            ..LaunchOptions::new("/opt/x/chrome".into(), "/home/ada/.local/share/baton/p".into())
        }
    }

    #[test]
    fn a_program_is_seen_with_what_lies_beside_it_but_never_with_a_home() {
        for (found, shown) in [
            ("/opt/google/chrome/chrome", "/opt/google/chrome"),
            ("/home/ada/.cache/ms-playwright/c/chrome", "/home/ada/.cache/ms-playwright/c"),
            ("/home/ada/chrome", "/home/ada/chrome"),
            ("/home/chrome", "/home/chrome"),
            ("/chrome", "/chrome"),
            ("/home/ada/.local/share/chrome", "/home/ada/.local/share/chrome"),
        ] {
            let options = LaunchOptions { program: found.into(), ..options() };
            assert_eq!(program(&options), Path::new(shown), "{found}");
        }
    }

    #[test]
    fn nothing_private_of_etc_is_on_the_list() {
        for listed in SETTINGS.iter().chain(WINDOWS).chain(PROGRAMS) {
            for private in ["/etc/shadow", "/etc/passwd", "/etc/ssl/private", "/etc/environment"] {
                assert!(!Path::new(private).starts_with(listed), "{private} is below {listed}");
            }
        }
    }
}
