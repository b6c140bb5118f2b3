//! The kinds of text, by which rules for values differ.

/// What kind of text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Lines for people: any value counts, and a long random one whatever its name is.
    Prose,
    /// Data and markup: any value counts, and a line that begins with a name is all value.
    Data,
    /// Programs and style sheets: values in quotes count.
    Code,
    /// A name: only what is a secret by itself.
    Name,
}
