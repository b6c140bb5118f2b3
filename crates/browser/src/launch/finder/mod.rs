//! Which browser is started: the one that the settings name, else the best that is there.
//!
//! The one idea: to find a browser costs a few looks at folders. No program is started for it; who wants to
//! know more of one, as `baton doctor`, asks it with [`version`](super::version).

mod kind;
mod places;

pub use kind::{BrowserChoice, BrowserKind};
pub use places::{BrowserPlaces, FoundBrowser};

use super::browser_version::BrowserVersion;
use super::options::LaunchError;
pub(crate) use places::is_program;
use std::path::{Path, PathBuf};

/// The browser to start: the one that was chosen, else the best that is there and not too old.
pub fn find_browser(
    choice: Option<&BrowserChoice>,
    places: &BrowserPlaces,
) -> Result<PathBuf, LaunchError> {
    let kinds: Vec<BrowserKind> = match choice {
        Some(BrowserChoice::Program(path)) => return named(path),
        Some(BrowserChoice::Kind(kind)) => vec![*kind],
        None => BrowserKind::ALL.into(),
    };
    let mut too_old = None;
    for found in kinds.iter().flat_map(|kind| places.of_kind(*kind)) {
        match found.version {
            Some(version) if version.is_too_old() => {
                too_old.get_or_insert(LaunchError::TooOld { program: found.program, version });
            }
            _ => return Ok(found.program),
        }
    }
    let tried = |kind: &BrowserKind| Some(places.tried(*kind)).filter(|tried| !tried.is_empty());
    Err(too_old.unwrap_or_else(|| LaunchError::NotFound {
        wanted: match choice {
            Some(BrowserChoice::Kind(kind)) => kind.name(),
            _ => "Chromium",
        },
        tried: kinds.iter().filter_map(tried).collect::<Vec<_>>().join(", "),
    }))
}

/// All browsers that are there, in the order in which they are looked for.
pub fn all_browsers(places: &BrowserPlaces) -> Vec<FoundBrowser> {
    BrowserKind::ALL.into_iter().flat_map(|kind| places.of_kind(kind)).collect()
}

/// That a browser that runs is not too old. `version` is what it says of itself, such as
/// `Chrome/156.0.8078.79`; one that says nothing may be any.
pub(crate) fn expect_supported(program: &Path, version: &str) -> Result<(), LaunchError> {
    match BrowserVersion::in_text(version) {
        Some(version) if version.is_too_old() => {
            Err(LaunchError::TooOld { program: program.to_owned(), version })
        }
        _ => Ok(()),
    }
}

fn named(path: &Path) -> Result<PathBuf, LaunchError> {
    if is_program(path) {
        return Ok(path.to_owned());
    }
    let found = if path.exists() { "a file that cannot be run" } else { "nothing" };
    Err(BrowserChoice::not_runnable(path.to_owned(), found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// A machine in a folder.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        /// Files that can be run, or not.
        fn with(&self, paths: &[&str], mode: u32) -> &Self {
            for path in paths {
                let path = self.path(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, "").unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            self
        }

        fn places(&self, more: &[(&str, &str)]) -> BrowserPlaces {
            let of_here = [("PATH", "usr/bin"), ("HOME", "home")];
            let all = of_here.iter().chain(more).map(|(name, path)| {
                let path = if *path == "0" { PathBuf::from(path) } else { self.path(path) };
                ((*name).to_owned(), path.to_str().unwrap().to_owned())
            });
            let variables: BTreeMap<String, String> = all.collect();
            BrowserPlaces::of(&variables).below(self.0.path())
        }

        /// What is found, without the folder's own path.
        fn all(&self, more: &[(&str, &str)]) -> String {
            let lines = all_browsers(&self.places(more)).into_iter().map(|found| {
                let version = found.version.map(|one| one.to_string()).unwrap_or_default();
                let path = found.program.strip_prefix(self.0.path()).unwrap().display().to_string();
                format!("{} {version} {path}", found.kind)
            });
            lines.collect::<Vec<_>>().join("\n")
        }

        fn found(&self, choice: Option<&str>) -> String {
            let choice = choice.map(|choice| choice.parse().unwrap());
            let text = match find_browser(choice.as_ref(), &self.places(&[])) {
                Ok(program) => program.display().to_string(),
                Err(error) => error.to_string(),
            };
            text.replace(self.0.path().to_str().unwrap(), "")
        }
    }

    const CACHES: [&str; 10] = [
        "home/.cache/ms-playwright/chromium-999/chrome-linux/chrome",
        "home/.cache/ms-playwright/chromium-1200/chrome-linux64/chrome",
        "home/.cache/ms-playwright/chromium_headless_shell-1300/chrome-linux/headless_shell",
        "home/.cache/ms-playwright/chromium-tip-of-tree-1400/chrome-linux/chrome",
        "home/.cache/ms-playwright/firefox-1500/firefox/firefox",
        "home/.cache/puppeteer/chrome/linux-149.0.1.2/chrome-linux64/chrome",
        "home/.cache/puppeteer/chrome/linux-150.0.1.2/chrome-linux64/chrome",
        "home/.cache/puppeteer/chrome/mac_arm-151.0.1.2/chrome-linux64/chrome",
        "home/.cache/baton/browsers/chrome-156.0.1.9/chrome",
        "home/.cache/baton/browsers/chrome-156.0.1.10/chrome",
    ];

    #[test]
    fn every_browser_of_a_machine_is_found_in_the_order_in_which_it_is_looked_for() {
        let machine = Machine::new();
        machine.with(&CACHES, 0o755).with(
            &[
                "usr/bin/brave-browser",
                "opt/microsoft/msedge/msedge",
                "usr/bin/google-chrome",
                "usr/bin/google-chrome-stable",
                "usr/bin/chromium",
                "usr/lib/chromium/chromium",
                "home/.cache/baton/browsers/.unpacking-1/chrome",
                "home/.cache/baton/browsers/chrome-156/chrome",
            ],
            0o755,
        );
        machine.with(&["home/.cache/baton/browsers/chrome-157.0.0.0/chrome"], 0o644);
        insta::assert_snapshot!(machine.all(&[]), @r"
        chromium  usr/lib/chromium/chromium
        chrome  usr/bin/google-chrome-stable
        chrome-for-testing 156.0.1.10 home/.cache/baton/browsers/chrome-156.0.1.10/chrome
        chrome-for-testing 156.0.1.9 home/.cache/baton/browsers/chrome-156.0.1.9/chrome
        playwright  home/.cache/ms-playwright/chromium-1200/chrome-linux64/chrome
        playwright  home/.cache/ms-playwright/chromium-999/chrome-linux/chrome
        puppeteer 150.0.1.2 home/.cache/puppeteer/chrome/linux-150.0.1.2/chrome-linux64/chrome
        puppeteer 149.0.1.2 home/.cache/puppeteer/chrome/linux-149.0.1.2/chrome-linux64/chrome
        edge  opt/microsoft/msedge/msedge
        brave  usr/bin/brave-browser
        ");
        let choices = [None, Some("chrome"), Some("playwright"), Some("puppeteer"), Some("edge")];
        insta::assert_snapshot!(choices.map(|choice| machine.found(choice)).join("\n"), @r"
        /usr/lib/chromium/chromium
        /usr/bin/google-chrome-stable
        /home/.cache/ms-playwright/chromium-1200/chrome-linux64/chrome
        /home/.cache/puppeteer/chrome/linux-150.0.1.2/chrome-linux64/chrome
        /opt/microsoft/msedge/msedge
        ");
    }

    #[test]
    fn caches_lie_where_the_variables_say() {
        let machine = Machine::new();
        machine.with(
            &[
                "cache/ms-playwright/chromium-1/chrome-linux/chrome",
                "shared/chromium-2/chrome-linux/chrome",
                "pptr/chrome/linux-150.0.1.2/chrome-linux64/chrome",
            ],
            0o755,
        );
        let cache = ("XDG_CACHE_HOME", "cache");
        let named = ("PLAYWRIGHT_BROWSERS_PATH", "shared");
        let own = ("PLAYWRIGHT_BROWSERS_PATH", "0");
        assert_eq!(machine.all(&[]), "");
        let found = machine.all(&[cache]);
        assert_eq!(found, "playwright  cache/ms-playwright/chromium-1/chrome-linux/chrome");
        assert_eq!(machine.all(&[cache, own]), found);
        assert_eq!(
            machine.all(&[cache, named]),
            "playwright  shared/chromium-2/chrome-linux/chrome"
        );
        let found = machine.all(&[("PUPPETEER_CACHE_DIR", "pptr")]);
        assert_eq!(found, "puppeteer 150.0.1.2 pptr/chrome/linux-150.0.1.2/chrome-linux64/chrome");
    }

    #[test]
    fn what_is_not_there_is_told_with_what_to_type() {
        let machine = Machine::new();
        insta::assert_snapshot!(machine.found(None), @r"
        expected Chromium, found none of /usr/lib/chromium/chromium, /usr/lib64/chromium-browser/chromium-browser, chromium, chromium-browser, google-chrome-stable, google-chrome, chrome, /opt/google/chrome/chrome, /home/.cache/baton/browsers, /home/.cache/ms-playwright, /home/.cache/puppeteer, microsoft-edge-stable, microsoft-edge, /opt/microsoft/msedge/msedge, brave-browser-stable, brave-browser, brave, /opt/brave.com/brave/brave
        install one with `baton browser install` or `apt-get install chromium`, or name a Chrome or Chromium program in browser.program
        ");
        insta::assert_snapshot!(machine.found(Some("puppeteer")), @r"
        expected puppeteer, found none of /home/.cache/puppeteer
        install one with `baton browser install` or `apt-get install chromium`, or name a Chrome or Chromium program in browser.program
        ");
        insta::assert_snapshot!(machine.found(Some("chrmium")), @r"
        expected a Chromium program at chrmium, found nothing
        names are chromium, chrome, chrome-for-testing, playwright, puppeteer, edge, brave; all else is a path
        ");
        insta::assert_snapshot!(machine.found(Some("/nowhere/chrome")), @"expected a Chromium program at /nowhere/chrome, found nothing");
    }

    #[test]
    fn one_that_is_too_old_is_passed_over_and_told_where_there_is_no_other() {
        let machine = Machine::new();
        machine.with(&["home/.cache/baton/browsers/chrome-129.0.6668.100/chrome"], 0o755);
        insta::assert_snapshot!(machine.found(None), @r#"
        expected Chromium 130 or newer at /home/.cache/baton/browsers/chrome-129.0.6668.100/chrome, found 129.0.6668.100
        update it, or install a newer one with `baton browser install` and set browser.program = "chrome-for-testing"
        "#);
        machine.with(&[CACHES[6]], 0o755);
        let other = machine.found(None);
        assert!(other.contains("/linux-150.0.1.2/"), "{other}");
        let chosen = machine.found(Some("chrome-for-testing"));
        assert!(chosen.contains("found 129.0.6668.100"), "{chosen}");
    }

    #[test]
    fn one_that_says_when_it_runs_that_it_is_too_old_is_not_kept() {
        let program = Path::new("/usr/bin/chromium");
        let refused = expect_supported(program, "Chrome/129.0.6668.100").unwrap_err().to_string();
        assert!(
            refused.starts_with("expected Chromium 130 or newer at /usr/bin/chromium"),
            "{refused}"
        );
        for version in ["Chrome/130.0.0.0", "Chrome/200.0.0.0", "Chrome/1", ""] {
            assert!(expect_supported(program, version).is_ok(), "{version}");
        }
    }
}
