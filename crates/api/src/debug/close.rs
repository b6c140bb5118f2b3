//! Why a connection to the relay ends, and with which code.
//!
//! The one idea: one table. The node closes with it, the extension for browsers reads it (its
//! `link/codes.ts`), the reference lists it, and a test holds the three against each other.

/// Why the node ends a connection to the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkEnd {
    /// The other side left.
    Left,
    /// The node ends.
    Ending,
    /// What comes cannot be understood.
    Garbage,
    /// A message is too long.
    TooLong,
    /// Too many connections are held with the same key.
    TooMany,
    /// The ticket does not count, or no longer.
    NoTicket,
    /// The key was revoked.
    Revoked,
    /// Nothing came for too long.
    Silent,
    /// The same browser came again.
    Replaced,
}

impl LinkEnd {
    /// All that there are, by their codes.
    pub const ALL: [Self; 9] = [
        Self::Left,
        Self::Ending,
        Self::Garbage,
        Self::TooLong,
        Self::TooMany,
        Self::NoTicket,
        Self::Revoked,
        Self::Silent,
        Self::Replaced,
    ];

    /// The close code of the `WebSocket` (RFC 6455, 7.4): up to 4000 as registered, the others are ours.
    pub fn code(self) -> u16 {
        match self {
            Self::Left => 1000,
            Self::Ending => 1001,
            Self::Garbage => 1008,
            Self::TooLong => 1009,
            Self::TooMany => 1013,
            Self::NoTicket => 4401,
            Self::Revoked => 4403,
            Self::Silent => 4408,
            Self::Replaced => 4409,
        }
    }

    /// Why, for people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Left => "",
            Self::Ending => "the node ends",
            Self::Garbage => "messages cannot be understood",
            Self::TooLong => "a message is too long",
            Self::TooMany => "too many connections with this key",
            Self::NoTicket => "the ticket does not count",
            Self::Revoked => "the key was revoked",
            Self::Silent => "nothing came for too long",
            Self::Replaced => "this browser came again",
        }
    }
}
