//! The store: bounded always, and nothing within its bounds is lost.

use baton_debug::ring::{Change, Missing, Ring};
use baton_testing::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A thing: which it is, and how large.
type Thing = (usize, usize);

#[derive(Debug, Clone)]
enum Step {
    Put(usize),
    /// Change the thing that was put so long ago, to another size.
    Change(usize, usize),
    Skip,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..30usize).prop_map(Step::Put),
        2 => (0..12usize, 0..30usize).prop_map(|(ago, size)| Step::Change(ago, size)),
        1 => Just(Step::Skip),
    ]
}

/// What should be there: the things by the number of their last change.
#[derive(Default)]
struct Model {
    things: BTreeMap<u64, Thing>,
    dropped: Vec<u64>,
}

impl Model {
    fn put(&mut self, done: &Change<Thing>, thing: Thing) {
        self.things.insert(done.seq, thing);
        for gone in &done.dropped {
            let seq = *self.things.iter().find(|(_, one)| one.0 == gone.0).expect("it was there").0;
            self.things.remove(&seq);
            self.dropped.push(seq);
        }
    }
}

fn apply(ring: &mut Ring<Thing>, model: &mut Model, step: &Step, name: usize) {
    match step {
        Step::Put(size) => {
            let done = ring.put(*size, |_| (name, *size));
            model.put(&done, (name, *size));
        }
        Step::Change(ago, size) => {
            let Some((seq, thing)) =
                model.things.iter().rev().nth(*ago).map(|(seq, one)| (*seq, *one))
            else {
                return;
            };
            assert_eq!(ring.change(seq, |_| false, |_, _| 0), None, "unchanged, it stays");
            let edit = |one: &mut Thing| {
                one.1 = *size;
                true
            };
            let done = ring.change(seq, edit, |one, _| one.1).unwrap();
            model.things.remove(&seq);
            model.put(&done, (thing.0, *size));
        }
        Step::Skip => {
            ring.skip();
        }
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_store_keeps_what_fits_and_a_reader_that_keeps_up_sees_everything_once(
        steps in vec((step(), any::<bool>()), 0..120),
        (items, bytes) in (1..12usize, 20..120usize),
    ) {
        let (mut ring, mut model) = (Ring::new(items, bytes), Model::default());
        let (mut cursor, mut seen, mut changes) = (0, Vec::new(), Vec::new());
        for (name, (step, reads)) in steps.iter().enumerate() {
            let (before, gone_before) = (ring.last(), model.dropped.len());
            apply(&mut ring, &mut model, step, name);
            prop_assert!(ring.last() > before || matches!(step, Step::Change(..)));

            let kept: BTreeMap<u64, Thing> = ring.iter().map(|(seq, thing)| (seq, *thing)).collect();
            prop_assert_eq!(&kept, &model.things, "nothing else went");
            let used: usize = kept.values().map(|thing| thing.1).sum();
            prop_assert!(kept.len() <= items && used <= bytes && used == ring.used());
            for gone in &model.dropped[gone_before..] {
                // What is larger than the whole store goes at once; else the oldest.
                let is_oldest = kept.first_key_value().is_none_or(|(oldest, _)| gone < oldest);
                prop_assert!(is_oldest || *gone == ring.last());
            }
            changes.push(ring.last());

            for late in [0, cursor, before] {
                let missed = model.dropped.iter().filter(|seq| **seq > late).count() as u64;
                let expected = (missed > 0).then_some(Missing { count: missed, at_least: false });
                prop_assert_eq!(ring.missing(late), expected);
            }
            if *reads {
                let new: Vec<u64> = ring.after(cursor).map(|(seq, _)| seq).collect();
                prop_assert!(new.is_sorted() && new.iter().all(|seq| *seq > cursor));
                seen.extend(new);
                cursor = ring.last();
            }
        }
        prop_assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "nothing twice, all in order");
    }

    #[test]
    fn what_is_dropped_is_dropped_only_to_make_room(
        sizes in vec(0..40usize, 1..60), (items, bytes) in (1..10usize, 20..100usize),
    ) {
        let mut ring = Ring::new(items, bytes);
        for (name, size) in sizes.iter().enumerate() {
            let (count, used) = (ring.len(), ring.used());
            let done = ring.put(*size, |_| (name, *size));
            let had_room = count < items && used + size <= bytes;
            prop_assert_eq!(done.dropped.is_empty(), had_room);
        }
    }
}

#[test]
fn whoever_comes_after_ten_thousand_drops_is_told_at_least_how_many() {
    let mut ring = Ring::new(1, 100);
    for _ in 0..10_006 {
        ring.put(1, |seq| seq);
    }
    assert_eq!(ring.missing(0), Some(Missing { count: 10_005, at_least: false }));
    assert_eq!(ring.missing(3), Some(Missing { count: 10_001, at_least: true }));
    assert_eq!(ring.missing(10_000), Some(Missing { count: 5, at_least: false }));
    assert_eq!(ring.missing(10_005), None);
}

#[test]
fn a_thing_larger_than_the_store_does_not_drive_out_the_others() {
    let mut ring = Ring::new(10, 100);
    ring.put(60, |_| "small");
    let done = ring.put(101, |_| "huge");
    assert_eq!(done.dropped, ["huge"]);
    assert_eq!(ring.iter().map(|(_, one)| *one).collect::<Vec<_>>(), ["small"]);
    let done = ring.change(1, |_| true, |_, _| 500).unwrap();
    assert_eq!((done.dropped, ring.len(), ring.used()), (vec!["small"], 0, 0));
}
