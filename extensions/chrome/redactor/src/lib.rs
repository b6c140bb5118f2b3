//! The redactor as WebAssembly: the same code as the node's, called from JavaScript.
//!
//! The one idea: host and guest share two buffers. The host writes texts into the one of [`input`], calls
//! [`redact`], and reads what became of them from the one of [`output`]; nearly all texts stay as they are,
//! and then there is nothing to read. What goes wrong is refused, or is a trap: the host shows nothing then.

use baton_redaction::{Names, Redactor};
use std::cell::RefCell;

/// How many redactors are open at most: for each tab that the extension looks at one may be on its way, and
/// one may have ended.
const MAX_OPEN: usize = 600;
/// Bytes of a redactor's key.
const KEY: usize = 16;
/// Bytes before the texts in the output: how long each of them is.
const LENGTHS: usize = 2 * size_of::<u32>();

/// What [`open`] and [`redact`] answer where they cannot do it.
pub const REFUSED: u32 = 0;
/// What [`redact`] answers when all texts stay as they were given.
pub const SAME: u32 = 1;
/// What [`redact`] answers when the output has other ones.
pub const CHANGED: u32 = 2;
/// What [`redact`] answers when the output has a body that is base64 still.
pub const BASE64: u32 = 3;

thread_local! {
    static SHARED: RefCell<Shared> = RefCell::default();
}

/// Where the host writes, as many bytes as it says: all that was there before may be gone.
#[allow(unsafe_code, reason = "the host finds it by its name, which nothing else has")]
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    SHARED.with_borrow_mut(|shared| {
        if shared.input.len() < length {
            shared.input = vec![0; length];
        }
        shared.input.as_mut_ptr()
    })
}

/// Where the host reads: the length of the first text and of the second, 32 bits each with the lowest byte
/// first, and the texts.
#[allow(unsafe_code, reason = "the host finds it by its name, which nothing else has")]
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    SHARED.with_borrow(|shared| shared.output.as_ptr())
}

/// Opens a redactor that has seen nothing, and answers its number. The input has its key, 16 random bytes; so
/// many bytes of names that are secrets besides, one a line; and so many of names that are none.
#[allow(unsafe_code, reason = "the host finds it by its name, which nothing else has")]
#[unsafe(no_mangle)]
pub extern "C" fn open(names: usize, allow: usize) -> u32 {
    SHARED.with_borrow_mut(|shared| shared.open(names, allow)).unwrap_or(REFUSED)
}

/// Closes a redactor; what it has seen is forgotten.
#[allow(unsafe_code, reason = "the host finds it by its name, which nothing else has")]
#[unsafe(no_mangle)]
pub extern "C" fn close(redactor: u32) {
    SHARED.with_borrow_mut(|shared| shared.redactors.retain(|(id, _)| *id != redactor));
}

/// Redacts what the input has: two texts of so many bytes, the first of which is empty where one is enough.
#[allow(unsafe_code, reason = "the host finds it by its name, which nothing else has")]
#[unsafe(no_mangle)]
pub extern "C" fn redact(redactor: u32, what: u32, first: usize, second: usize) -> u32 {
    let answer = SHARED.with_borrow_mut(|shared| shared.redact(redactor, what, first, second));
    answer.unwrap_or(REFUSED)
}

/// What is there from one call to the next.
#[derive(Default)]
struct Shared {
    input: Vec<u8>,
    output: Vec<u8>,
    /// Those that are open, by their numbers, which go up.
    redactors: Vec<(u32, Redactor)>,
    last: u32,
}

impl Shared {
    fn open(&mut self, names: usize, allow: usize) -> Option<u32> {
        if self.redactors.len() >= MAX_OPEN {
            return None;
        }
        let (key, rest) = self.input.split_first_chunk::<KEY>()?;
        let (names, allow) = texts(rest, names, allow)?;
        let lines = |text: &str| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>();
        let redactor = Redactor::new(Names::new(&lines(names), &lines(allow)), *key);
        self.last = self.last.checked_add(1)?;
        self.redactors.push((self.last, redactor));
        Some(self.last)
    }

    fn redact(&mut self, id: u32, what: u32, first: usize, second: usize) -> Option<u32> {
        let at = self.redactors.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        let (_, redactor) = self.redactors.get_mut(at)?;
        let (first, second) = texts(&self.input, first, second)?;
        let mime = Some(first).filter(|mime| !mime.is_empty());
        let mut answer = CHANGED;
        let (one, other) = match what {
            0 => (String::new(), redactor.address(second)),
            1 => (first.to_owned(), redactor.header(first, second)),
            2 => (first.to_owned(), redactor.body(second, mime)),
            3 => {
                let (body, is_base64) = redactor.base64(second, mime);
                answer = if is_base64 { BASE64 } else { CHANGED };
                (first.to_owned(), body)
            }
            4 => (String::new(), redactor.line(second)),
            5 => (first.to_owned(), redactor.socket(first, second)),
            6 => redactor.console(first, second),
            _ => return None,
        };
        if answer == CHANGED && one == first && other == second {
            return Some(SAME);
        }
        self.output.clear();
        self.output.reserve(LENGTHS + one.len() + other.len());
        for text in [&one, &other] {
            self.output.extend_from_slice(&u32::try_from(text.len()).ok()?.to_le_bytes());
        }
        self.output.extend_from_slice(one.as_bytes());
        self.output.extend_from_slice(other.as_bytes());
        Some(answer)
    }
}

/// Two texts, one behind the other.
fn texts(bytes: &[u8], first: usize, second: usize) -> Option<(&str, &str)> {
    let (first, rest) = bytes.split_at_checked(first)?;
    let text = |bytes| std::str::from_utf8(bytes).ok();
    Some((text(first)?, text(rest.get(..second)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(input: &[u8]) -> Shared {
        Shared { input: input.to_vec(), ..Shared::default() }
    }

    #[test]
    fn what_changed_is_in_the_output_and_nothing_else() {
        let mut shared = shared(b"sixteen letters!pin");
        let id = shared.open(3, 0).unwrap();
        shared.input = br#"application/json{"pin":"ada"}"#.to_vec();
        assert_eq!(shared.redact(id, 2, 16, 13), Some(CHANGED));
        let (lengths, texts) = shared.output.split_at(LENGTHS);
        assert_eq!(lengths, [16, 0, 0, 0, 20, 0, 0, 0]);
        assert_eq!(texts, br#"application/json{"pin":"[redacted]"}"#);
        shared.input = b"ada".to_vec();
        assert_eq!(shared.redact(id, 4, 0, 3), Some(SAME));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(shared(b"fifteen letters").open(0, 0), None);
        assert_eq!(shared(b"sixteen letters!").open(1, 0), None);
        let mut shared = shared(b"sixteen letters!\xff");
        assert_eq!(shared.open(1, 0), None);
        let id = shared.open(0, 0).unwrap();
        assert_eq!(shared.redact(id + 1, 4, 0, 7), None, "a redactor that is none");
        assert_eq!(shared.redact(id, 7, 0, 7), None, "a kind of text that is none");
        assert_eq!(shared.redact(id, 4, 0, 17), None, "a text that is none");
        assert_eq!(shared.redact(id, 4, 18, 0), None, "more than there is");
        assert_eq!(shared.redact(id, 4, usize::MAX, usize::MAX), None);
        for _ in 1..MAX_OPEN {
            shared.open(0, 0).unwrap();
        }
        assert_eq!(shared.open(0, 0), None, "too many");
    }
}
