//! What a keeper's loop hears, from the door, the clients and the browser.

use super::mux::ClientId;
use super::protocol::Role;
use crate::cdp::{FrameReader, FrameWriter};
use tokio::sync::OwnedSemaphorePermit;

/// What the loop hears.
pub(super) enum Input {
    /// The browser sent a frame.
    Browser(Vec<u8>),
    /// The browser closed its connection.
    BrowserGone,
    /// A client said hello.
    Connected(Connected),
    /// A client sent a frame.
    Frame(ClientId, Vec<u8>),
    /// A client closed its connection.
    Left(ClientId),
}

/// A client at the door, greeted and checked.
pub(super) struct Connected {
    pub(super) role: Role,
    pub(super) reader: FrameReader,
    pub(super) writer: FrameWriter,
    pub(super) place: OwnedSemaphorePermit,
}
