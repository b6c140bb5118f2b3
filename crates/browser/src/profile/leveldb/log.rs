//! The log of a `LevelDB`: records, cut to fit into blocks (`doc/log_format.md` in its source).

use super::Damage;
use super::bytes::{Bytes, is_sum, masked};

const BLOCK: usize = 32 << 10;
/// Checksum, length, and which piece of a record it is.
const HEADER: usize = 7;

const FULL: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;

/// Calls `each` with every whole record of a log. One that was being written when its process died ends
/// the log, as it does for the browser.
pub(super) fn records(
    log: &[u8],
    mut each: impl FnMut(&[u8]) -> Result<(), Damage>,
) -> Result<(), Damage> {
    let mut begun: Option<Vec<u8>> = None;
    for block in log.chunks(BLOCK) {
        let is_whole = block.len() == BLOCK;
        let mut block = Bytes(block);
        while block.0.len() >= HEADER {
            let Some((kind, piece)) = piece(&mut block, is_whole)? else { break };
            match (kind, &mut begun) {
                (FULL, None) => each(piece)?,
                (MIDDLE, Some(record)) => record.extend_from_slice(piece),
                (LAST, Some(record)) => {
                    record.extend_from_slice(piece);
                    each(record)?;
                    begun = None;
                }
                // The process that had begun one died, and the next one went on behind it.
                (FULL, Some(_)) => {
                    begun = None;
                    each(piece)?;
                }
                (FIRST, _) => begun = Some(piece.to_vec()),
                _ => return Err(Damage("a piece of a record without its beginning")),
            }
        }
    }
    Ok(())
}

/// The next piece in a block; none when the rest of the block was never written. Only the last block
/// of a log is not whole, and only there can a piece be cut off.
fn piece<'a>(block: &mut Bytes<'a>, is_whole: bool) -> Result<Option<(u8, &'a [u8])>, Damage> {
    let (Some(checksum), Some(length)) = (block.u32(), block.take(2)) else { return Ok(None) };
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    // Room that was made and not filled.
    if checksum == 0 && length == 0 && block.0.first() == Some(&0) {
        return Ok(None);
    }
    let covered = block.0;
    let Some(piece) = block.take(1 + length) else {
        let cut_off = Damage("a record that is longer than its block");
        return if is_whole { Err(cut_off) } else { Ok(None) };
    };
    if !is_sum(checksum, &covered[..=length]) {
        return Err(Damage("a record whose checksum is another"));
    }
    Ok(Some((piece[0], &piece[1..])))
}

/// Appends a record to a log.
pub(super) fn append(log: &mut Vec<u8>, mut record: &[u8]) {
    let mut is_first = true;
    loop {
        let left = BLOCK - log.len() % BLOCK;
        if left < HEADER {
            log.resize(log.len() + left, 0);
            continue;
        }
        let (piece, rest) = record.split_at(record.len().min(left - HEADER));
        let kind = match (is_first, rest.is_empty()) {
            (true, true) => FULL,
            (true, false) => FIRST,
            (false, false) => MIDDLE,
            (false, true) => LAST,
        };
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&[kind]), piece);
        log.extend_from_slice(&masked(checksum).to_le_bytes());
        log.extend_from_slice(&u16::try_from(piece.len()).unwrap_or_default().to_le_bytes());
        log.push(kind);
        log.extend_from_slice(piece);
        if rest.is_empty() {
            return;
        }
        (record, is_first) = (rest, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(log: &[u8]) -> Result<Vec<Vec<u8>>, Damage> {
        let mut all = Vec::new();
        records(log, |record| {
            all.push(record.to_vec());
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn records_of_any_size_are_read_back() {
        let sizes = [0, 1, BLOCK - HEADER, BLOCK - HEADER - 3, 5, 3 * BLOCK, 70];
        let wanted: Vec<Vec<u8>> = sizes.iter().map(|size| vec![7; *size]).collect();
        let mut log = Vec::new();
        for record in &wanted {
            append(&mut log, record);
        }
        assert_eq!(all(&log).unwrap(), wanted);
    }

    #[test]
    fn what_was_being_written_is_not_there_and_what_is_damaged_is_told() {
        let mut log = Vec::new();
        append(&mut log, b"whole");
        let end = log.len();
        append(&mut log, b"half");
        for cut in end..log.len() {
            assert_eq!(all(&log[..cut]).unwrap(), [b"whole"]);
        }
        log.resize(BLOCK, 0);
        assert_eq!(all(&log).unwrap().len(), 2, "room that was not filled");
        log[8] ^= 1;
        all(&log).unwrap_err();
    }
}
