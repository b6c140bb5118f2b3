//! Numbers and slices as `LevelDB` writes them, taken from the front of untrusted bytes.

/// What is left to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelDbReader<'a>(pub(super) &'a [u8]);

impl<'a> LevelDbReader<'a> {
    /// The next `length` bytes.
    pub(super) fn read_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.read_bytes(1).map(|taken| taken[0])
    }

    /// A number of four bytes, the lowest first.
    pub(super) fn u32(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    /// A number of eight bytes, the lowest first.
    pub(super) fn u64(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    /// A number in groups of seven bits, the lowest first.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A length as a varint.
    pub(super) fn length(&mut self) -> Option<usize> {
        usize::try_from(self.varint()?).ok()
    }

    /// A slice behind its length.
    pub(super) fn slice(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.read_bytes(length)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Appends a number in groups of seven bits.
pub(super) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or_default());
}

/// Appends a slice behind its length.
pub(super) fn put_slice(out: &mut Vec<u8>, slice: &[u8]) {
    put_varint(out, slice.len() as u64);
    out.extend_from_slice(slice);
}

/// Whether a checksum that is stored is the one of `covered`. Every one is, while a fuzzer changes
/// bytes: it would never find the one that fits.
pub(super) fn is_sum(stored: u32, covered: &[u8]) -> bool {
    stored == masked(crc32c::crc32c(covered)) || cfg!(fuzzing)
}

/// A checksum as it is stored: rotated and moved, because checksums are often taken of bytes that hold
/// some themselves (`util/crc32c.h`).
pub(super) fn masked(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}
