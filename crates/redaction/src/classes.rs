//! Classes of characters: of each byte what it is to the rules, from one table.

pub(crate) const SPACE: u32 = 1;
/// What parts a name and its value.
pub(crate) const SEPARATOR: u32 = 1 << 1;
pub(crate) const ENCODED: u32 = 1 << 2;
pub(crate) const SLASH: u32 = 1 << 3;
pub(crate) const QUOTE: u32 = 1 << 4;
pub(crate) const TAG: u32 = 1 << 5;
/// What is not ASCII.
pub(crate) const FOREIGN: u32 = 1 << 6;
pub(crate) const COLON: u32 = 1 << 7;
pub(crate) const OPEN: u32 = 1 << 8;
pub(crate) const AT: u32 = 1 << 9;
pub(crate) const DASH: u32 = 1 << 10;
pub(crate) const DIGIT: u32 = 1 << 11;
/// Letters and digits.
pub(crate) const ALNUM: u32 = 1 << 12;
/// What parts of a key may stand between.
pub(crate) const IN_KEY: u32 = 1 << 13;
/// What ends a word of a sentence.
pub(crate) const ENDS: u32 = 1 << 14;
/// A mark that stands within words of keys.
const IN_WORD: u32 = 1 << 15;
/// The beginning of a hash of a password.
pub(crate) const DOLLAR: u32 = 1 << 16;

/// The end of a line.
pub(crate) const LINE: u32 = 1 << 17;
/// NUL, and what begins a colour of a terminal.
pub(crate) const CONTROL: u32 = 1 << 18;

/// What a byte is.
pub(crate) fn class_of(c: u8) -> u32 {
    CLASSES[usize::from(c)]
}

pub(crate) fn is_alnum(c: u8) -> bool {
    class_of(c) & ALNUM != 0
}

/// Letters, digits, `-` and `_`.
pub(crate) fn is_word(c: u8) -> bool {
    class_of(c) & (ALNUM | IN_WORD) != 0
}

/// What keys are made of.
pub(crate) fn is_in_key(c: u8) -> bool {
    class_of(c) & (ALNUM | IN_KEY) != 0
}

static CLASSES: [u32; 256] = {
    let (mut classes, mut c) = ([0; 256], 0_u8);
    loop {
        classes[c as usize] = judge(c);
        if c == u8::MAX {
            break classes;
        }
        c += 1;
    }
};

const fn judge(c: u8) -> u32 {
    match c {
        b'\n' => SPACE | ENDS | LINE,
        b' ' | b'\r' | b'\t' | 0x0b | 0x0c => SPACE | ENDS,
        b':' => SEPARATOR | COLON | IN_KEY,
        b'(' => SEPARATOR | OPEN | ENDS,
        b'@' => SEPARATOR | AT,
        b'=' => SEPARATOR | IN_KEY,
        b'|' => SEPARATOR | ENDS,
        b'?' => SEPARATOR,
        b'%' => ENCODED,
        b'+' => ENCODED | IN_KEY,
        b'/' => SLASH | IN_KEY,
        b'-' => DASH | IN_KEY | IN_WORD,
        b'_' => IN_KEY | IN_WORD,
        b'.' | b'~' => IN_KEY,
        b'$' => DOLLAR,
        b'0'..=b'9' => DIGIT | ALNUM,
        b'a'..=b'z' | b'A'..=b'Z' => ALNUM,
        b'"' | b'\'' | b'`' => QUOTE | ENDS,
        b'<' => TAG | ENDS,
        b')' | b'[' | b']' | b'{' | b'}' | b'>' | b',' | b';' => ENDS,
        0 => ENDS | CONTROL,
        0x1b => CONTROL,
        0x80.. => FOREIGN | ENDS,
        _ => 0,
    }
}
