//! How the changes of web storage in each target are heard: write by write, or in samples.
//!
//! The one idea: each event of a write costs the page, the browser, its keeper and us. A target whose
//! pages write without end is muted, and samplers in it tell a few times a second what changed: until a
//! document comes or leaves, or a capture reads it.

use crate::cdp::CdpSessionId;
use baton_session::StorageKey;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// How many events at once make a flood.
const FLOOD: f64 = 64.0;
/// How many a second do not.
const TRICKLE: f64 = 32.0;

/// How each target is heard.
#[derive(Debug, Default)]
pub(crate) struct Hearings {
    targets: HashMap<CdpSessionId, Hearing>,
    last_mark: u64,
}

/// A muting that has begun. Marks that were given out since are of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) struct Muting(u64);

#[derive(Debug, Default)]
struct Hearing {
    flood: Flood,
    state: State,
    /// The storage key of what each sampler tells.
    samplers: BTreeMap<u64, StorageKey>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Write by write.
    #[default]
    Events,
    /// Still write by write, while samplers start.
    Muting(Muting),
    /// In samples.
    Muted(Muting),
    /// Write by write, whatever the document does: it has more than samples can hold.
    Always,
}

/// How many writes have come of late.
#[derive(Debug, Default)]
struct Flood {
    level: f64,
    at: Option<Instant>,
}

impl Flood {
    /// Counts one more, and says whether it is a flood by now.
    fn count(&mut self, now: Instant) -> bool {
        let since = self.at.replace(now).map(|at| now.saturating_duration_since(at));
        let trickled = since.map_or(0.0, |since| since.as_secs_f64() * TRICKLE);
        self.level = (self.level - trickled).max(0.0) + 1.0;
        self.level >= FLOOD
    }
}

impl Hearings {
    /// Counts an event of a target. When it is one too many, a muting begins, which is the caller's.
    pub(super) fn count(&mut self, target: &CdpSessionId, now: Instant) -> Option<Muting> {
        let hearing = self.targets.entry(target.clone()).or_default();
        if hearing.state != State::Events || !hearing.flood.count(now) {
            return None;
        }
        let muting = Muting(self.last_mark);
        hearing.state = State::Muting(muting);
        Some(muting)
    }

    /// A mark for a sampler of a storage key; none when the muting was given up meanwhile.
    pub(super) fn mark(
        &mut self,
        target: &CdpSessionId,
        muting: Muting,
        key: &StorageKey,
    ) -> Option<u64> {
        let hearing = self.targets.get_mut(target)?;
        if hearing.state != State::Muting(muting) {
            return None;
        }
        self.last_mark += 1;
        hearing.samplers.insert(self.last_mark, key.clone());
        Some(self.last_mark)
    }

    /// Ends a muting that has begun: from now on samples tell. Returns the keys that they speak of;
    /// none when the muting was given up meanwhile.
    pub(super) fn mute(
        &mut self,
        target: &CdpSessionId,
        muting: Muting,
    ) -> Option<impl Iterator<Item = &StorageKey>> {
        let hearing = self.targets.get_mut(target)?;
        if hearing.state != State::Muting(muting) {
            return None;
        }
        hearing.state = State::Muted(muting);
        hearing.samplers.retain(|mark, _| *mark > muting.0);
        Some(hearing.samplers.values())
    }

    /// Gives up a muting that has begun, and does not try again soon when that would not help.
    pub(super) fn give_up(&mut self, target: &CdpSessionId, muting: Muting, for_good: bool) {
        if let Some(hearing) = self.targets.get_mut(target)
            && hearing.state == State::Muting(muting)
        {
            hearing.state = if for_good { State::Always } else { State::Events };
            hearing.flood = Flood::default();
        }
    }

    /// A target is heard write by write again. Returns whether it was muted.
    pub(super) fn hear(&mut self, target: &CdpSessionId) -> bool {
        self.become_heard(target, State::Events)
    }

    /// The same until a document comes or leaves, or a capture reads it.
    pub(super) fn hear_always(&mut self, target: &CdpSessionId) -> bool {
        self.become_heard(target, State::Always)
    }

    fn become_heard(&mut self, target: &CdpSessionId, state: State) -> bool {
        let Some(hearing) = self.targets.get_mut(target) else {
            return false;
        };
        hearing.flood = Flood::default();
        matches!(std::mem::replace(&mut hearing.state, state), State::Muted(_))
    }

    /// The key of which a sampler tells, and whether it is of the newest muting.
    pub(super) fn sampled(&self, target: &CdpSessionId, mark: u64) -> Option<(StorageKey, bool)> {
        let hearing = self.targets.get(target)?;
        let is_new = match hearing.state {
            State::Muting(Muting(since)) | State::Muted(Muting(since)) => mark > since,
            State::Events | State::Always => false,
        };
        Some((hearing.samplers.get(&mark)?.clone(), is_new))
    }

    /// All targets of which something is known.
    pub(super) fn targets(&self) -> Vec<CdpSessionId> {
        self.targets.keys().cloned().collect()
    }

    /// A target has left.
    pub(super) fn forget(&mut self, target: &CdpSessionId) {
        self.targets.remove(target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn target() -> CdpSessionId {
        "S".into()
    }

    /// When the first of `count` events, one every `pause`, begins a muting.
    fn begins(hearings: &mut Hearings, count: u32, pause: Duration) -> Option<(u32, Muting)> {
        let start = Instant::now();
        (1..=count)
            .find_map(|at| hearings.count(&target(), start + pause * at).map(|muting| (at, muting)))
    }

    fn muted(hearings: &mut Hearings) -> u64 {
        let (_, muting) = begins(hearings, 64, Duration::ZERO).unwrap();
        let key = StorageKey::first_party("https://app.test");
        let mark = hearings.mark(&target(), muting, &key).unwrap();
        assert!(hearings.mute(&target(), muting).unwrap().eq([&key]));
        mark
    }

    #[test]
    fn a_flood_begins_a_muting_once_and_a_trickle_never_does() {
        let hearings = &mut Hearings::default();
        assert_eq!(begins(hearings, 10_000, Duration::from_millis(32)), None);
        let hearings = &mut Hearings::default();
        let (at, _) = begins(hearings, 1000, Duration::from_millis(3)).unwrap();
        assert!((64..80).contains(&at), "{at}");
        assert_eq!(begins(hearings, 1000, Duration::from_millis(3)), None);
    }

    #[test]
    fn a_muting_that_was_given_up_mutes_nothing() {
        let hearings = &mut Hearings::default();
        let (_, muting) = begins(hearings, 64, Duration::ZERO).unwrap();
        assert!(!hearings.hear(&target()));
        assert!(hearings.mute(&target(), muting).is_none());
        // Nor does it when another one has begun.
        muted(hearings);
        hearings.hear(&target());
        let (_, second) = begins(hearings, 64, Duration::ZERO).unwrap();
        assert_ne!(muting, second);
        assert!(hearings.mute(&target(), muting).is_none());
    }

    #[test]
    fn a_muted_target_is_heard_again_and_counts_anew() {
        let hearings = &mut Hearings::default();
        muted(hearings);
        assert!(hearings.hear(&target()));
        assert!(!hearings.hear(&target()));
        assert_eq!(begins(hearings, 63, Duration::ZERO), None);
        assert!(begins(hearings, 2, Duration::ZERO).is_some());
    }

    #[test]
    fn a_sampler_of_an_older_muting_ends_nothing() {
        let hearings = &mut Hearings::default();
        let first = muted(hearings);
        assert!(hearings.sampled(&target(), first).unwrap().1);
        hearings.hear(&target());
        begins(hearings, 64, Duration::ZERO).unwrap();
        assert!(!hearings.sampled(&target(), first).unwrap().1);
        assert_eq!(hearings.sampled(&target(), 1000), None);
    }

    #[test]
    fn what_is_too_large_is_not_muted_again() {
        let hearings = &mut Hearings::default();
        muted(hearings);
        assert!(hearings.hear_always(&target()));
        assert_eq!(begins(hearings, 1000, Duration::ZERO), None);
        hearings.hear(&target());
        let (_, muting) = begins(hearings, 1000, Duration::ZERO).unwrap();
        hearings.give_up(&target(), muting, true);
        assert_eq!(begins(hearings, 1000, Duration::ZERO), None);
    }
}
