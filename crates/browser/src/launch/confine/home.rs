//! The home of a confined browser: a folder among the session's own files, and links to the few
//! things of its user that it may read.
//!
//! What a browser wrote there may be anything, so every step looks at what is there and follows no link: no
//! other process writes there while the browser does not run.

use super::super::error::LaunchError;
use super::super::options::LaunchOptions;
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

/// Its name among the session's files.
const HOME: &str = ".home";
/// Where the browser puts what it needs for a moment, beside it.
const TEMPORARY: &str = ".tmp";
/// The same for the browser, whose current folder is that of the session's files. Chromium makes a socket
/// there, and the paths of sockets have 107 bytes at most: that of a data folder is longer soon.
const TEMPORARY_FROM_HERE: &str = "/proc/self/cwd/.tmp";
/// The largest file of X cookies that is copied, in bytes.
const COOKIES_LIMIT: u64 = 1 << 20;

/// Folders of the home, and the variables that lead to them.
const FOLDERS: &[(&str, Option<&str>)] = &[
    (".cache", Some("XDG_CACHE_HOME")),
    (".config", Some("XDG_CONFIG_HOME")),
    (".local", None),
    (".local/share", Some("XDG_DATA_HOME")),
    (".local/state", Some("XDG_STATE_HOME")),
    (".pki", None),
    (".run", Some("XDG_RUNTIME_DIR")),
];

/// What of the user's own home is seen, to be read: fonts, and certificates of their own.
const SHOWN: &[&str] =
    &[".fonts", ".local/share/fonts", ".config/fontconfig", ".fonts.conf", ".pki/nssdb"];

/// A home that is ready.
pub(in crate::launch) struct Home {
    /// What of the user's own home the links lead to.
    pub(super) shown: Vec<PathBuf>,
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
        for (name, variable) in FOLDERS {
            let path = home.join(name);
            folder(&path)?;
            if let Some(variable) = variable {
                lead(variable, &path);
            }
        }
        downloads(&home, &options.files)?;
        let shown = show(options, &home)?;
        if options.headed {
            display(options, &home, &mut variables)?;
        }
        Ok(Self { shown, variables })
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
    write(&home.join(".config/user-dirs.dirs"), line.as_bytes())
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
