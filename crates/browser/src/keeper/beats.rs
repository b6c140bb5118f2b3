//! The beats of a node on their way to its keepers: until when each may let its browser live.
//!
//! The one idea: a keeper lets clients in once its browser speaks, and a browser may take longer to start than a
//! lease lasts. So until the node has connected its beats come over the pipe by which the keeper was told what to
//! do: a line each, after that. A node that is gone says none, and a browser that is still starting ends in time.

use super::protocol::BootInstant;
use std::future;
use std::io::BufRead;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

/// The beats of a node that shares its database.
#[derive(Debug, Clone)]
pub struct Beats {
    renewed: watch::Receiver<BootInstant>,
    time: Duration,
}

impl Beats {
    /// The beats that began when `renewed` says so, each of which gives a browser so much time.
    pub fn new(renewed: watch::Receiver<BootInstant>, time: Duration) -> Self {
        Self { renewed, time }
    }

    /// Until when a browser may live by the last of them; [`next`](Self::next) waits for another one.
    pub fn until(&mut self) -> BootInstant {
        self.renewed.borrow_and_update().after(self.time)
    }

    /// Waits for a beat that was not told yet. Those that came meanwhile are one. None when no more can come.
    pub async fn next(&mut self) -> Option<BootInstant> {
        self.renewed.changed().await.ok()?;
        Some(self.until())
    }
}

/// Tells a keeper of every beat, until it reads no more.
pub(super) async fn tell(mut keeper: impl AsyncWrite + Unpin, mut beats: Beats) {
    while let Some(until) = beats.next().await {
        let Ok(mut line) = serde_json::to_vec(&until) else { return };
        line.push(b'\n');
        if keeper.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// What is found of a browser whose lease has run out.
pub(super) const UNHELD: &str = "that no node holds its session any more";

/// When a browser has to be gone, unless the node says otherwise before; never where it does not need the node.
#[derive(Debug, Clone, Default)]
pub(super) struct Lapse(watch::Sender<Option<BootInstant>>);

impl Lapse {
    /// At first.
    pub(super) fn new(until: Option<BootInstant>) -> Self {
        Self(watch::Sender::new(until))
    }

    /// As a node says that has connected; see `Baton.hold`. What has run out stays so: another node may have the
    /// session by then.
    pub(super) fn set(&self, until: BootInstant) {
        self.0.send_if_modified(|lapse| {
            let is_alive = lapse.is_none_or(|known| known > BootInstant::now());
            if is_alive {
                *lapse = Some(until);
            }
            is_alive
        });
    }

    /// Whether it has run out.
    pub(super) fn is_over(&self) -> bool {
        self.0.borrow().is_some_and(|until| until <= BootInstant::now())
    }

    /// Hears the beats of the node on a thread of its own, until it says no more: also while the loop is busy with
    /// the start of its browser.
    pub(super) fn follow(&self, beats: impl BufRead + Send + 'static) {
        if self.0.borrow().is_none() {
            return;
        }
        let lapse = self.clone();
        std::thread::spawn(move || {
            for line in beats.lines().map_while(Result::ok) {
                match serde_json::from_str(&line) {
                    Ok(until) => lapse.extend(until),
                    Err(error) => tracing::warn!(%error, "a beat of the node was not understood"),
                }
            }
        });
    }

    /// Until later; what comes late takes nothing back, and gives nothing back that has run out.
    fn extend(&self, until: BootInstant) {
        self.0.send_if_modified(|lapse| {
            let is_later = lapse.is_some_and(|known| known < until && known > BootInstant::now());
            if is_later {
                *lapse = Some(until);
            }
            is_later
        });
    }

    /// Waits until then.
    pub(super) async fn reached(&self) {
        let mut told = self.0.subscribe();
        loop {
            let until = *told.borrow_and_update();
            let reached = async {
                match until {
                    Some(until) => until.reached().await,
                    None => future::pending().await,
                }
            };
            tokio::select! {
                // It never ends by itself: this holds the sender.
                _ = told.changed() => {}
                () = reached => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Write, pipe};

    fn line(until: BootInstant) -> String {
        format!("{}\n", serde_json::to_string(&until).unwrap())
    }

    #[tokio::test]
    async fn a_browser_lives_by_the_latest_beat() {
        let now = BootInstant::now();
        let (first, later) =
            (now.after(Duration::from_secs(20)), now.after(Duration::from_mins(1)));
        let (node, mut says) = pipe().unwrap();
        // The second one comes late.
        says.write_all(format!("{}nonsense\n{}", line(later), line(first)).as_bytes()).unwrap();
        drop(says);
        let lapse = Lapse::new(Some(first));
        lapse.follow(std::io::BufReader::new(node));
        let mut told = lapse.0.subscribe();
        told.wait_for(|until| *until == Some(later)).await.unwrap();
        assert!(!lapse.is_over());
    }

    #[tokio::test]
    async fn who_needs_no_node_is_given_no_end_by_one() {
        let lapse = Lapse::new(None);
        lapse.extend(BootInstant::now());
        let never = tokio::time::timeout(Duration::from_millis(20), lapse.reached());
        never.await.unwrap_err();
    }

    #[tokio::test]
    async fn a_lease_that_has_run_out_is_not_revived() {
        let now = BootInstant::now();
        let lapse = Lapse::new(Some(now));
        assert!(lapse.is_over());
        // The machine slept, and another node may have begun.
        lapse.set(now.after(Duration::from_mins(1)));
        lapse.extend(now.after(Duration::from_mins(1)));
        lapse.reached().await;
        assert!(lapse.is_over());
        let soon = now.after(Duration::from_millis(20));
        Lapse::new(Some(soon)).reached().await;
        assert!(BootInstant::now() >= soon);
    }

    #[tokio::test]
    async fn every_beat_is_told_and_those_that_nobody_waited_for_are_one() {
        let (now, time) = (BootInstant::now(), Duration::from_mins(1));
        let beat = |number| now.after(Duration::from_secs(number));
        let renewed = watch::Sender::new(now);
        let mut beats = Beats::new(renewed.subscribe(), time);
        assert_eq!(beats.until(), now.after(time));
        renewed.send_replace(beat(1));
        renewed.send_replace(beat(2));
        assert_eq!(beats.next().await, Some(beat(2).after(time)));
        renewed.send_replace(beat(3));
        drop(renewed);
        let mut told = Vec::new();
        tell(&mut told, beats).await;
        assert_eq!(String::from_utf8(told).unwrap(), line(beat(3).after(time)));
    }
}
