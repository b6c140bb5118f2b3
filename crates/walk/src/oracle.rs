//! What must hold, by kind.

use std::fmt;

/// What was found.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Of which kind.
    pub kind: Kind,
    /// What exactly.
    pub what: String,
}

impl Finding {
    pub(crate) fn new(kind: Kind, what: String) -> Self {
        Self { kind, what }
    }
}

/// What does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A session has one browser at most.
    TwoBrowsers,
    /// An owner has one session of a name at most.
    TwoSessions,
    /// What was acknowledged is there.
    Lost,
    /// A verb that failed has changed nothing at the other node.
    Elsewhere,
    /// A verb that failed has ended no browser here.
    Here,
    /// A verb that failed holds no lease.
    Lease,
    /// A verb that failed left the session's home where it was.
    Home,
    /// A verb that failed has given the session to no agent.
    Seat,
    /// Who does not drive a session does not start or end it.
    Driver,
    /// What happens to one session costs no browser of another.
    Bystander,
    /// What was acknowledged is in the audit log.
    Audit,
    /// Each verb is answered.
    Hangs,
    /// Nodes of a cluster that reach each other again say the same.
    Apart,
    /// The walk itself works.
    Harness,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::TwoBrowsers,
        Self::TwoSessions,
        Self::Lost,
        Self::Elsewhere,
        Self::Here,
        Self::Lease,
        Self::Home,
        Self::Seat,
        Self::Driver,
        Self::Bystander,
        Self::Audit,
        Self::Hangs,
        Self::Apart,
        Self::Harness,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TwoBrowsers => "two_browsers",
            Self::TwoSessions => "two_sessions",
            Self::Lost => "lost",
            Self::Elsewhere => "elsewhere",
            Self::Here => "here",
            Self::Lease => "lease",
            Self::Home => "home",
            Self::Seat => "seat",
            Self::Driver => "driver",
            Self::Bystander => "bystander",
            Self::Audit => "audit",
            Self::Hangs => "hangs",
            Self::Apart => "apart",
            Self::Harness => "harness",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
