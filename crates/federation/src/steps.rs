//! The steps of a write.

/// What is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The draft of the new board is written.
    Draft,
    /// The draft gets its name.
    Name,
    /// The log gets its lines.
    Log,
    /// The new board takes the place of the old one.
    Swap,
    /// What was displaced is looked at.
    Look,
    /// What was displaced becomes the copy.
    Keep,
    /// A session is written to the history.
    Archive,
    /// The file of a closed session goes.
    Remove,
    /// The agent's own file is written.
    Own,
}
