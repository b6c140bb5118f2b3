//! Why a text is left alone, and where it is wrong.

/// Why a text is left alone.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Mistake {
    /// It cannot be read.
    #[error("in line {line}: {reason}")]
    Syntax {
        /// Counted from one.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// There is something else where the servers should stand.
    #[error("{0} is not a list of names and values")]
    Shape(&'static str),
    /// It is written in a way that cannot be changed safely.
    #[error("it is written in an unusual way")]
    Unusual,
}

/// The line in which the byte `at` stands, counted from one.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
