//! How the other side of the relay is told why its connection ends.

use super::Socket;
use baton_api::debug::LinkEnd;
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

/// How long the other side may take to say farewell.
const FAREWELL: Duration = Duration::from_secs(1);

pub(super) async fn close(socket: &mut Socket, end: LinkEnd) {
    let frame = CloseFrame { code: end.code().into(), reason: end.reason().into() };
    let farewell = async {
        // Whoever left needs no farewell.
        if socket.close(Some(frame)).await.is_ok() {
            while let Some(Ok(_)) = socket.next().await {}
        }
    };
    let _ = timeout(FAREWELL, farewell).await;
}
