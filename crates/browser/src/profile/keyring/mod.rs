//! The password with which a browser encrypts its cookies, from the keyring of the desktop.
//!
//! The one idea: we look, and change nothing. No keyring is unlocked, no person is prompted, and nothing is
//! stored; what is not there for the asking is an error that says what to do.

use secrecy::SecretString;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

#[cfg(target_os = "linux")]
mod secret_service;

/// How long the keyring may take, with all that is asked of it.
const LIMIT: Duration = Duration::from_secs(5);

/// A browser that is made of Chromium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// Chromium itself, and builds that rename nothing.
    Chromium,
    /// Google Chrome, of any channel.
    Chrome,
    /// Microsoft Edge.
    Edge,
    /// Brave.
    Brave,
    /// Vivaldi.
    Vivaldi,
    /// Opera.
    Opera,
}

impl Product {
    /// The attribute `application` of its password. Chromium's and Brave's stand in their source;
    /// Edge, Opera and Vivaldi, whose source is not public, are said to have kept what they found.
    pub fn application(self) -> &'static str {
        match self {
            Self::Chromium | Self::Edge | Self::Opera => "chromium",
            Self::Chrome | Self::Vivaldi => "chrome",
            Self::Brave => "brave",
        }
    }
}

/// Why there is no password. Nothing of a password is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// There is no session bus, or nothing answers there.
    #[error(
        "expected the bus of a desktop session, found {found}\n\
         run this in the desktop session in which the browser runs"
    )]
    NoBus {
        /// What was there instead.
        found: String,
    },
    /// Nothing on the session bus is a keyring.
    #[error(
        "expected a keyring on the session bus, found none ({found})\n\
         start the one that the browser uses, such as gnome-keyring; KWallet is read only where it \
         offers the Secret Service"
    )]
    NoService {
        /// What the bus said.
        found: String,
    },
    /// The keyring, or the part of it that counts, is locked.
    #[error(
        "expected an unlocked keyring, found it locked\n\
         unlock it, as logging in to the desktop or starting the browser does, and try again"
    )]
    Locked,
    /// The keyring has no password of this browser.
    #[error(
        "expected a password of the application {application:?} in the keyring, found none\n\
         name the browser to which the profile belongs, as the user whose profile it is; a password \
         in KWallet is not read"
    )]
    NoItem {
        /// The attribute that was searched for.
        application: &'static str,
    },
    /// The keyring did not answer in time.
    #[error(
        "expected the keyring to answer within {} s, found it silent\n\
         look whether it waits for somebody, and try again",
        .0.as_secs()
    )]
    Silent(Duration),
    /// The keyring answered what it should not.
    #[error("expected the keyring to give a password, found {found}")]
    Unexpected {
        /// What it did instead.
        found: String,
    },
    /// Only Linux has such a keyring.
    #[error("expected Linux, whose keyring speaks the Secret Service, found another system")]
    OtherSystem,
}

/// The address of the session bus: `address` is the caller's `DBUS_SESSION_BUS_ADDRESS`, and
/// `runtime` its `XDG_RUNTIME_DIR`, in which the bus is when no address is given.
pub fn session_bus(address: Option<&OsStr>, runtime: Option<&OsStr>) -> Option<String> {
    let named = address.filter(|address| !address.is_empty());
    if let Some(address) = named {
        return address.to_str().map(str::to_owned);
    }
    let socket = Path::new(runtime?).join("bus");
    let address = format!("unix:path={}", socket.to_str()?);
    socket.exists().then_some(address)
}

/// The password of a browser. `bus` is the address of the session bus, as [`session_bus`] tells it.
///
/// It blocks for at most 5 s. The password comes over the bus as it is: this is a socket of the
/// kernel, on which only the user's own programs are, and any of them may ask the keyring as well.
pub fn password(product: Product, bus: Option<&str>) -> Result<SecretString, KeyringError> {
    let none = || KeyringError::NoBus { found: "none".to_owned() };
    let bus = bus.ok_or_else(none)?;
    let local = bus.split(';').find(|address| address.starts_with("unix:"));
    let elsewhere =
        || KeyringError::NoBus { found: "an address that is no local socket".to_owned() };
    ask(local.ok_or_else(elsewhere)?, product.application(), LIMIT)
}

/// On a thread of its own, so that it may be called from wherever there is a runtime already.
#[cfg(target_os = "linux")]
fn ask(
    bus: &str,
    application: &'static str,
    limit: Duration,
) -> Result<SecretString, KeyringError> {
    let unexpected = |found: String| KeyringError::Unexpected { found };
    std::thread::scope(|scope| {
        let asking = std::thread::Builder::new().name("keyring".to_owned());
        let asking = asking.spawn_scoped(scope, || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| unexpected(error.to_string()))?;
            let answer = secret_service::password(bus, application);
            let answer = runtime.block_on(async { tokio::time::timeout(limit, answer).await });
            runtime.shutdown_background();
            answer.unwrap_or(Err(KeyringError::Silent(limit)))
        });
        let asking = asking.map_err(|error| unexpected(error.to_string()))?;
        asking.join().unwrap_or_else(|_| Err(unexpected("our own failure".to_owned())))
    })
}

#[cfg(not(target_os = "linux"))]
fn ask(_: &str, _: &'static str, _: Duration) -> Result<SecretString, KeyringError> {
    Err(KeyringError::OtherSystem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bus_is_where_it_is_said_to_be_or_in_the_runtime_folder() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = Some(folder.path().as_os_str());
        let named = Some(OsStr::new("unix:path=/named"));
        assert_eq!(session_bus(named, runtime).as_deref(), Some("unix:path=/named"));
        assert_eq!(session_bus(None, runtime), None, "there is no socket");
        std::fs::write(folder.path().join("bus"), "").unwrap();
        let found = format!("unix:path={}/bus", folder.path().display());
        assert_eq!(session_bus(Some(OsStr::new("")), runtime), Some(found));
        assert_eq!(session_bus(None, None), None);
    }

    #[test]
    fn only_a_local_bus_is_asked() {
        for address in [None, Some("tcp:host=keyring.test,port=1"), Some("unixexec:path=/bin/sh")] {
            let refused = password(Product::Chromium, address).unwrap_err();
            assert!(matches!(refused, KeyringError::NoBus { .. }), "{refused}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_bus_that_does_not_answer_is_waited_for_no_longer_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("bus");
        let _listens = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let limit = Duration::from_millis(50);
        let bus = format!("unix:path={}", socket.display());
        let refused = ask(&bus, "chromium", limit).unwrap_err();
        assert_eq!(refused, KeyringError::Silent(limit));
    }
}
