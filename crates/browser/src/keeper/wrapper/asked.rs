//! What the program that starts a browser asks of it, by its command line: where it wants to be spoken to, on
//! which profile, and with which pages.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Chromium's switches (`content/public/common/content_switches.cc`, `chrome/common/chrome_switches.cc`).
const PORT: &str = "--remote-debugging-port";
pub(super) const PIPE: &str = "--remote-debugging-pipe";
const ADDRESS: &str = "--remote-debugging-address";
const ORIGINS: &str = "--remote-allow-origins";
const PROFILE: &str = "--user-data-dir";
/// What it shows when nobody says otherwise.
pub(super) const BLANK: &str = "about:blank";

/// What was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// At which port of the loopback it is to be spoken to; 0 for any.
    pub(super) port: Option<u16>,
    /// Whether the program speaks over a pipe.
    pub(super) has_pipe: bool,
    /// The profile.
    pub(super) profile: Option<PathBuf>,
    /// Which origins may speak to the port, beside programs that have none; `*` for all.
    pub(super) origins: Vec<String>,
    /// What it is to show, but for blank pages.
    pub(super) pages: Vec<String>,
    /// Whether it is to show a blank page.
    pub(super) has_blank: bool,
    /// The command line without what we do in its place.
    pub(super) arguments: Vec<OsString>,
}

impl Asked {
    /// Reads a command line, without the program.
    pub(super) fn of(arguments: impl IntoIterator<Item = OsString>) -> Self {
        let mut asked = Self::default();
        for argument in arguments {
            let (name, value) = switch(&argument);
            match name {
                PORT => asked.port = Some(value.parse().unwrap_or(0)),
                PIPE => asked.has_pipe = true,
                ADDRESS => {}
                ORIGINS => asked.origins = value.split(',').map(str::to_owned).collect(),
                PROFILE => {
                    let value = argument.as_bytes().get(PROFILE.len() + 1..).unwrap_or_default();
                    // Without a folder the browser has its usual one, in which nobody looks for a note of ours.
                    let folder = PathBuf::from(OsStr::from_bytes(value));
                    asked.profile = (!value.is_empty()).then_some(folder);
                    asked.arguments.push(argument);
                }
                _ if is_page(&argument) => match argument.to_str() {
                    Some(BLANK) | None => {
                        asked.has_blank = true;
                        asked.arguments.push(argument);
                    }
                    Some(page) => asked.pages.push(page.to_owned()),
                },
                _ => asked.arguments.push(argument),
            }
        }
        if !asked.pages.is_empty() {
            asked.begin_blank();
        }
        asked
    }

    /// The first page is made blank, and is led somewhere once it is prepared.
    pub(super) fn begin_blank(&mut self) {
        if !self.has_blank {
            self.has_blank = true;
            self.arguments.push(BLANK.into());
        }
    }

    /// Whether a person starts it, who wants no page of it by name: nobody drives it.
    pub(super) fn is_for_a_person(&self) -> bool {
        self.port.is_none() && !self.has_pipe && self.pages.is_empty() && !self.has_blank
    }
}

/// The name of a switch, and its value; neither of what is none, or no text.
fn switch(argument: &OsStr) -> (&str, &str) {
    let text = argument.to_str().filter(|text| text.starts_with("--")).unwrap_or_default();
    text.split_once('=').unwrap_or((text, ""))
}

fn is_page(argument: &OsStr) -> bool {
    !argument.as_bytes().starts_with(b"-") && !argument.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Asked {
        Asked::of(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn what_is_done_in_its_place_does_not_reach_the_browser() {
        let asked = of("--headless --remote-debugging-port=0 --remote-debugging-address=0.0.0.0 \
             --remote-allow-origins=http://a.test,http://b.test --user-data-dir=/p about:blank");
        assert_eq!(asked.port, Some(0));
        assert_eq!(asked.origins, ["http://a.test", "http://b.test"]);
        assert_eq!(asked.profile, Some("/p".into()));
        assert_eq!(asked.arguments, ["--headless", "--user-data-dir=/p", "about:blank"]);
        assert!(!asked.has_pipe && asked.pages.is_empty());
        assert!(of("--remote-debugging-pipe").has_pipe);
        assert_eq!(of("--remote-debugging-port=9222").port, Some(9222));
        assert_eq!(of("--remote-debugging-port=x").port, Some(0));
        assert_eq!(of("--user-data-dir --user-data-dir=").profile, None);
    }

    #[test]
    fn pages_are_opened_later_in_place_of_a_blank_one() {
        let asked = of("https://a.test/ --incognito https://b.test/");
        assert_eq!(asked.pages, ["https://a.test/", "https://b.test/"]);
        assert_eq!(asked.arguments, ["--incognito", "about:blank"]);
        assert_eq!(of("").arguments, [""; 0]);
        let is_for_a_person = |line| of(line).is_for_a_person();
        assert!(is_for_a_person("--headless --user-data-dir=/p"));
        for line in ["https://a.test/", "about:blank", "--remote-debugging-port=0", PIPE] {
            assert!(!is_for_a_person(line), "{line}");
        }
    }
}
