//! The password with which a browser encrypts its cookies, from the keyring of the desktop.
//!
//! The one idea: we look, and change nothing. No keyring is unlocked, no person is prompted, and nothing is
//! stored; what is not there for the asking is an error that says what to do.
//!
//! The Secret Service is the interface on the session bus that keyrings have. What counts is the collection
//! in which Chromium looks, the default one. Another
//! counts only where that has nothing, for older browsers searched them all.

use secrecy::SecretString;
use serde::Serialize;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;
use zbus::connection::Builder;
use zbus::{
    Connection, DBusError as _, DynamicType, Error, Message, ObjectPath, OwnedObjectPath,
    OwnedVariant, Variant, fdo,
};
use zeroize::Zeroizing;

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

/// The password of a browser. `bus` is the address of the session bus, as [`session_bus`] finds it.
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
            let answer = look_up(bus, application);
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

const SERVICE: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
/// The path that means none.
const NO_PATH: &str = "/";

/// What `GetSecret` gives: session, parameters of its encryption, value, type of the value.
type EncryptedSecret = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);

/// The password of an application.
async fn look_up(bus: &str, application: &'static str) -> Result<SecretString, KeyringError> {
    let connected = Builder::address(bus).build().await;
    let bus = connected.map_err(|error| KeyringError::NoBus { found: error.to_string() })?;
    let keyring = Keyring { bus, application };
    let item = keyring.find().await?;
    keyring.read(&item).await
}

/// A keyring on a bus, and whose password we want of it.
struct Keyring {
    bus: Connection,
    application: &'static str,
}

impl Keyring {
    /// The item that holds the password. Chromium, too, knows it by this attribute alone.
    async fn find(&self) -> Result<OwnedObjectPath, KeyringError> {
        let alias = self.call(ROOT, "Service", "ReadAlias", &"default").await?;
        let default: OwnedObjectPath = alias.body().deserialize().map_err(unexpected)?;
        let attributes = HashMap::from([("application", self.application)]);
        let found = self.call(ROOT, "Service", "SearchItems", &attributes).await?;
        let (open, locked): (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) =
            found.body().deserialize().map_err(unexpected)?;
        match choose(&default, &open, &locked) {
            SearchResult::Item(item) => Ok(item.clone()),
            SearchResult::Locked => Err(KeyringError::Locked),
            // Some keyrings do not tell what a locked collection holds.
            SearchResult::None if self.is_locked(&default).await? => Err(KeyringError::Locked),
            SearchResult::None => Err(KeyringError::NoItem { application: self.application }),
        }
    }

    async fn is_locked(&self, collection: &OwnedObjectPath) -> Result<bool, KeyringError> {
        if collection.as_str() == NO_PATH {
            return Ok(false);
        }
        let property = ("org.freedesktop.Secret.Collection", "Locked");
        let asked = self.bus.call_method(
            Some(SERVICE),
            collection.as_str(),
            Some("org.freedesktop.DBus.Properties"),
            "Get",
            &property,
        );
        let answer = asked.await.map_err(|error| self.refused(error))?;
        let locked: OwnedVariant = answer.body().deserialize().map_err(unexpected)?;
        Ok(matches!(*locked, Variant::Bool(true)))
    }

    /// The session in which a secret is given ends with our connection.
    async fn read(&self, item: &OwnedObjectPath) -> Result<SecretString, KeyringError> {
        let plain = ("plain", Variant::from(""));
        let session = self.call(ROOT, "Service", "OpenSession", &plain).await?;
        let (_, session): (OwnedVariant, OwnedObjectPath) =
            session.body().deserialize().map_err(unexpected)?;
        let session: &ObjectPath<'_> = &session;
        let answer = self.call(item.as_str(), "Item", "GetSecret", session).await?;
        let found = |found: &str| KeyringError::Unexpected { found: found.to_owned() };
        // What the reading says of an odd answer may hold the secret, so it is not passed on.
        let secret: Result<(EncryptedSecret,), _> = answer.body().deserialize();
        let (secret,) = secret.map_err(|_| found("an answer of another form"))?;
        let secret = Zeroizing::new(secret.2);
        match str::from_utf8(&secret) {
            Ok("") => Err(found("an empty one")),
            Ok(text) => Ok(SecretString::from(text)),
            Err(_) => Err(found("one that is no text")),
        }
    }

    async fn call<B: Serialize + DynamicType + Sync>(
        &self,
        path: &str,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Result<Message, KeyringError> {
        let interface = format!("org.freedesktop.Secret.{interface}");
        let asked = self.bus.call_method(Some(SERVICE), path, Some(interface), method, body);
        asked.await.map_err(|error| self.refused(error))
    }

    /// What an answer means that is an error.
    fn refused(&self, error: Error) -> KeyringError {
        match error {
            Error::FDO(error) if is_absence(&error) => {
                let found = error.description().unwrap_or("no more than that").to_owned();
                KeyringError::NoService { found }
            }
            Error::MethodError(name, text, _) => match name.as_str() {
                "org.freedesktop.Secret.Error.IsLocked" => KeyringError::Locked,
                "org.freedesktop.Secret.Error.NoSuchObject" => {
                    KeyringError::NoItem { application: self.application }
                }
                name => unexpected(format!("{name}: {}", text.unwrap_or_default())),
            },
            other => unexpected(other),
        }
    }
}

/// Whether the bus has no keyring, or could not start the one that it knows.
fn is_absence(error: &fdo::Error) -> bool {
    use fdo::Error as E;
    matches!(
        error,
        E::ServiceUnknown(_)
            | E::NameHasNoOwner(_)
            | E::SpawnExecFailed(_)
            | E::SpawnForkFailed(_)
            | E::SpawnChildExited(_)
            | E::SpawnChildSignaled(_)
            | E::SpawnFailed(_)
            | E::SpawnServiceNotFound(_)
    )
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn unexpected(error: impl ToString) -> KeyringError {
    KeyringError::Unexpected { found: error.to_string() }
}

/// What a search of the keyring finds.
#[derive(Debug, PartialEq)]
enum SearchResult<'a> {
    Item(&'a OwnedObjectPath),
    Locked,
    None,
}

/// Of the items that are open and those that are locked, the one that the browser uses.
fn choose<'a>(
    default: &OwnedObjectPath,
    open: &'a [OwnedObjectPath],
    locked: &[OwnedObjectPath],
) -> SearchResult<'a> {
    let inside = |item: &&OwnedObjectPath| {
        let rest = item.as_str().strip_prefix(default.as_str());
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let locked_inside = locked.iter().any(|item| inside(&item));
    match (open.iter().find(inside), open.first()) {
        (Some(item), _) => SearchResult::Item(item),
        _ if locked_inside => SearchResult::Locked,
        (None, Some(item)) => SearchResult::Item(item),
        (None, None) if locked.is_empty() => SearchResult::None,
        (None, None) => SearchResult::Locked,
    }
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

    fn paths(items: &[&str]) -> Vec<OwnedObjectPath> {
        items.iter().map(|item| OwnedObjectPath::try_from(*item).unwrap()).collect()
    }

    #[test]
    fn the_default_collection_comes_first_even_locked() {
        let default = OwnedObjectPath::try_from("/c/login").unwrap();
        let chosen = |open: &[&str], locked: &[&str]| {
            let (open, locked) = (paths(open), paths(locked));
            match choose(&default, &open, &locked) {
                SearchResult::Item(item) => item.to_string(),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(chosen(&["/c/login2/1", "/c/login/7"], &["/c/login/8"]), "/c/login/7");
        assert_eq!(chosen(&["/c/other/1"], &["/c/login/8"]), "Locked");
        assert_eq!(chosen(&["/c/other/1"], &["/c/old/8"]), "/c/other/1");
        assert_eq!(chosen(&[], &["/c/old/8"]), "Locked");
        assert_eq!(chosen(&[], &[]), "None");
    }
}
