//! The text of what a browser prints and saves, read as far as its own programs write it.

use flate2::read::ZlibDecoder;
use regex::Regex;
use std::collections::BTreeMap;
use std::io::Read;

/// How large a part of a file is at most, in bytes.
const PART_LIMIT: u64 = 1 << 24;

/// A text whose lines were broken for mail (RFC 2045, section 6.7), whole again; as JSON has it, too.
pub(super) fn joined(text: &str) -> String {
    text.replace("=\\r\\n", "").replace("=\r\n", "").replace("=\\n", "").replace("=\n", "")
}

/// The text of a PDF of Skia's (`SkPDFFont`): glyphs by number, and for each font a table of what they are
/// (ISO 32000-1, section 9.10.3). Every table is tried on all glyphs.
pub(super) fn text(pdf: &[u8]) -> String {
    let parts = parts(pdf);
    let shown = Regex::new(r"<([0-9A-Fa-f]+)>\s*(?:-?[0-9.]+\s*)*\]?\s*T?[jJ]?").unwrap();
    let tables = parts.iter().filter(|part| part.contains("begincmap")).map(|part| table(part));
    let tables: Vec<BTreeMap<u16, char>> = tables.collect();
    let glyphs: Vec<u16> = parts
        .iter()
        .filter(|part| !part.contains("begincmap"))
        .flat_map(|part| shown.captures_iter(part))
        .flat_map(|found| numbers(&found[1]))
        .collect();
    let read = |table: &BTreeMap<u16, char>| -> String {
        glyphs.iter().map(|glyph| table.get(glyph).unwrap_or(&'\u{fffd}')).collect()
    };
    tables.iter().map(read).collect::<Vec<_>>().join("\n")
}

/// The parts of a PDF that are packed.
fn parts(pdf: &[u8]) -> Vec<String> {
    let begin = b"stream\n";
    let places = pdf.windows(begin.len()).enumerate().filter(|(_, window)| window == begin);
    let unpack = |(at, _): (usize, _)| {
        let mut part = Vec::new();
        let packed = ZlibDecoder::new(&pdf[at + begin.len()..]);
        packed.take(PART_LIMIT).read_to_end(&mut part).ok()?;
        Some(String::from_utf8_lossy(&part).into_owned())
    };
    places.filter_map(unpack).collect()
}

/// Which letter each glyph of a font is.
fn table(part: &str) -> BTreeMap<u16, char> {
    let line = Regex::new(r"(?m)^<([0-9A-F]{4})> (?:<([0-9A-F]{4})> )?<([0-9A-F]{4})>$").unwrap();
    let mut table = BTreeMap::new();
    for found in line.captures_iter(part) {
        let number =
            |at: usize| found.get(at).map(|text| u16::from_str_radix(text.as_str(), 16).unwrap());
        let (Some(first), Some(letter)) = (number(1), number(3)) else { continue };
        for (glyph, letter) in (first..=number(2).unwrap_or(first)).zip(u32::from(letter)..) {
            table.extend(char::from_u32(letter).map(|letter| (glyph, letter)));
        }
    }
    table
}

fn numbers(hex: &str) -> Vec<u16> {
    hex.as_bytes()
        .chunks_exact(4)
        .filter_map(|four| u16::from_str_radix(std::str::from_utf8(four).ok()?, 16).ok())
        .collect()
}
