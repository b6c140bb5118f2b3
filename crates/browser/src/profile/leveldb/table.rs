//! A sorted table of a `LevelDB` (`doc/table_format.md` in its source).

use super::{Damage, LevelDbReader, Lost, is_sum, masked, put_varint};
use crate::profile::memory::Budget;

/// The last bytes of every table: where its index is, and how one knows a table.
const FOOTER: usize = 48;
const MAGIC: u64 = 0xdb47_7524_8b80_fb57;
/// How a block is compressed, and its checksum.
const TRAILER: usize = 5;
const PLAIN: u8 = 0;
const SNAPPY: u8 = 1;
/// How large a block of data grows before the next one begins.
const BLOCK: usize = 4 << 10;
/// After so many rows a key is written whole again.
const RESTART: usize = 16;

/// Calls `each` with every internal key and value, in their order, and returns what it passed over: a row, a
/// block, or the whole table when its index is damaged (`table/two_level_iterator.cc`). `budget` bounds how
/// many bytes may come of blocks.
pub(super) fn rows(
    table: &[u8],
    budget: &mut Budget,
    mut each: impl FnMut(&[u8], &[u8]) -> Result<(), Damage>,
) -> Result<Lost, Damage> {
    let mut lost = Lost::default();
    let index = match index(table).and_then(|place| block(table, place, budget)) {
        Ok(index) => index,
        Err(damage) => {
            lost.note(damage, table.len())?;
            return Ok(lost);
        }
    };
    for_each_row(&index, &mut lost, |lost, _, place| {
        let place =
            handle(&mut LevelDbReader(place)).ok_or(Damage::Bytes("an index of a table"))?;
        match block(table, place, budget) {
            Ok(block) => for_each_row(&block, lost, |_, key, value| each(key, value)),
            Err(damage) => {
                // One that is named again and again is work each time.
                let bytes = place.1.min(table.len());
                budget.spend(bytes)?;
                lost.note(damage, bytes)
            }
        }
    })?;
    Ok(lost)
}

/// Where the index of a table is.
fn index(table: &[u8]) -> Result<(usize, usize), Damage> {
    let start = table.len().checked_sub(FOOTER).ok_or(Damage::Bytes("a table without an end"))?;
    let mut footer = LevelDbReader(&table[start..]);
    let index = (|| {
        let (_meta, index) = (handle(&mut footer)?, handle(&mut footer)?);
        let mut end = LevelDbReader(&table[table.len() - 8..]);
        (end.u64()? == MAGIC).then_some(index)
    })();
    index.ok_or(Damage::Bytes("a table without an index"))
}

/// Where a block is: its offset and its size.
fn handle(bytes: &mut LevelDbReader<'_>) -> Option<(usize, usize)> {
    Some((bytes.length()?, bytes.length()?))
}

/// The content of a block.
fn block(
    table: &[u8],
    (offset, size): (usize, usize),
    budget: &mut Budget,
) -> Result<Vec<u8>, Damage> {
    let stored = offset
        .checked_add(size)
        .and_then(|end| table.get(offset..end.checked_add(TRAILER)?))
        .ok_or(Damage::Bytes("a block outside of its table"))?;
    let (covered, checksum) = stored.split_at(size + 1);
    if !LevelDbReader(checksum).u32().is_some_and(|stored| is_sum(stored, covered)) {
        return Err(Damage::Bytes("a block whose checksum is another"));
    }
    let (content, kind) = covered.split_at(size);
    let length = match kind[0] {
        PLAIN => size,
        SNAPPY => {
            snap::raw::decompress_len(content).map_err(|_| Damage::Bytes("a compressed block"))?
        }
        _ => return Err(Damage::Bytes("a block that is compressed in a way of its own")),
    };
    // No more than this comes of any compressed byte.
    if length > content.len().saturating_mul(32) {
        return Err(Damage::Bytes("a compressed block"));
    }
    budget.spend(length)?;
    match kind[0] {
        PLAIN => Ok(content.to_vec()),
        _ => snap::raw::Decoder::new()
            .decompress_vec(content)
            .map_err(|_| Damage::Bytes("a compressed block")),
    }
}

/// Calls `each` with the rows of a block, as far as they can be read; one that it cannot use costs itself.
/// Keys share their beginnings with the key before.
fn for_each_row(
    block: &[u8],
    lost: &mut Lost,
    mut each: impl FnMut(&mut Lost, &[u8], &[u8]) -> Result<(), Damage>,
) -> Result<(), Damage> {
    const DAMAGED: Damage = Damage::Bytes("a row of a block");
    let Some(end) = end_of_rows(block) else { return lost.note(DAMAGED, block.len()) };
    let (mut rows, mut key) = (LevelDbReader(&block[..end]), Vec::new());
    while !rows.is_empty() {
        let left = rows.0.len();
        let value = (|| {
            let (shared, own, value) = (rows.length()?, rows.length()?, rows.length()?);
            if shared > key.len() {
                return None;
            }
            key.truncate(shared);
            key.extend_from_slice(rows.read_bytes(own)?);
            rows.read_bytes(value)
        })();
        let Some(value) = value else { return lost.note(DAMAGED, left) };
        if let Err(damage) = each(lost, &key, value) {
            lost.note(damage, left - rows.0.len())?;
        }
    }
    Ok(())
}

/// Where the rows of a block end, and the places of whole keys begin.
fn end_of_rows(block: &[u8]) -> Option<usize> {
    let count_at = block.len().checked_sub(4)?;
    let restarts = usize::try_from(LevelDbReader(&block[count_at..]).u32()?).ok()?;
    count_at.checked_sub(restarts.checked_mul(4)?)
}

/// Writes a table row by row, in the order of the keys.
#[derive(Default)]
pub(super) struct TableWriter {
    file: Vec<u8>,
    data: Block,
    index: Block,
}

/// A block that grows.
#[derive(Default)]
struct Block {
    rows: Vec<u8>,
    restarts: Vec<u32>,
    since_restart: usize,
    last: Vec<u8>,
}

impl TableWriter {
    /// Adds a row; its key is greater than all before.
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        self.data.add(key, value);
        if self.data.rows.len() >= BLOCK {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        let last = self.data.last.clone();
        let place = put_block(&mut self.file, std::mem::take(&mut self.data));
        self.index.add(&last, &place);
    }

    /// The whole file.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if !self.data.rows.is_empty() {
            self.end_block();
        }
        let mut footer = put_block(&mut self.file, Block::default());
        footer.extend(put_block(&mut self.file, self.index));
        footer.resize(FOOTER - 8, 0);
        self.file.extend(footer);
        self.file.extend(MAGIC.to_le_bytes());
        self.file
    }
}

impl Block {
    fn add(&mut self, key: &[u8], value: &[u8]) {
        let mut shared = 0;
        if self.since_restart.is_multiple_of(RESTART) {
            self.restarts.push(u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
        } else {
            shared = key.iter().zip(&self.last).take_while(|(one, other)| one == other).count();
        }
        self.since_restart += 1;
        put_varint(&mut self.rows, shared as u64);
        put_varint(&mut self.rows, (key.len() - shared) as u64);
        put_slice_parts(&mut self.rows, &key[shared..], value);
        self.last.clear();
        self.last.extend_from_slice(key);
    }
}

/// The length of a value, then what is new of its key, then the value.
fn put_slice_parts(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    put_varint(out, value.len() as u64);
    out.extend_from_slice(key);
    out.extend_from_slice(value);
}

/// Appends a block, and returns its place as the index has it.
fn put_block(file: &mut Vec<u8>, block: Block) -> Vec<u8> {
    let start = file.len();
    // A block without a row has one restart still.
    let restarts = if block.restarts.is_empty() { vec![0] } else { block.restarts };
    file.extend_from_slice(&block.rows);
    for restart in &restarts {
        file.extend_from_slice(&restart.to_le_bytes());
    }
    file.extend_from_slice(&u32::try_from(restarts.len()).unwrap_or(u32::MAX).to_le_bytes());
    let size = file.len() - start;
    file.push(PLAIN);
    let checksum = masked(crc32c::crc32c(&file[start..]));
    file.extend_from_slice(&checksum.to_le_bytes());
    let mut place = Vec::new();
    put_varint(&mut place, start as u64);
    put_varint(&mut place, size as u64);
    place
}
