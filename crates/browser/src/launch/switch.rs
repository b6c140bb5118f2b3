//! Switches of Chromium that people add, and those that would undo what Baton does.

use std::fmt;
use std::str::FromStr;

/// A switch that may stand beside ours, such as `--mute-audio` or `--lang=de`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch(String);

/// Names of switches that are Baton's own affair, whole or by their beginning, and why.
const OURS: &[(&str, &str)] = &[
    ("remote-debugging-", "the browser is spoken to by its keeper alone"),
    ("user-data-dir", "each session has a profile of its own"),
    ("profile-directory", "each session has a profile of its own"),
    ("held-by-baton", "it marks browsers that Baton started"),
    ("proxy-", "the way out of a session is not a matter of its browser"),
    ("no-proxy-server", "the way out of a session is not a matter of its browser"),
    ("host-rules", "the way out of a session is not a matter of its browser"),
    ("host-resolver-rules", "the way out of a session is not a matter of its browser"),
    ("webrtc-", "the way out of a session is not a matter of its browser"),
    ("force-webrtc-", "the way out of a session is not a matter of its browser"),
    ("no-sandbox", "browser.sandbox = \"off\" says that, with a warning"),
    ("disable-setuid-sandbox", "browser.sandbox = \"off\" says that, with a warning"),
    ("disable-namespace-sandbox", "browser.sandbox = \"off\" says that, with a warning"),
    ("disable-seccomp-filter-sandbox", "browser.sandbox = \"off\" says that, with a warning"),
    ("disable-gpu-sandbox", "browser.sandbox = \"off\" says that, with a warning"),
    ("no-zygote", "browser.sandbox = \"off\" says that, with a warning"),
    ("single-process", "browser.sandbox = \"off\" says that, with a warning"),
    ("log-file", "what the browser logs goes to the log of its keeper"),
    ("enable-logging", "what the browser logs goes to the log of its keeper"),
    ("crash-dumps-dir", "the browser writes to its own folders alone"),
    ("disk-cache-dir", "the browser writes to its own folders alone"),
    ("headless", "baton open --headed shows a window"),
    ("restore-last-session", "Baton brings the tabs back"),
    ("password-store", "cookies would be sealed by a key that no other machine has"),
    ("use-mock-keychain", "cookies would be sealed by a key that no other machine has"),
];

/// Why a text is no switch that may stand beside ours.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NotSwitch {
    /// It is none at all.
    #[error("expected a switch such as --mute-audio, found {0:?}")]
    Other(String),
    /// It is one of those that Baton sets.
    #[error("expected switches that are not Baton's own, found {switch}: {why}")]
    Ours {
        /// The switch.
        switch: String,
        /// Why it is Baton's own.
        why: &'static str,
    },
}

impl FromStr for Switch {
    type Err = NotSwitch;

    fn from_str(text: &str) -> Result<Self, NotSwitch> {
        // Chromium takes switches in any case, and with one dash too (`base/command_line.cc`).
        let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-')).unwrap_or_default();
        let name = name.split('=').next().unwrap_or_default().to_ascii_lowercase();
        if name.is_empty() || name.contains(char::is_whitespace) || text.contains('\0') {
            return Err(NotSwitch::Other(text.to_owned()));
        }
        let is_ours = |own: &str| {
            if own.ends_with('-') { name.starts_with(own) } else { name == own }
        };
        match OURS.iter().find(|(own, _)| is_ours(own)) {
            Some((_, why)) => Err(NotSwitch::Ours { switch: text.to_owned(), why }),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_undo_ours_is_refused_however_it_is_written() {
        for text in [
            "--remote-debugging-port=9222",
            "--Remote-Debugging-Address=0.0.0.0",
            "-user-data-dir=/tmp/x",
            "--proxy-server=evil.test:1",
            "--proxy-pac-url=http://evil.test",
            "--no-proxy-server",
            "--host-resolver-rules=MAP * evil.test",
            "--host-rules=MAP * evil.test",
            "--webrtc-ip-handling-policy=default",
            "--no-sandbox",
            "--NO-SANDBOX",
            "--log-file=/tmp/x",
        ] {
            let refused = text.parse::<Switch>().unwrap_err();
            assert!(matches!(refused, NotSwitch::Ours { .. }), "{text}: {refused}");
        }
    }

    #[test]
    fn what_is_no_switch_is_refused() {
        for text in ["", "--", "-", "https://evil.test/", "--=x", "--a b", "--x=\0"] {
            assert!(matches!(text.parse::<Switch>(), Err(NotSwitch::Other(_))), "{text:?}");
        }
        for text in ["--mute-audio", "--lang=de", "--user-agent=A B", "--proxying"] {
            assert_eq!(text.parse::<Switch>().unwrap().to_string(), text);
        }
    }
}
