//! What messages between nodes are about. A message about one thing is never taken for another.

use baton_session::SessionId;
use http::header::HeaderValue;

/// What bodies between nodes are: sealed.
pub const SEALED: HeaderValue = HeaderValue::from_static("application/vnd.baton.sealed");

/// What a message between nodes is about.
#[derive(Debug, Clone, Copy)]
pub struct Topic {
    /// The word for what is asked and, behind it, answered.
    pub asked: &'static str,
    /// The word for the answer.
    pub answered: &'static str,
    /// The session that it is about.
    pub session: Option<SessionId>,
}

impl Topic {
    /// Who asks, and nothing else.
    pub const GREETING: Self =
        Self { asked: "a greeting", answered: "a greeting was heard", session: None };

    /// The index.
    pub const INDEX: Self = Self { asked: "index", answered: "the index", session: None };

    /// The index, as soon as it is another one.
    pub const NEXT_INDEX: Self =
        Self { asked: "the next index", answered: "the next index or none", session: None };

    /// The revisions of a session: asked for, or offered.
    pub fn revisions(session: SessionId) -> Self {
        Self { asked: "revisions", answered: "the revisions", session: Some(session) }
    }

    /// What is in a view of them.
    pub fn seen(session: SessionId) -> Self {
        let (asked, answered) = ("a view", "what is in a view");
        Self { asked, answered, session: Some(session) }
    }

    /// Revisions that are offered.
    pub fn offer(session: SessionId) -> Self {
        Self { asked: "an offer", answered: "what became of an offer", session: Some(session) }
    }

    /// A session that is asked for.
    pub fn lease(session: SessionId) -> Self {
        Self { asked: "a lease", answered: "what became of a lease", session: Some(session) }
    }

    /// The icon of a session.
    pub fn icon(session: SessionId) -> Self {
        Self { asked: "an icon", answered: "the icon", session: Some(session) }
    }

    /// Parts that are asked for.
    pub fn fetch(session: SessionId) -> Self {
        Self { asked: "parts", answered: "the parts", session: Some(session) }
    }

    /// Parts that are given.
    pub fn give(session: SessionId) -> Self {
        Self { asked: "given parts", answered: "given parts were taken", session: Some(session) }
    }
}
