//! Types that travel as one text: the error for a text of another form, and what they share.

/// A text that has not the form it should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct InvalidText(pub(crate) &'static str);

/// The bytes of exactly so many lower-case hexadecimal digits.
pub(crate) fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if text.len() != 2 * N || !text.bytes().all(is_digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, at) in bytes.iter_mut().zip((0..2 * N).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// Lets types that are read by `FromStr` and written by `Display` travel as that text.
macro_rules! text_form {
    ($($name:ident),+) => {$(
        impl TryFrom<String> for $name {
            type Error = $crate::InvalidText;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    )+};
}
pub(crate) use text_form;
