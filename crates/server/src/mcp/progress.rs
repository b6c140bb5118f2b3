//! Telling a client that long work goes on, so that it does not give up.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// How often a client hears of it.
const PAUSE: Duration = Duration::from_secs(1);

/// Where the client hears of it; nowhere when it did not ask.
pub(super) struct Progress(Option<(Peer<RoleServer>, ProgressToken)>);

impl Progress {
    /// That of a call.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self(token.map(|token| (context.peer.clone(), token)))
    }

    /// Does `work`, and says at its begin and every second that it goes on.
    pub(super) async fn during<T>(&self, doing: &str, work: impl Future<Output = T>) -> T {
        let Some((peer, token)) = &self.0 else { return work.await };
        let begun = Instant::now();
        let mut ticks = interval(PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = ticks.tick() => {
                    let seconds = begun.elapsed().as_secs_f64().round();
                    let told = ProgressNotificationParam::new(token.clone(), seconds)
                        .with_message(format!("{doing}, {seconds} s"));
                    // A client that has left hears nothing; the work is finished all the same.
                    let _ = peer.notify_progress(told).await;
                }
            }
        }
    }
}
