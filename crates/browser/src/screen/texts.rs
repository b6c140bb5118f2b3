//! Texts of pages for people: cut, and freed of what does something to a text around them.

/// A text of a page for people: without control characters and what turns the direction of others, and no
/// longer than that.
pub(super) fn tidy(text: &str, most: usize) -> String {
    let is_harmless = |letter: &char| {
        !letter.is_control()
            && !matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    text.chars().filter(is_harmless).take(most).collect()
}
