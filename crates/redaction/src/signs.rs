//! Signs: what there is in a text, found in one look, so that rules that can find nothing are not tried.

/// Some of the signs below.
#[derive(Clone, Copy)]
pub(crate) struct Signs(u32);

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
/// The beginning of a word behind which credentials stand.
pub(crate) const SCHEME: u32 = 1 << 12;
/// The beginning of a word for which SQL is looked through.
pub(crate) const SQL: u32 = 1 << 13;
/// The beginning of `machine`, as in `.netrc`.
pub(crate) const MACHINE: u32 = 1 << 14;
/// The beginning of `data:`.
pub(crate) const DATA: u32 = 1 << 15;
/// A letter with which one of these words begins.
const BEGINS: u32 = 1 << 31;

impl Signs {
    /// What there is in a text.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut signs = 0;
        for (at, c) in bytes.iter().enumerate() {
            let sign = SIGNS[usize::from(*c)];
            signs |= sign;
            if sign & BEGINS != 0
                && let Some(four) = bytes[at..].first_chunk()
            {
                signs |= sign_of_word(*four);
            }
        }
        Self(signs)
    }

    /// Whether one of these is there.
    pub(crate) fn has(self, any: u32) -> bool {
        self.0 & any != 0
    }
}

static SIGNS: [u32; 256] = {
    let (mut signs, mut c) = ([0; 256], 0_u8);
    loop {
        signs[c as usize] = sign_of(c);
        if c == u8::MAX {
            break signs;
        }
        c += 1;
    }
};

const fn sign_of(c: u8) -> u32 {
    match c {
        b' ' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c => SPACE,
        b':' => SEPARATOR | COLON,
        b'(' => SEPARATOR | OPEN,
        b'@' => SEPARATOR | AT,
        b'=' | b'|' | b'?' => SEPARATOR,
        b'%' | b'+' => ENCODED,
        b'/' => SLASH,
        b'-' => DASH,
        b'0'..=b'9' => DIGIT,
        b'"' | b'\'' | b'`' => QUOTE,
        b'<' => TAG,
        0x80.. => FOREIGN,
        b'b' | b'c' | b'd' | b'i' | b'm' | b'n' | b'p' | b's' => BEGINS,
        b'B' | b'C' | b'D' | b'I' | b'M' | b'N' | b'P' | b'S' => BEGINS,
        _ => 0,
    }
}

/// What the first four letters of a word say, in any case.
fn sign_of_word(four: [u8; 4]) -> u32 {
    let small = (u32::from_le_bytes(four) | 0x2020_2020).to_le_bytes();
    match &small {
        b"bear" | b"basi" | b"dpop" | b"nego" => SCHEME,
        // `password`, `passphrase`, `identified by`, `insert into`, `securestring`, `crypt(`, `copy`.
        b"pass" | b"iden" | b"inse" | b"secu" | b"cryp" | b"copy" => SQL,
        b"mach" => MACHINE,
        b"data" => DATA,
        _ => 0,
    }
}
