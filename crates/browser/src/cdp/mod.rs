//! A thin client of the Chrome `DevTools` Protocol (CDP) with flat sessions.
//!
//! The one idea: it is tolerant. Only the envelope of a message is parsed; what cannot be
//! understood is counted and logged, never fatal; and every call has a time limit, because a page
//! with an open dialog or a busy main thread answers nothing at all.

mod connection;
mod envelope;
mod events;
mod transport;

pub use connection::{CALL_LIMIT, CdpError, CdpSession, Connection};
pub use envelope::{CallFailure, CdpSessionId, Envelope};
pub(crate) use envelope::{WideText, quoted, write_call};
pub use events::{Event, Events};
pub use transport::{AddressError, FRAME_LIMIT, FrameReader, FrameWriter, Transport, connect};
