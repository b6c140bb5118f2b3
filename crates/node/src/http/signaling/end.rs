//! Why a connection to the relay ends, and how the other side is told.

use super::Socket;
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// How long the other side may take to say farewell.
const FAREWELL: Duration = Duration::from_secs(1);

/// Why a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The other side left.
    Left,
    /// The node ends.
    Ending,
    /// The ticket does not count, or no longer.
    NoTicket,
    /// The key was revoked.
    Revoked,
    /// Nothing came for too long.
    Silent,
    /// The same browser came again.
    Replaced,
    /// Too many connections are held with the same key.
    TooMany,
    /// What comes cannot be understood.
    Garbage,
    /// A message is too long.
    TooLong,
}

impl End {
    fn frame(self) -> CloseFrame {
        let (code, reason) = match self {
            Self::Left => (CloseCode::Normal, ""),
            Self::Ending => (CloseCode::Away, "the node ends"),
            Self::NoTicket => (CloseCode::Library(4401), "the ticket does not count"),
            Self::Revoked => (CloseCode::Library(4403), "the key was revoked"),
            Self::Silent => (CloseCode::Library(4408), "nothing came for too long"),
            Self::Replaced => (CloseCode::Library(4409), "this browser came again"),
            Self::TooMany => (CloseCode::Again, "too many connections with this key"),
            Self::Garbage => (CloseCode::Policy, "messages cannot be understood"),
            Self::TooLong => (CloseCode::Size, "a message is too long"),
        };
        CloseFrame { code, reason: reason.into() }
    }
}

pub(super) async fn close(socket: &mut Socket, end: End) {
    let farewell = async {
        // Whoever left needs no farewell.
        if socket.close(Some(end.frame())).await.is_ok() {
            while let Some(Ok(_)) = socket.next().await {}
        }
    };
    let _ = timeout(FAREWELL, farewell).await;
}
