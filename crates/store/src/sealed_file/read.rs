//! Reads a sealed file.

use super::header::{Header, read_kind};
use super::{FileKey, FileKeyKind, PIECE, SealedFileError, TAG, nonce};
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use std::io::{self, Read};
use zeroize::Zeroizing;

/// Gives what was sealed, piece by piece; a piece that does not open is an error of the kind
/// `InvalidData` that holds a [`SealedFileError`].
pub struct SealedReader<R> {
    from: R,
    cipher: Aes256Gcm,
    header: Header,
    number: u64,
    /// The sealed piece that comes next, and one byte more when another follows.
    ahead: Vec<u8>,
    plain: Zeroizing<Vec<u8>>,
    given: usize,
    ended: bool,
}

impl<R: Read> SealedReader<R> {
    /// Reads the header and checks the key. With a passphrase this takes about a fifth of a second.
    pub fn open(mut from: R, key: &FileKey) -> Result<Self, SealedFileError> {
        let header = Header::read(&mut from, key)?;
        let cipher = Aes256Gcm::new((&*header.key).into());
        Ok(Self {
            from,
            cipher,
            header,
            number: 0,
            ahead: Vec::with_capacity(PIECE + TAG + 1),
            plain: Zeroizing::default(),
            given: 0,
            ended: false,
        })
    }

    /// Which kind of key opens the file.
    pub fn kind(mut from: R) -> Result<FileKeyKind, SealedFileError> {
        read_kind(&mut from)
    }

    fn next_piece(&mut self) -> io::Result<()> {
        let whole = PIECE + TAG;
        let wanted = (whole + 1 - self.ahead.len()) as u64;
        self.from.by_ref().take(wanted).read_to_end(&mut self.ahead)?;
        let last = self.ahead.len() <= whole;
        let length = self.ahead.len().min(whole);
        let payload = Payload { msg: &self.ahead[..length], aad: &self.header.bytes };
        let plain = self.cipher.decrypt(&Nonce::from(nonce(self.number, last)), payload);
        self.plain = Zeroizing::new(plain.map_err(|_| self.broken())?);
        self.ahead.drain(..length);
        self.given = 0;
        self.number += 1;
        self.ended = last;
        Ok(())
    }

    fn broken(&self) -> io::Error {
        let at = self.header.bytes.len() as u64 + self.number * (PIECE + TAG) as u64;
        io::Error::new(io::ErrorKind::InvalidData, SealedFileError::Broken { at })
    }
}

impl<R: Read> Read for SealedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.given == self.plain.len() && !self.ended {
            self.next_piece()?;
        }
        let left = &self.plain[self.given..];
        let taken = left.len().min(into.len());
        into[..taken].copy_from_slice(&left[..taken]);
        self.given += taken;
        Ok(taken)
    }
}
