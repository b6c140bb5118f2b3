//! Records what the tabs of a session do, for those who look into them.
//!
//! The one idea: recording is a client of the keeper beside the one that watches. It costs pages a part
//! of their speed, so it runs only while it is switched on, and what goes wrong with it costs the
//! session nothing: it begins anew, and what was missed meanwhile is marked. A reader of the tabs sees
//! that the browser is not connected; when it stays so, the recording ends, and its tabs with it.

use super::{BrowserSupervisor, LiveError};
use backon::{BackoffBuilder, ExponentialBuilder};
use baton_browser::keeper::{KeeperError, Role};
use baton_browser::record::{RecordLimits, Recorder};
use baton_browser::{TargetId, keeper};
use baton_debug::{Revealing, SessionTabs};
use baton_session::{Session, SessionId};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

/// When a recording that ended by itself begins anew: the browser, as a rule, ended with it.
const AGAIN: Duration = Duration::from_millis(500);
/// How long the waits for it grow, and how often it is tried: for a quarter of an hour.
const LONGEST: Duration = Duration::from_mins(1);
const TRIES: usize = 20;
/// A recording that went on for so long is one that worked: what ends it is no longer the same.
const WORKED: Duration = Duration::from_mins(5);

/// How long a new tab is waited for until it is recorded.
const READY_LIMIT: Duration = Duration::from_secs(5);

/// A recording; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Recording {
    ready: RecordedTabs,
    revealing: Revealing,
    _end: DropGuard,
}

/// The tabs of which the recorder reports everything.
pub type RecordedTabs = watch::Receiver<HashSet<TargetId>>;

impl BrowserSupervisor {
    /// Records what the session's tabs do from now on, until its browser ends or [`BrowserSupervisor::stop_recording`];
    /// with their secrets, for those who may see them, if `reveal`.
    pub async fn record(&self, session: &Session, reveal: bool) -> Result<(), LiveError> {
        if let Some(recording) = self.recordings().get(&session.id) {
            recording.revealing.switch(reveal);
            return Ok(());
        }
        let recorder = self.begin_recording(session.id).await?;
        let end = CancellationToken::new();
        let tabs = SessionTabs::new(self.config().relay.clone(), session);
        let (ready, revealing, id) = (tabs.ready(), tabs.revealing(), session.id);
        revealing.switch(reveal);
        let recording = run(self.clone(), id, tabs, recorder);
        self.0.tasks.spawn(end.clone().run_until_cancelled_owned(recording));
        self.recordings().insert(id, Recording { ready, revealing, _end: end.drop_guard() });
        Ok(())
    }

    /// Waits until the recorder reports everything that a new tab does, if the session is recorded.
    pub(super) async fn wait_until_recorded(&self, id: SessionId, tab: &TargetId) {
        let ready = self.recordings().get(&id).map(|recording| recording.ready.clone());
        let Some(mut ready) = ready else { return };
        let told = ready.wait_for(|tabs| tabs.contains(tab));
        if !matches!(timeout(READY_LIMIT, told).await, Ok(Ok(_))) {
            tracing::warn!(session = %id, "the first requests of a tab may not be recorded");
        }
    }

    /// The same where a session must not fail over it: then it is not recorded, and the log says so.
    /// Secrets are kept only if `reveal`, which holds for one life of the browser.
    pub(super) async fn record_if_asked(&self, session: &Session, reveal: bool) {
        if !session.debug {
            return;
        }
        if let Err(error) = self.record(session, reveal).await {
            tracing::warn!(session = %session.id, %error, "what the tabs do is not recorded");
        }
    }

    /// Keeps secrets of its tabs no longer, and forgets those that were kept.
    pub fn forget_secrets(&self, id: SessionId) {
        if let Some(recording) = self.recordings().get(&id) {
            recording.revealing.switch(false);
        }
    }

    /// Records no longer. What was recorded is gone.
    pub fn stop_recording(&self, id: SessionId) {
        self.recordings().remove(&id);
    }

    async fn begin_recording(&self, id: SessionId) -> Result<Recorder, LiveError> {
        let link = match keeper::connect(&self.config().data.socket(id), Role::Client).await {
            Ok(link) => link,
            Err(KeeperError::NotRunning { .. }) => return Err(LiveError::NotActive(id)),
            Err(error) => return Err(error.into()),
        };
        let body_bytes = self.config().recorded_body_bytes;
        let limits = RecordLimits { body_bytes, ..RecordLimits::default() };
        Ok(Recorder::start(link, limits).await?)
    }
}

/// Records, and again when the connection was lost while the browser runs on.
async fn run(
    supervisor: BrowserSupervisor,
    id: SessionId,
    mut tabs: SessionTabs,
    recorder: Recorder,
) {
    let mut next = Some(recorder);
    let mut pauses = pauses();
    let mut failed = None;
    loop {
        if let Some(recorder) = next.take() {
            let begun = Instant::now();
            baton_debug::record(recorder, &mut tabs).await;
            if begun.elapsed() >= WORKED {
                (pauses, failed) = (self::pauses(), None);
            }
        }
        let Some(pause) = pauses.next() else {
            let error = failed.unwrap_or_else(|| "it ended again and again".to_owned());
            tracing::error!(session = %id, error, "what its tabs do is recorded no longer");
            return supervisor.stop_recording(id);
        };
        tokio::time::sleep(pause).await;
        match supervisor.begin_recording(id).await {
            Ok(recorder) => next = Some(recorder),
            Err(LiveError::NotActive(_)) => return supervisor.stop_recording(id),
            Err(error) if failed.is_none() => {
                tracing::warn!(session = %id, %error, "recording did not begin anew: it is tried again");
                failed = Some(error.to_string());
            }
            Err(error) => failed = Some(error.to_string()),
        }
    }
}

/// The waits between tries to begin anew.
fn pauses() -> impl Iterator<Item = Duration> {
    let growing = ExponentialBuilder::default().with_min_delay(AGAIN).with_max_delay(LONGEST);
    growing.with_max_times(TRIES).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_that_does_not_begin_anew_is_tried_ever_later_and_not_for_ever() {
        let tried: Vec<Duration> = pauses().take(1000).collect();
        assert_eq!(tried.len(), TRIES);
        assert_eq!((tried.first(), tried.last()), (Some(&AGAIN), Some(&LONGEST)));
        assert!(tried.is_sorted());
        let all: Duration = tried.iter().sum();
        assert!(all > Duration::from_mins(10) && all < Duration::from_mins(20), "{all:?}");
    }
}
