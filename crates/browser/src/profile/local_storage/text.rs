//! Texts as DOM storage has them: one byte tells how the others are to be read
//! (`components/services/storage/dom_storage/local_storage_impl.cc`).

use baton_session::Text;

const UTF_16: u8 = 0;
const LATIN_1: u8 = 1;

/// A text of localStorage; none when it is no such text.
pub(super) fn decode(bytes: &[u8]) -> Option<Text> {
    match bytes.split_first()? {
        (&LATIN_1, rest) if rest.is_ascii() => Some(String::from_utf8_lossy(rest).as_ref().into()),
        (&LATIN_1, rest) => {
            Some(rest.iter().map(|byte| char::from(*byte)).collect::<String>().into())
        }
        (&UTF_16, rest) => utf_16(rest),
        _ => None,
    }
}

/// UTF-16, the lower byte first, as sessionStorage has it without any mark.
pub(in crate::profile) fn utf_16(bytes: &[u8]) -> Option<Text> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    odd.is_empty().then(|| Text::from_utf16(&units))
}

/// A text as the browser would write it: one byte for each character when that suffices.
pub(super) fn encode(text: &Text) -> Vec<u8> {
    let latin = text.as_str().and_then(latin_1);
    latin.unwrap_or_else(|| {
        let units = text.to_utf16();
        [UTF_16].into_iter().chain(units.iter().flat_map(|unit| unit.to_le_bytes())).collect()
    })
}

fn latin_1(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(1 + text.len());
    bytes.push(LATIN_1);
    if text.is_ascii() {
        bytes.extend_from_slice(text.as_bytes());
        return Some(bytes);
    }
    for c in text.chars() {
        bytes.push(u8::try_from(u32::from(c)).ok()?);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_form_are_read_back() {
        for (text, kind, length) in
            [("", 1, 1), ("plain", 1, 6), ("é\0", 1, 3), ("漢", 0, 3), ("😀", 0, 5)]
        {
            let bytes = encode(&Text::from(text));
            assert_eq!((bytes[0], bytes.len()), (kind, length));
            assert_eq!(decode(&bytes), Some(Text::from(text)));
        }
        let lone = Text::from_utf16(&[0x61, 0xd800]);
        assert_eq!(decode(&encode(&lone)), Some(lone));
    }

    #[test]
    fn what_is_no_text_is_none() {
        for bytes in [&[][..], &[2, 65], &[0, 65]] {
            assert_eq!(decode(bytes), None);
        }
    }
}
