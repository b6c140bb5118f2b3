//! A thin client of the Chrome `DevTools` Protocol (CDP) with flat sessions.
//!
//! The one idea: it is tolerant. Only the envelope of a message is parsed; what cannot be
//! understood is counted and logged, never fatal; and every call has a time limit, because a page
//! with an open dialog or a busy main thread answers nothing at all.

mod address;
mod connection;
mod envelope;
mod error;
mod events;
mod session;
mod session_id;
mod transport;
mod wide;

pub use address::{AddressError, connect};
pub use connection::Connection;
pub use envelope::{Envelope, Failure};
pub(crate) use envelope::{quoted, write_call};
pub use error::CdpError;
pub use events::{Event, Events};
pub use session::{CALL_LIMIT, CdpSession};
pub use session_id::CdpSessionId;
pub use transport::{FRAME_LIMIT, FrameReader, FrameWriter, Transport};
pub(crate) use wide::WideText;
