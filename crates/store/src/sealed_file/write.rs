//! Writes a sealed file.

use super::header::Header;
use super::{FileKey, PIECE, SealedFileError, nonce};
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use std::io::{self, Write};

/// Seals what is written to it. What was written counts only after [`finish`](Self::finish).
pub struct SealedWriter<W> {
    to: W,
    cipher: Aes256Gcm,
    header: Header,
    number: u64,
    piece: Vec<u8>,
}

impl<W: Write> SealedWriter<W> {
    /// Writes the header. With a passphrase this takes about a fifth of a second.
    pub fn create(mut to: W, key: &FileKey) -> Result<Self, SealedFileError> {
        let header = Header::create(key)?;
        to.write_all(&header.bytes)?;
        let cipher = Aes256Gcm::new((&*header.key).into());
        Ok(Self { to, cipher, header, number: 0, piece: Vec::with_capacity(PIECE) })
    }

    /// Writes the last piece, and gives back what was written to; it is not synced.
    pub fn finish(mut self) -> io::Result<W> {
        self.seal(true)?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn seal(&mut self, last: bool) -> io::Result<()> {
        let payload = Payload { msg: &self.piece, aad: &self.header.bytes };
        let sealed = self
            .cipher
            .encrypt(&Nonce::from(nonce(self.number, last)), payload)
            .map_err(|_| io::Error::other("a piece could not be sealed"))?;
        self.number += 1;
        self.piece.clear();
        self.to.write_all(&sealed)
    }
}

impl<W: Write> Write for SealedWriter<W> {
    /// A full piece is sealed when the next byte comes, so that the last one is never empty unless
    /// nothing was written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() == PIECE && !bytes.is_empty() {
            self.seal(false)?;
        }
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// A piece is sealed when it is full; there is nothing to push out before.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
