//! Where browsers of each kind lie on Linux.
//!
//! The one idea: a look at folders, and no program is started. Where a path names the version, as in the
//! caches of tools, the version comes from there.

use super::super::browser_version::BrowserVersion;
use super::kind::BrowserKind;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The most entries of a cache that are looked at.
const ENTRIES: usize = 1000;

/// Where browsers are looked for; read from the caller's environment by the caller.
#[derive(Debug, Clone)]
pub struct BrowserPlaces {
    /// The folders of the `PATH`.
    path: Vec<PathBuf>,
    /// The cache of Playwright.
    playwright: Option<PathBuf>,
    /// The cache of Puppeteer.
    puppeteer: Option<PathBuf>,
    /// Where Baton installs browsers.
    installed: Option<PathBuf>,
    /// What the places of the system are below.
    root: PathBuf,
}

/// A program that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundBrowser {
    /// Whose it is.
    pub kind: BrowserKind,
    /// The program.
    pub program: PathBuf,
    /// Its version, where the path says it.
    pub version: Option<BrowserVersion>,
}

impl BrowserPlaces {
    /// The places that a caller's variables name.
    pub fn of(variables: &BTreeMap<String, String>) -> Self {
        let named = |name: &str| {
            let value = variables.get(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let cache =
            named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
        let in_cache = |name: &str| cache.as_ref().map(|cache| cache.join(name));
        // To Playwright a 0 means the folder of its own package, wherever that is.
        let playwright = named("PLAYWRIGHT_BROWSERS_PATH").filter(|path| path != Path::new("0"));
        // Puppeteer knows no XDG_CACHE_HOME.
        let puppeteer = named("HOME").map(|home| home.join(".cache/puppeteer"));
        Self {
            playwright: playwright.or_else(|| in_cache("ms-playwright")),
            puppeteer: named("PUPPETEER_CACHE_DIR").or(puppeteer),
            installed: in_cache("baton/browsers"),
            ..Self::on_path(variables.get("PATH").map(OsStr::new))
        }
    }

    /// Where Baton installs browsers; none without a home.
    pub fn installed_in(&self) -> Option<&Path> {
        self.installed.as_deref()
    }

    /// What the system has, with the programs on this `PATH`.
    pub fn on_path(path: Option<&OsStr>) -> Self {
        Self {
            path: path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default(),
            playwright: None,
            puppeteer: None,
            installed: None,
            root: PathBuf::from("/"),
        }
    }

    /// All browsers of a kind that are there, the best first.
    pub(super) fn of_kind(&self, kind: BrowserKind) -> Vec<FoundBrowser> {
        let found = |(program, version)| FoundBrowser { kind, program, version };
        match kind {
            BrowserKind::ChromeForTesting => self.installed().into_iter().map(found).collect(),
            BrowserKind::Playwright => self.playwright().into_iter().map(found).collect(),
            BrowserKind::Puppeteer => self.puppeteer().into_iter().map(found).collect(),
            _ => self.of_system(kind).map(|program| found((program, None))).into_iter().collect(),
        }
    }

    /// What was looked for of a kind, for people.
    pub(super) fn tried(&self, kind: BrowserKind) -> String {
        let folder = |folder: &Option<PathBuf>| {
            folder.as_ref().map(|folder| folder.display().to_string()).unwrap_or_default()
        };
        match kind {
            BrowserKind::ChromeForTesting => folder(&self.installed),
            BrowserKind::Playwright => folder(&self.playwright),
            BrowserKind::Puppeteer => folder(&self.puppeteer),
            _ => {
                let Usual { files, names, more } = usual(kind);
                [files, names, more].concat().join(", ")
            }
        }
    }

    /// A browser of the system: real binaries, then names on the path, then binaries again.
    fn of_system(&self, kind: BrowserKind) -> Option<PathBuf> {
        let Usual { files, names, more } = usual(kind);
        let file = |path: &&str| self.root.join(path.trim_start_matches('/'));
        let named = names.iter().flat_map(|name| self.path.iter().map(move |dir| dir.join(name)));
        let all = files.iter().map(file).chain(named).chain(more.iter().map(file));
        { all }.find(|path| is_program(path))
    }

    /// `chrome-VERSION/chrome`, the newest first.
    fn installed(&self) -> Vec<(PathBuf, Option<BrowserVersion>)> {
        let version = |name: &str| name.strip_prefix("chrome-")?.parse::<BrowserVersion>().ok();
        let all = newest_first(self.installed.as_deref(), version);
        let programs = all.into_iter().map(|(version, path)| (path.join("chrome"), Some(version)));
        programs.filter(|(path, _)| is_program(path)).collect()
    }

    /// `chromium-REVISION/chrome-linux/chrome`, or `chrome-linux64` in newer ones; the newest first. The
    /// headless shell, `chromium_headless_shell-REVISION`, is another program.
    fn playwright(&self) -> Vec<(PathBuf, Option<BrowserVersion>)> {
        let revision = |name: &str| name.strip_prefix("chromium-")?.parse::<u32>().ok();
        let all = newest_first(self.playwright.as_deref(), revision);
        let programs = all.into_iter().filter_map(|(_, path)| {
            let folders = ["chrome-linux64", "chrome-linux"];
            let mut programs = folders.map(|folder| path.join(folder).join("chrome")).into_iter();
            programs.find(|path| is_program(path))
        });
        programs.map(|program| (program, None)).collect()
    }

    /// `chrome/linux-VERSION/chrome-linux64/chrome`, the newest first.
    fn puppeteer(&self) -> Vec<(PathBuf, Option<BrowserVersion>)> {
        let folder = self.puppeteer.as_ref().map(|cache| cache.join("chrome"));
        let version = |name: &str| name.strip_prefix("linux-")?.parse::<BrowserVersion>().ok();
        let all = newest_first(folder.as_deref(), version);
        let program =
            |(version, path): (_, PathBuf)| (path.join("chrome-linux64/chrome"), Some(version));
        all.into_iter().map(program).filter(|(path, _)| is_program(path)).collect()
    }
}

/// Where a browser of the system lies.
struct Usual {
    /// Real binaries, preferred to the wrappers on the path: a distribution's wrapper adds switches.
    files: &'static [&'static str],
    /// Names on the path, best first.
    names: &'static [&'static str],
    /// Binaries that are there without a name on the path.
    more: &'static [&'static str],
}

fn usual(kind: BrowserKind) -> Usual {
    match kind {
        BrowserKind::Chromium => Usual {
            files: &["/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser"],
            names: &["chromium", "chromium-browser"],
            more: &[],
        },
        BrowserKind::Chrome => Usual {
            files: &[],
            names: &["google-chrome-stable", "google-chrome", "chrome"],
            more: &["/opt/google/chrome/chrome"],
        },
        BrowserKind::Edge => Usual {
            files: &[],
            names: &["microsoft-edge-stable", "microsoft-edge"],
            more: &["/opt/microsoft/msedge/msedge"],
        },
        BrowserKind::Brave => Usual {
            files: &[],
            names: &["brave-browser-stable", "brave-browser", "brave"],
            more: &["/opt/brave.com/brave/brave"],
        },
        BrowserKind::ChromeForTesting | BrowserKind::Playwright | BrowserKind::Puppeteer => {
            Usual { files: &[], names: &[], more: &[] }
        }
    }
}

/// The folders in one whose names have an order, the last in it first.
fn newest_first<K: Ord + Copy>(
    folder: Option<&Path>,
    order: impl Fn(&str) -> Option<K>,
) -> Vec<(K, PathBuf)> {
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
    let names = entries.into_iter().flatten().flatten().take(ENTRIES);
    let read = |entry: fs::DirEntry| {
        let name: OsString = entry.file_name();
        Some((order(name.to_str()?)?, entry.path()))
    };
    let mut found: Vec<_> = names.filter_map(read).collect();
    found.sort_by(|(one, _), (other, _)| other.cmp(one));
    found
}

/// Whether it is a file that this user may run.
pub(crate) fn is_program(path: &Path) -> bool {
    let access = rustix::fs::access(path, rustix::fs::Access::EXEC_OK);
    access.is_ok() && path.is_file()
}

#[cfg(test)]
impl BrowserPlaces {
    /// The same, with the places of the system below another folder.
    pub(super) fn below(self, root: &Path) -> Self {
        Self { root: root.to_owned(), ..self }
    }
}
