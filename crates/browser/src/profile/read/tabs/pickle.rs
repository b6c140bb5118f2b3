//! Commands and what is in them, as Chromium writes them (`base/pickle.h`).

/// What is left of a file or of a command.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn number(&mut self) -> Option<i32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(i32::from_le_bytes(*number))
    }

    /// A command: its length, what it is, and its content.
    pub(super) fn command(&mut self) -> Option<(u8, Bytes<'a>)> {
        let length = self.take(2)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        let (id, content) = self.take(length)?.split_first()?;
        Some((*id, Bytes(content)))
    }

    /// Bytes behind their length, filled up to a multiple of four.
    fn padded(&mut self, unit: usize) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?.checked_mul(unit)?;
        let taken = self.take(length)?;
        self.take((4 - length % 4) % 4)?;
        Some(taken)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.padded(1)?.to_vec()).ok()
    }

    pub(super) fn wide_text(&mut self) -> Option<String> {
        let (pairs, _) = self.padded(2)?.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
        Some(String::from_utf16_lossy(&units))
    }
}
