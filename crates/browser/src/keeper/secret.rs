//! By what a keeper and its node know each other.
//!
//! Any process of the user can knock at a keeper's socket, and could listen at one. So a keeper makes a
//! secret at its start and lays it beside its socket, 0600, where the node of its data folder finds it
//! and no browser can look. Both prove that they know it, and neither shows it.

use super::error::KeeperError;
use super::protocol::{Nonce, Proof, Role, Word};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What a proof is about, so that it proves nothing elsewhere.
const LABEL: &[u8] = b"baton keeper 2";

/// The secret of one keeper.
#[derive(Clone)]
pub(super) struct Secret([u8; 32]);

/// Which of the two proves.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Client,
    Keeper,
}

impl Secret {
    /// A new one, laid beside `socket` in the place of an older one's.
    pub(super) fn create(socket: &Path) -> Result<Self, KeeperError> {
        let secret = Self(rand::random());
        let path = Self::path(socket);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(KeeperError::file("replace", path)(error));
            }
            _ => {}
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(KeeperError::file("create", &path))?;
        file.write_all(&secret.0).map_err(KeeperError::file("write", path))?;
        Ok(secret)
    }

    /// The one beside `socket`; none beside that of a keeper of an older version.
    pub(super) fn read(socket: &Path) -> Result<Option<Self>, KeeperError> {
        let path = Self::path(socket);
        match fs::read(&path) {
            Ok(bytes) => match bytes.try_into() {
                Ok(bytes) => Ok(Some(Self(bytes))),
                Err(found) => Err(KeeperError::NotUnderstood {
                    expected: "32 bytes in the file beside the keeper's socket",
                    found: format!("{} in {}", found.len(), path.display()),
                }),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(KeeperError::file("read", path)(error)),
        }
    }

    /// Removes it from beside `socket`, unless another keeper's lies there by now.
    pub(super) fn remove(&self, socket: &Path) {
        let path = Self::path(socket);
        if fs::read(&path).is_ok_and(|found| found == self.0)
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(path = %path.display(), %error, "a secret was not removed");
        }
    }

    /// Where the secret of the keeper at `socket` lies.
    pub(super) fn path(socket: &Path) -> PathBuf {
        socket.with_extension("key")
    }

    /// The proof of one side that it knows the secret: HMAC-SHA-256.
    pub(super) fn prove(&self, side: Side, role: Role, client: Nonce, keeper: Nonce) -> Proof {
        Word(self.mac(side, role, client, keeper).finalize().into_bytes().into())
    }

    /// Whether a proof holds, in a time that does not tell how near it is.
    pub(super) fn holds(
        &self,
        proof: Proof,
        side: Side,
        role: Role,
        client: Nonce,
        keeper: Nonce,
    ) -> bool {
        self.mac(side, role, client, keeper).verify_slice(&proof.0).is_ok()
    }

    fn mac(&self, side: Side, role: Role, client: Nonce, keeper: Nonce) -> Hmac<Sha256> {
        let mut block = [0; 64];
        block[..self.0.len()].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        let who = [side as u8, role as u8];
        for part in [LABEL, &who, &client.0, &keeper.0] {
            mac.update(part);
        }
        mac
    }
}
