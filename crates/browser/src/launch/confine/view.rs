//! What a confined browser sees of its machine, whatever enforces it, and the home that it is given.
//!
//! Programs, libraries, fonts and certificates to read; its profile and the session's own files to
//! write; a few devices. What is not named is not there: the data folder, the home, `/tmp`, other
//! sessions. `docs/reference/confinement.md` shows the list to people.
//!
//! Its home is a folder among the session's own files, with links to the few things of its user that it
//! may read.
//!
//! What a browser wrote there may be anything, so every step looks at what is there and follows no link: no
//! other process writes there while the browser does not run.

use super::super::options::{Folder, LaunchError, LaunchOptions};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::{fs, io};

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
    /// The port of its way out: it reaches no other by TCP, where the kernel can tell; none when it reaches
    /// all.
    pub way_out: Option<u16>,
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
        for path in &home.sockets {
            add(Access::Device, path);
        }
        for Folder { path, writable } in &options.folders {
            add(if *writable { Access::Write } else { Access::Read }, path);
        }
        add(Access::Write, &options.profile);
        add(Access::Write, &options.files);
        seen.retain(|one| one.path.exists());
        Self { seen, headed: options.headed, way_out: options.way_out }
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

/// Its name among the session's files.
const HOME: &str = ".home";
/// Where the browser puts what it needs for a moment, beside it.
const TEMPORARY: &str = ".tmp";
/// The same for the browser, whose current folder is that of the session's files. Chromium makes a socket
/// there, and the paths of sockets have 107 bytes at most: that of a data folder is longer soon.
const TEMPORARY_FROM_HERE: &str = "/proc/self/cwd/.tmp";
/// The largest file of X cookies that is copied, in bytes.
const COOKIES_LIMIT: u64 = 1 << 20;

/// Where the browser's own settings are, in its home.
const CONFIG: &str = ".config";
/// Folders of the home, and the variables that lead to them. Who writes there makes them (XDG Base Directory
/// Specification): a launch waits for each folder that it makes.
const FOLDERS: &[(&str, Option<&str>)] = &[
    (".cache", Some("XDG_CACHE_HOME")),
    (CONFIG, Some("XDG_CONFIG_HOME")),
    (".local", None),
    (".local/share", Some("XDG_DATA_HOME")),
    (".local/state", Some("XDG_STATE_HOME")),
    (".pki", None),
];

/// What of the user's own home is seen, to be read: fonts, and certificates of their own.
const SHOWN: &[&str] =
    &[".fonts", ".local/share/fonts", ".config/fontconfig", ".fonts.conf", ".pki/nssdb"];

/// A home that is ready.
pub(in crate::launch) struct Home {
    /// What of the user's own home the links lead to.
    pub(super) shown: Vec<PathBuf>,
    /// The sockets of the display of a browser with windows.
    pub(super) sockets: Vec<PathBuf>,
    variables: BTreeMap<String, String>,
}

impl Home {
    /// Makes the session's own files ready for a browser.
    pub(in crate::launch) fn prepare(options: &LaunchOptions) -> Result<Self, LaunchError> {
        folder(&options.files)?;
        let (home, temporary) = (options.files.join(HOME), options.files.join(TEMPORARY));
        clear(&temporary)?;
        for path in [&temporary, &home] {
            folder(path)?;
        }
        let mut variables = BTreeMap::new();
        let mut lead = |name: &str, path: &Path| {
            variables.insert(name.to_owned(), path.to_string_lossy().into_owned());
        };
        lead("HOME", &home);
        lead("TMPDIR", Path::new(TEMPORARY_FROM_HERE));
        // What is there for as long as the browser runs: it is empty at each start.
        lead("XDG_RUNTIME_DIR", &temporary);
        // A desktop's settings are not seen from here: without this, each start makes a base of its own for
        // them.
        lead("GSETTINGS_BACKEND", Path::new("memory"));
        for (name, variable) in FOLDERS {
            let path = home.join(name);
            folder_or_nothing(&path)?;
            if let Some(variable) = variable {
                lead(variable, &path);
            }
        }
        folder(&home.join(CONFIG))?;
        downloads(&home, &options.files)?;
        let shown = show(options, &home)?;
        let mut sockets = Vec::new();
        if options.headed {
            display(options, &home, &mut variables)?;
            sockets = display_sockets(&variables);
        }
        Ok(Self { shown, sockets, variables })
    }

    /// The variables of a browser that lives here; `passed` are those that it would have otherwise.
    pub(in crate::launch) fn variables(
        &self,
        passed: BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let stays =
            |name: &str| matches!(name, "PATH" | "LANG" | "TZ") || name.starts_with("FONTCONFIG_");
        let kept = passed.into_iter().filter(|(name, _)| stays(name));
        // Without an address, libraries look for a bus, or start one.
        let none = ("DBUS_SESSION_BUS_ADDRESS".to_owned(), "disabled:".to_owned());
        kept.chain([none]).chain(self.variables.clone()).collect()
    }
}

/// A folder that only its user may enter; what else is there gives way.
fn folder(path: &Path) -> Result<(), LaunchError> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    clear(path)?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(LaunchError::file("create", path))
}

/// Takes away what is there and is no folder.
fn folder_or_nothing(path: &Path) -> Result<(), LaunchError> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_dir() => clear(path),
        _ => Ok(()),
    }
}

/// Removes a file, a link or a folder with all that is in it.
fn clear(path: &Path) -> Result<(), LaunchError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LaunchError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// A new file, in the place of whatever is there.
fn write(path: &Path, bytes: &[u8]) -> Result<(), LaunchError> {
    clear(path)?;
    let opened = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    opened
        .and_then(|mut file| io::Write::write_all(&mut file, bytes))
        .map_err(LaunchError::file("write", path))
}

/// Downloads go among the session's files, unless a client says otherwise.
fn downloads(home: &Path, files: &Path) -> Result<(), LaunchError> {
    let folder = files.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let line = format!("XDG_DOWNLOAD_DIR=\"{folder}\"\n");
    write(&home.join(CONFIG).join("user-dirs.dirs"), line.as_bytes())
}

/// Links to what is seen of the user's own home. A folder of the browser's own is left where the user
/// has none.
fn show(options: &LaunchOptions, home: &Path) -> Result<Vec<PathBuf>, LaunchError> {
    let Some(own) = options.inherited.get("HOME").map(Path::new) else { return Ok(Vec::new()) };
    let mut shown = Vec::new();
    for name in SHOWN {
        let (real, link) = (own.join(name), home.join(name));
        let was_link = fs::symlink_metadata(&link).is_ok_and(|found| found.is_symlink());
        if real.exists() {
            clear(&link)?;
            link.parent().map_or(Ok(()), folder)?;
            symlink(&real, &link).map_err(LaunchError::file("link", &link))?;
            shown.push(real);
        } else if was_link {
            clear(&link)?;
        }
    }
    Ok(shown)
}

/// How a browser with windows reaches the display: by a copy of the cookie that opens it.
fn display(
    options: &LaunchOptions,
    home: &Path,
    variables: &mut BTreeMap<String, String>,
) -> Result<(), LaunchError> {
    let given = |name: &str| options.inherited.get(name);
    let mut keep = |name: &str, value: String| {
        variables.insert(name.to_owned(), value);
    };
    if let Some(display) = given("DISPLAY") {
        keep("DISPLAY", display.clone());
    }
    if let (Some(socket), Some(folder)) = (given("WAYLAND_DISPLAY"), given("XDG_RUNTIME_DIR")) {
        keep("WAYLAND_DISPLAY", Path::new(folder).join(socket).to_string_lossy().into_owned());
    }
    let usual = || given("HOME").map(|own| Path::new(own).join(".Xauthority"));
    let cookies = given("XAUTHORITY").map(PathBuf::from).or_else(usual);
    let fits = |path: &PathBuf| {
        path.metadata().is_ok_and(|found| found.is_file() && found.len() <= COOKIES_LIMIT)
    };
    if let Some(cookies) = cookies.filter(fits) {
        let bytes = fs::read(&cookies).map_err(LaunchError::file("read", &cookies))?;
        let copy = home.join(".Xauthority");
        write(&copy, &bytes)?;
        keep("XAUTHORITY", copy.to_string_lossy().into_owned());
    }
    Ok(())
}

/// Where the X servers of this machine listen, beside their abstract sockets, which are no files.
const X_SOCKETS: &str = "/tmp/.X11-unix";

/// Where the display listens that these variables name: as `:1`, `:1.0` or `unix:1`, and by a whole path.
fn display_sockets(variables: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let named = variables.get("DISPLAY").and_then(|name| {
        let number = name.strip_prefix("unix").unwrap_or(name).strip_prefix(':')?;
        let number = number.split('.').next()?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("{X_SOCKETS}/X{number}"))
    });
    let sockets = named.into_iter().chain(variables.get("WAYLAND_DISPLAY").cloned());
    sockets.map(PathBuf::from).filter(|path| is_socket(path)).collect()
}

/// Whether it is one, and no folder that would be shown as a whole.
fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_is_its_socket_and_nothing_beside() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("wayland-0");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let at = |name: &str, value: &Path| {
            let value = value.to_str().unwrap().to_owned();
            display_sockets(&[(name.to_owned(), value)].into())
        };
        assert_eq!(at("WAYLAND_DISPLAY", &socket), [socket.as_path()]);
        assert!(at("WAYLAND_DISPLAY", folder.path()).is_empty());
        for display in ["", ":", ":1/../../../etc", "host:1", "/tmp"] {
            assert!(at("DISPLAY", Path::new(display)).is_empty(), "{display}");
        }
    }

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
            (
                "/home/ada/.cache/baton/browsers/chrome-1/chrome",
                "/home/ada/.cache/baton/browsers/chrome-1",
            ),
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
