//! The stories of the long memory of counters: what only looks as if it had been seen stays, however
//! long ago a copy parted.

use super::node::{Node, start};
use super::stories::two;
use baton_session::revision::vector::TRAIL_MAX;
use baton_session::revision::{Offer, Trail};
use baton_session::{Actor, Epoch, Signed};
use baton_testing::cases;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Writes so many edits, each on top of the one before.
fn write_on(node: &mut Node, mut at: Signed, count: u32) -> Signed {
    for number in 0..count {
        at = node.save(Some(&at), &number.to_string());
    }
    at
}

/// A node's disk was rolled back, and it went on alone for long. A third node has what was lost.
fn gone_on() -> (Node, Node) {
    let (mut a, mut b, first) = two();
    let backup = a.folder.clone();
    a.save(Some(&first), "lost with the disk");
    b.pull(&a);
    a.folder = backup;
    // Time says nothing here: what is written last is the latest.
    a.skew = 60;
    write_on(&mut a, first, 300);
    (a, b)
}

#[test]
fn a_third_node_keeps_what_was_lost_although_the_copy_has_gone_on_for_long() {
    let (a, mut b) = gone_on();
    b.pull(&a);
    assert_eq!(b.heads(&["299", "lost with the disk"]).len(), 2);
}

#[test]
fn a_node_notices_that_its_own_disk_was_rolled_back_long_ago() {
    let (mut a, b) = gone_on();
    let offer = b.folder.replica.offer();
    assert!(a.folder.replica.is_cloned(&offer, a.actor));
    let old = a.actor;
    a.actor.epoch = Epoch::new([9; 8]);
    let author = a.author(start());
    a.folder.replica.leave(old, &author);
    a.take(&offer).unwrap();
    assert_eq!(a.heads(&["299", "lost with the disk"]).len(), 2);
    assert!(!a.folder.replica.is_cloned(&offer, a.actor), "it is noticed once");
}

#[test]
fn what_is_told_of_counters_that_nobody_vouches_for_is_left() {
    let (mut a, b, _) = two();
    let told = json!({a.actor.to_string(): ["7:00000001"], b.actor.to_string(): ["1:00000001"]});
    let trail: Trail = serde_json::from_value(told).unwrap();
    let before = a.folder.replica.clone();
    a.take(&Offer { trail, ..b.folder.replica.offer() }).unwrap();
    assert_eq!(a.folder.replica, before);
}

#[test]
fn its_length_is_bounded() {
    let (mut a, b, first) = two();
    let many = "00000001".repeat(3 * TRAIL_MAX);
    let forked = json!({a.actor.to_string(): [format!("1:{many}"), "2:00000002"]});
    let trail: Trail = serde_json::from_value(forked).unwrap();
    assert_eq!(trail.len(), TRAIL_MAX);
    let told = serde_json::to_value(&trail).unwrap();
    let runs = told[a.actor.to_string()].as_array().unwrap();
    let begins: Vec<&str> = runs.iter().map(|run| run.as_str().unwrap()).collect();
    assert_eq!(
        [&begins[0][..10], &begins[1][..10]],
        ["2:00000001", "2:00000002"],
        "the fork stays"
    );
    assert!(begins[2].starts_with("4099:"), "and the newest");
    a.take(&Offer { trail, ..b.folder.replica.offer() }).unwrap();
    a.save(Some(&first), "second");
    assert!(a.folder.replica.offer().trail.len() <= TRAIL_MAX);
}

#[test]
fn a_text_of_another_form_is_refused() {
    let actor = Node::number(0).actor.to_string();
    for run in
        ["", "1", "1:", "0:00000001", "1:0000000", "1:000000011", "1:0000000G", "-1:00000001"]
    {
        let read = serde_json::from_value::<Trail>(json!({actor.clone(): [run]}));
        let error = read.expect_err(run).to_string();
        assert!(error.starts_with("expected counters of an actor"), "{error}");
    }
}

/// What some actors counted: numbers with gaps and forks.
fn trails() -> impl Strategy<Value = BTreeMap<u8, Vec<(u64, u32)>>> {
    let counted = proptest::collection::vec((1..60u64, 0..3u32), 1..40);
    proptest::collection::btree_map(0..4u8, counted, 0..4)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn its_text_is_read_as_it_was_written(counted in trails()) {
        let name = |number: u8| Actor { line: 1, ..Node::number(number).actor }.to_string();
        let run = |(counter, mark): &(u64, u32)| format!("{counter}:{mark:08x}");
        let told: BTreeMap<String, Vec<String>> = counted
            .iter()
            .map(|(number, marks)| (name(*number), marks.iter().map(run).collect()))
            .collect();
        let trail: Trail = serde_json::from_value(json!(told)).unwrap();
        let written: Value = serde_json::to_value(&trail).unwrap();
        let again: Trail = serde_json::from_value(written.clone()).unwrap();
        prop_assert_eq!(&again, &trail);
        let runs = |told: &Value| told.as_object().unwrap().values().map(|runs| runs.as_array().unwrap().len()).sum::<usize>();
        prop_assert!(runs(&written) <= trail.len());
    }
}
