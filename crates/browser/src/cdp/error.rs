//! What can go wrong with one call to the browser.

use std::time::Duration;

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum CdpError {
    /// The browser answered with an error.
    #[error("{method}: the browser answered {message:?} (code {code})")]
    Protocol {
        /// The method that was called.
        method: &'static str,
        /// The JSON-RPC code, mostly −32000.
        code: i64,
        /// The browser's own words.
        message: String,
    },
    /// No answer came in time; the page may be busy or show a dialog.
    #[error("{method}: expected an answer within {limit:?}, found none")]
    TimedOut {
        /// The method that was called.
        method: &'static str,
        /// How long the call waited.
        limit: Duration,
    },
    /// The connection ended before the answer came.
    #[error("{method}: the connection to the browser is closed")]
    Closed {
        /// The method that was called.
        method: &'static str,
    },
    /// The call is larger than a browser takes: it would end at once.
    #[error("{method}: expected a call of at most {limit} bytes, found {found}")]
    TooLarge {
        /// The method that was called.
        method: &'static str,
        /// The largest call, in bytes.
        limit: usize,
        /// The bytes of this one.
        found: usize,
    },
    /// The parameters could not be written as JSON.
    #[error("{method}: expected parameters that JSON can hold, found {source}")]
    Encode {
        /// The method that was called.
        method: &'static str,
        /// What the serializer said.
        source: serde_json::Error,
    },
    /// The result is JSON, but no Rust value: it may hold a lone surrogate.
    #[error("{method}: expected a result that can be decoded, found {source}")]
    Decode {
        /// The method that was called.
        method: &'static str,
        /// What the deserializer said.
        source: serde_json::Error,
    },
}

impl CdpError {
    /// Whether the browser answered with exactly this text, which is how CDP tells errors apart.
    pub fn says(&self, text: &str) -> bool {
        matches!(self, Self::Protocol { message, .. } if message == text)
    }

    /// Whether the connection is gone, so that every later call fails as well.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// Whether the browser knows no session of the name that was called.
    pub fn is_of_no_session(&self) -> bool {
        /// `crdtp::DispatchCode::SESSION_NOT_FOUND`.
        const SESSION_NOT_FOUND: i64 = -32001;
        matches!(self, Self::Protocol { code: SESSION_NOT_FOUND, .. })
    }
}
