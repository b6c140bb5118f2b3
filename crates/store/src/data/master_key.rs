//! The master key of a data folder, wherever it comes from.

use super::DataFolder;
use crate::master_key::{KeyError, MasterKey};
use secrecy::{ExposeSecret, SecretString};

impl DataFolder {
    /// The master key: `text`, in base64, when it does not come from the folder, or else what is in its
    /// file. None is made.
    pub fn master_key(&self, text: Option<&SecretString>) -> Result<MasterKey, KeyError> {
        match text {
            Some(text) => MasterKey::from_base64(text.expose_secret()),
            None => MasterKey::load(&self.key()),
        }
    }
}
