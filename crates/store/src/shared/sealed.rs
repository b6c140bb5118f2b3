//! What is held of a session's revisions, as it is sealed. Revisions name sessions and what is in them.

use super::Shared;
use crate::error::StoreError;
use crate::seal::Seal;
use baton_session::{Owner, SessionId};

/// The most bytes of a session's revisions: those of a hundred heads and older ones, each with a
/// vector of a thousand actors, have a tenth of this.
const BODY_MAX: u64 = 64 << 20;
/// The most bytes of what a list shows of a session.
const ENTRY_MAX: u64 = 1 << 20;

/// Whose revisions they are. What is sealed opens for no other.
#[derive(Debug, Clone)]
pub(super) struct Belongs {
    pub(super) owner: Owner,
    pub(super) session: SessionId,
}

/// Both blobs of a row.
#[derive(Debug)]
pub(super) struct Blobs {
    pub(super) entry: Vec<u8>,
    pub(super) body: Vec<u8>,
}

impl Belongs {
    /// Seals both. What could not be opened again is refused.
    pub(super) fn seal(&self, seal: &Seal, body: &[u8], entry: &[u8]) -> Result<Blobs, StoreError> {
        self.refuse_large(body, BODY_MAX)?;
        self.refuse_large(entry, ENTRY_MAX)?;
        let session = self.session.to_string();
        let corrupt = |error| self.corrupt(error);
        Ok(Blobs {
            body: seal.seal(body, &["shared", self.owner.as_str(), &session]).map_err(corrupt)?,
            entry: seal
                .seal_raw(entry, &["entry", self.owner.as_str(), &session])
                .map_err(corrupt)?,
        })
    }

    /// Opens a body.
    pub(super) fn open(&self, seal: &Seal, sealed: &[u8]) -> Result<Shared, StoreError> {
        let subject = ["shared", self.owner.as_str(), &self.session.to_string()];
        let plain = seal.open(sealed, &subject, BODY_MAX).map_err(|error| self.corrupt(error))?;
        serde_json::from_slice(&plain).map_err(|error| self.corrupt(error))
    }

    /// Opens an entry.
    pub(super) fn open_entry(&self, seal: &Seal, sealed: &[u8]) -> Result<Vec<u8>, StoreError> {
        let subject = ["entry", self.owner.as_str(), &self.session.to_string()];
        seal.open(sealed, &subject, ENTRY_MAX).map_err(|error| self.corrupt(error))
    }

    fn refuse_large(&self, plain: &[u8], limit: u64) -> Result<(), StoreError> {
        if plain.len() as u64 <= limit {
            return Ok(());
        }
        Err(self.corrupt(format!("expected at most {limit} bytes, found {}", plain.len())))
    }

    pub(super) fn corrupt(&self, why: impl std::fmt::Display) -> StoreError {
        StoreError::SharedCorrupt { session: self.session, why: why.to_string() }
    }
}
