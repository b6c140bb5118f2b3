//! Prefixes: the start of an id, as a person types it.

/// The fewest hexadecimal digits that a person may type of an id.
const PREFIX_MIN: usize = 4;

/// The most ids that an ambiguous prefix names.
pub(crate) const MATCHES_MAX: i64 = 5;

/// The start of an id as the database writes it: lower case, with its hyphens.
pub(crate) fn parse(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let fits = (PREFIX_MIN..=32).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !fits {
        return None;
    }
    let mut prefix = String::new();
    for (position, digit) in digits.to_ascii_lowercase().chars().enumerate() {
        if matches!(position, 8 | 12 | 16 | 20) {
            prefix.push('-');
        }
        prefix.push(digit);
    }
    Some(prefix)
}

/// What sorts behind every id that starts with the prefix: ids hold digits up to `f`.
pub(crate) fn end(prefix: &str) -> String {
    format!("{prefix}g")
}
