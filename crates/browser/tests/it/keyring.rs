//! The password with which a real Chromium encrypts its cookies, from a real keyring.

use crate::desktop::Desktop;
use crate::fixture::{Kept, options, spec};
use crate::profiles::{losses, now};
use baton_browser::keeper::{self, BrowserSpec, Role};
use baton_browser::launch::LaunchOptions;
use baton_browser::profile::crypt::{self, CryptError, EncryptionKey, Keys};
use baton_browser::profile::keyring::{KeyringError, Product, password};
use baton_browser::profile::read::{ProfileFolder, Read, read};
use rusqlite::Connection;
use secrecy::ExposeSecret;
use serde_json::json;
use std::path::Path;

const HOST: &str = "app.test";

/// A row of a cookie store: the value as it is, encrypted, and the version of the store.
struct Row {
    value: String,
    encrypted: Vec<u8>,
    schema: u32,
}

/// Lets a browser keep a cookie, and reads what it wrote; also as whoever asks this bus for a password.
async fn kept_cookie(
    change: impl FnOnce(&Path) -> LaunchOptions,
    bus: Option<&str>,
) -> (Row, Read) {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    let browser = BrowserSpec::Launch(Box::new(change(&profile)));
    let spec = spec(folder.path(), browser);
    let kept = Kept::start(folder, spec).await.unwrap();
    let node = kept.connect(Role::Node).await;
    let expires = jiff::Timestamp::now().as_second() + 86_400;
    let url = format!("https://{HOST}/");
    let cookie = json!({"name": "login", "value": "kept", "url": url, "expires": expires});
    let browser = node.connection.browser();
    browser.call("Storage.setCookies", json!({"cookies": [cookie]})).await.unwrap();
    keeper::close(&node.connection).await.unwrap();
    let mut ask = || password(Product::Chromium, bus);
    let found = ProfileFolder::find(&profile).unwrap();
    let read = (row_of(&profile), read(&found, &mut ask, now()));
    kept.joined().await;
    read
}

fn row_of(profile: &Path) -> Row {
    let store = Connection::open(profile.join("Default/Cookies")).unwrap();
    let schema: String = store
        .query_row("select value from meta where key = 'version'", [], |row| row.get(0))
        .unwrap();
    let row = "select value, encrypted_value from cookies where name = 'login'";
    let (value, encrypted) =
        store.query_row(row, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    Row { value, encrypted, schema: schema.parse().unwrap() }
}

/// The mark of an encrypted value.
fn mark(row: &Row) -> &[u8] {
    &row.encrypted[..3]
}

#[tokio::test]
async fn a_cookie_opens_with_the_password_from_the_keyring_and_for_its_host_alone() {
    let desktop = Desktop::with_keyring().await;
    let bus = Some(desktop.bus.as_str());
    let absent = password(Product::Chromium, bus).unwrap_err();
    assert_eq!(absent, KeyringError::NoItem { application: "chromium" });

    let (row, read) = kept_cookie(|profile| desktop.options(profile), bus).await;
    assert_eq!((row.value.as_str(), mark(&row)), ("", &b"v11"[..]));
    assert_eq!(read.state.cookies[0].value, "kept");
    assert_eq!(losses(&read.left_out), Vec::<String>::new());
    let secret = password(Product::Chromium, bus).unwrap();
    let keys = Keys::new(Some(EncryptionKey::from_password(secret.expose_secret().as_bytes())));
    assert_eq!(crypt::open(&row.encrypted, HOST, &keys, row.schema).unwrap(), "kept");

    let elsewhere = crypt::open(&row.encrypted, "evil.test", &keys, row.schema).unwrap_err();
    assert_eq!(elsewhere, CryptError::OtherHost);
    let none = Keys::new(None);
    let closed = crypt::open(&row.encrypted, HOST, &none, row.schema).unwrap_err();
    assert_eq!(closed, CryptError::NoKeyringKey);
    let absent = password(Product::Brave, bus).unwrap_err();
    assert_eq!(absent, KeyringError::NoItem { application: "brave" });

    desktop.lock().await;
    assert_eq!(password(Product::Chromium, bus).unwrap_err(), KeyringError::Locked);
}

#[tokio::test]
async fn a_browser_that_gets_no_password_encrypts_with_one_that_all_know() {
    let (bare, locked) = (Desktop::bare(), Desktop::with_keyring().await);
    locked.lock().await;
    for (row, read) in [
        kept_cookie(options, None).await,
        kept_cookie(|profile| bare.options(profile), None).await,
        kept_cookie(|profile| locked.options(profile), None).await,
    ] {
        assert_eq!(read.state.cookies[0].value, "kept");
        assert_eq!((row.value.as_str(), mark(&row)), ("", &b"v10"[..]));
        let keys = Keys::new(None);
        assert_eq!(crypt::open(&row.encrypted, HOST, &keys, row.schema).unwrap(), "kept");
    }
}

#[tokio::test]
async fn without_a_bus_or_a_keyring_it_says_what_to_do() {
    let nowhere = tempfile::tempdir().unwrap();
    let nowhere = format!("unix:path={}", nowhere.path().join("bus").display());
    for bus in [None, Some(nowhere.as_str())] {
        let refused = password(Product::Chromium, bus).unwrap_err();
        assert!(matches!(refused, KeyringError::NoBus { .. }), "{refused}");
        assert!(refused.to_string().contains("run this in the desktop session"), "{refused}");
    }
    let bare = Desktop::bare();
    let refused = password(Product::Chromium, Some(&bare.bus)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "expected a keyring on the session bus, found none (The name org.freedesktop.secrets was \
         not provided by any .service files)\n\
         start the one that the browser uses, such as gnome-keyring; KWallet is read only where \
         it offers the Secret Service"
    );
}
