//! Archives of strangers, before a library reads them.
//!
//! The one idea: what an archive says of itself is believed by its reader, and some of it is taken into
//! memory whole before the caller is asked: long names, and lists of attributes (POSIX, `pax`), which can
//! also give a file another size than its header does. So the bytes are looked at on their way: how many
//! there are at all, how long such descriptions are, and that a file is as large as its header says.

use std::io::{Error, ErrorKind, Read, Result};
use tar::{EntryType, Header};

/// A block of an archive, in bytes.
const BLOCK: usize = 512;
/// The longest description of a file, in bytes: names that a system takes have 4096.
const DESCRIPTION_MAX: u64 = 16 << 10;

/// A tar archive of at most so many bytes, whose descriptions of files are short.
#[derive(Debug)]
pub struct BoundedTar<R> {
    from: R,
    most: u64,
    left: u64,
    at: At,
}

/// Where in an archive we are.
#[derive(Debug)]
enum At {
    /// In a header, of which this is known.
    Header(Vec<u8>),
    /// In a description, of which this is known, with so many bytes to come and so many to fill its block.
    Description { text: Vec<u8>, left: usize, padding: u64 },
    /// In a file, with so many bytes to come.
    File(u64),
    /// Behind its end.
    End,
}

impl<R> BoundedTar<R> {
    /// An archive from its beginning.
    pub fn new(from: R, most: u64) -> Self {
        Self { from, most, left: most, at: At::Header(Vec::with_capacity(BLOCK)) }
    }

    /// Looks at bytes that come next.
    fn inspect(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            match &mut self.at {
                At::Header(known) => {
                    move_front(&mut bytes, known, BLOCK);
                    if known.len() == BLOCK {
                        self.at = behind(known)?;
                    }
                }
                At::Description { text, left, padding } => {
                    move_front(&mut bytes, text, *left);
                    if text.len() == *left {
                        expect_no_size(text)?;
                        self.at = file(*padding);
                    }
                }
                At::File(left) => {
                    let passed = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    bytes = &bytes[passed..];
                    self.at = file(*left - passed as u64);
                }
                At::End => return Ok(()),
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for BoundedTar<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        // One more than there may be, to tell an archive that is as large from one that is larger.
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).saturating_add(1);
        let end = into.len().min(most);
        let read = self.from.read(&mut into[..end])?;
        let Some(left) = self.left.checked_sub(read as u64) else {
            let why = format!("expected an archive of at most {} bytes, found more", self.most);
            return Err(Error::new(ErrorKind::FileTooLarge, why));
        };
        self.left = left;
        self.inspect(&into[..read])?;
        Ok(read)
    }
}

/// Moves bytes from the front of `bytes` to `known`, until that has `most`.
fn move_front(bytes: &mut &[u8], known: &mut Vec<u8>, most: usize) {
    let taken = bytes.len().min(most - known.len());
    known.extend_from_slice(&bytes[..taken]);
    *bytes = &bytes[taken..];
}

fn file(left: u64) -> At {
    if left == 0 { At::Header(Vec::with_capacity(BLOCK)) } else { At::File(left) }
}

/// What comes behind a header.
fn behind(block: &[u8]) -> Result<At> {
    if block.iter().all(|byte| *byte == 0) {
        return Ok(At::End);
    }
    let mut header = Header::new_old();
    header.as_mut_bytes().copy_from_slice(block);
    let size = header.entry_size()?;
    let whole = size.checked_next_multiple_of(BLOCK as u64);
    let whole = whole.ok_or_else(|| refused("expected a size of a file, found a larger one"))?;
    match header.entry_type() {
        EntryType::XHeader
        | EntryType::XGlobalHeader
        | EntryType::GNULongName
        | EntryType::GNULongLink => {
            let left = usize::try_from(size).ok().filter(|_| size <= DESCRIPTION_MAX);
            let left = left.ok_or_else(|| {
                refused("expected at most 16 KiB about a file, found a longer description")
            })?;
            let padding = whole - size;
            let text = Vec::with_capacity(left);
            Ok(if left == 0 { file(0) } else { At::Description { text, left, padding } })
        }
        // Such a file says in blocks without end how its parts lie, and the reader holds all in memory.
        EntryType::GNUSparse => Err(refused("expected whole files, found one with holes")),
        _ => Ok(file(whole)),
    }
}

/// A size that stands here counts instead of that in the header. `pack` needs none, and neither does any
/// file below 8 GiB.
fn expect_no_size(text: &[u8]) -> Result<()> {
    let is_size = |line: &[u8]| {
        let key = line.splitn(2, |byte| *byte == b' ').nth(1);
        key.is_some_and(|key| key.starts_with(b"size=") || key.starts_with(b"GNU.sparse"))
    };
    if text.split(|byte| *byte == b'\n').any(is_size) {
        return Err(refused("expected files as large as their headers say, found another size"));
    }
    Ok(())
}

fn refused(why: &str) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}
