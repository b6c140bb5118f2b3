//! Small letters: the cases of the alphabets in which names of secrets are known.
//!
//! The one idea: the standard library's table is of all alphabets, and would be a twentieth of what the
//! extension for Chrome loads. Where it has a small letter of its own length, so has this one; a test compares.

/// The small letter of a capital; any other character as it is.
pub(crate) fn lower(letter: char) -> char {
    let code = u32::from(letter);
    let step = match code {
        // Among capitals, and none.
        0xd7 | 0x138 | 0x149 | 0x3a2 => return letter,
        0x130 => return 'i',
        0x178 => return 'ÿ',
        0x1e9e => return 'ß',
        // ASCII, Latin-1, Greek, Cyrillic, wide letters.
        0x41..=0x5a | 0xc0..=0xde | 0x391..=0x3ab | 0x410..=0x42f | 0xff21..=0xff3a => 32,
        // Latin (Extended-A, -B, Additional) and Cyrillic: a capital and its small letter by turns.
        0x139..=0x148 | 0x179..=0x17e | 0x1af | 0x1cd..=0x1dc | 0x4c1..=0x4ce => code & 1,
        0x100..=0x177
        | 0x1a0..=0x1a5
        | 0x1de..=0x1ef
        | 0x1f8..=0x21f
        | 0x222..=0x233
        | 0x460..=0x481
        | 0x48a..=0x4bf
        | 0x4d0..=0x52f
        | 0x1e00..=0x1e95
        | 0x1ea0..=0x1eff => 1 - (code & 1),
        // Greek with accents.
        0x386 => 38,
        0x388..=0x38a => 37,
        0x38c => 64,
        0x38e | 0x38f => 63,
        0x400..=0x40f => 80,
        0x4c0 => 15,
        // Armenian.
        0x531..=0x556 => 48,
        // Georgian: capitals came last, and stand far behind.
        0x1c90..=0x1cba | 0x1cbd..=0x1cbf => return char::from_u32(code - 0xbc0).unwrap_or(letter),
        _ => 0,
    };
    char::from_u32(code + step).unwrap_or(letter)
}

/// A text in small letters.
pub(crate) fn lower_text(text: &str) -> String {
    text.chars().map(lower).collect()
}

/// Whether there is a small letter of this one.
pub(crate) fn is_capital(letter: char) -> bool {
    lower(letter) != letter
}

/// Whether this is the small letter of a capital, or small itself: letters of alphabets without cases are not.
pub(crate) fn is_small(letter: char) -> bool {
    let has_cases =
        matches!(u32::from(letter), 0x61..=0x7a | 0xdf..=0x587 | 0x1e00..=0x1eff | 0xff41..=0xff5a);
    has_cases && !is_capital(letter) && letter.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_of_known_alphabets_have_the_small_letters_that_the_standard_says() {
        let known = (0..=0x17f)
            .chain(0x1a0..=0x1a5)
            .chain([0x1af, 0x1b0])
            .chain(0x1cd..=0x1ef)
            .chain(0x1f8..=0x21f)
            .chain(0x222..=0x233)
            .chain(0x386..=0x3ab)
            .chain(0x400..=0x556);
        let known = known.chain(0x1e00..=0x1eff).chain(0xff21..=0xff3a).filter_map(char::from_u32);
        for letter in known.filter(|c| *c != 'İ') {
            assert_eq!(lower(letter).to_string(), letter.to_lowercase().to_string(), "{letter:?}");
            assert_eq!(
                is_capital(letter),
                letter.is_uppercase() && letter.to_lowercase().ne([letter])
            );
            if letter.is_lowercase() {
                assert!(is_small(letter) || matches!(letter, 'ª' | 'º' | 'µ'), "{letter:?}");
            }
        }
        assert_eq!(
            lower_text("Пароль MOT DE PASSE ПАРОЛЬ Şifre 密码"),
            "пароль mot de passe пароль şifre 密码"
        );
    }
}
