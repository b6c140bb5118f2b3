//! Asks the Secret Service, the interface on the session bus that keyrings have.
//!
//! The one idea: what counts is the collection in which Chromium looks, the default one. Another
//! counts only where that has nothing, for older browsers searched them all.

use super::KeyringError;
use secrecy::SecretString;
use serde::Serialize;
use std::collections::HashMap;
use zbus::connection::Builder;
use zbus::{
    Connection, DBusError as _, DynamicType, Error, Message, ObjectPath, OwnedObjectPath,
    OwnedVariant, Variant, fdo,
};
use zeroize::Zeroizing;

const SERVICE: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
/// The path that means none.
const NO_PATH: &str = "/";

/// What `GetSecret` gives: session, parameters of its encryption, value, type of the value.
type EncryptedSecret = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);

/// The password of an application.
pub(super) async fn password(
    bus: &str,
    application: &'static str,
) -> Result<SecretString, KeyringError> {
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

/// What a search tells.
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
