//! Opens the values of encrypted cookies; the keyring is asked once, and only when a value needs it.

use crate::profile::crypt::{self, CryptError, Key, Keys};
use crate::profile::keyring::KeyringError;
use secrecy::{ExposeSecret, SecretString};

/// Asks for the password with which the browser of a profile encrypts its cookies.
pub type AskPassword<'a> = dyn FnMut() -> Result<SecretString, KeyringError> + 'a;

/// The keys of one profile, as far as they are known.
pub(super) struct Decryptor<'a> {
    ask: &'a mut AskPassword<'a>,
    keys: Keys,
    /// What the keyring said, once it was asked.
    asked: Option<Result<(), KeyringError>>,
}

impl<'a> Decryptor<'a> {
    pub(super) fn new(ask: &'a mut AskPassword<'a>) -> Self {
        Self { ask, keys: Keys::new(None), asked: None }
    }

    /// The plain text of a value of a host, in a store of this version; or why there is none.
    pub(super) fn open(
        &mut self,
        encrypted: &[u8],
        host_key: &str,
        version: i64,
    ) -> Result<String, String> {
        let schema = u32::try_from(version).unwrap_or(u32::MAX);
        match crypt::open(encrypted, host_key, &self.keys, schema) {
            Err(CryptError::NoKeyringKey) => {
                self.ask_keyring().map_err(|error| one_line(&error))?;
                crypt::open(encrypted, host_key, &self.keys, schema)
                    .map_err(|error| one_line(&error))
            }
            opened => opened.map_err(|error| one_line(&error)),
        }
    }

    fn ask_keyring(&mut self) -> Result<(), KeyringError> {
        let (ask, keys) = (&mut self.ask, &mut self.keys);
        let asked = self.asked.get_or_insert_with(|| {
            let password = ask()?;
            *keys = Keys::new(Some(Key::from_password(password.expose_secret().as_bytes())));
            Ok(())
        });
        asked.clone()
    }
}

/// A line of a receipt has no line breaks.
fn one_line(error: &dyn std::error::Error) -> String {
    error.to_string().replace('\n', "; ")
}
