//! Signals: a bridge that has another server to end does not simply die.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Whether the system tells the bridge to end. Only one that has a server to end listens.
pub(super) struct Signals(Vec<Signal>);

impl Signals {
    pub(super) fn begin(listens: bool) -> std::io::Result<Self> {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let kinds = kinds.into_iter().filter(|_| listens);
        kinds.map(signal).collect::<Result<_, _>>().map(Self)
    }

    /// Returns when it does.
    pub(super) async fn end(&mut self) {
        let [terminate, interrupt, hangup] = self.0.as_mut_slice() else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
