//! Stories of nodes that see a part of a session.

use super::node::{Node, content, deleted, log_in, start};
use baton_session::egress::Egress;
use baton_session::revision::merge::{Side, merge_views};
use baton_session::revision::{Knowledge, Offer, Order, Refused, Within};
use baton_session::{NodeSecret, Revision, Signed, Site, State, StateKind, Vector, View};
use std::collections::BTreeMap;

fn shop() -> View {
    View { sites: Some([Site::of_host("site0.test")].into()), kinds: None }
}

fn state(values: [&str; 2]) -> State {
    let mut state = State::default();
    for (site, value) in (0..).zip(values) {
        log_in(&mut state, site, value.to_owned());
    }
    state
}

/// What a node offers of its only head to somebody who sees the shop.
fn offer(node: &Node, seen: &State) -> Offer {
    let replica = &node.folder.replica;
    let head = replica.heads().next().unwrap();
    let says = if head.deleted { deleted() } else { content(seen) };
    let view = head.seen_through(&shop(), says, Vec::new(), &node.secret);
    replica.offer_seen(&BTreeMap::from([(head.id(), Some(view))]))
}

/// A node with the whole session, and one that was given a part of it.
fn two() -> (Node, Node) {
    let (mut whole, mut part) = (Node::number(1), Node::number(2));
    let author = whole.author(start());
    whole.folder.replica.edit(None, content(&state(["shop", "bank"])), &author);
    let seen = shop().of(&state(["shop", "bank"]));
    part.take(&offer(&whole, &seen)).unwrap();
    (whole, part)
}

#[test]
fn what_was_left_out_is_marked() {
    let (whole, part) = two();
    let [all, seen] = [&whole, &part].map(|node| node.folder.replica.current().unwrap());
    assert!(!all.is_partial() && seen.is_partial());
    assert_eq!(seen.vector, all.vector);
    assert_eq!((all.compare(seen), seen.compare(all)), (Order::After, Order::Before));
    let bank = Site::of_host("site1.test");
    assert_eq!(seen.knowledge().at((Some(&bank), StateKind::Cookies)), None);
}

#[test]
fn a_part_that_comes_back_changed_takes_the_place_of_that_part_only() {
    let (mut whole, mut part) = two();
    let base = part.folder.replica.current().cloned();
    let author = part.author(start());
    let new = shop().of(&state(["new", "bank"]));
    part.folder.replica.edit(base.as_ref(), content(&new), &author);
    let before = whole.folder.replica.current().cloned().unwrap();
    whole.pull(&part);
    let replica = &whole.folder.replica;
    assert_eq!(replica.heads().count(), 2);
    assert_eq!(replica.current(), Some(&before), "a part never counts before a whole");
    let plan = replica.merge_plan().unwrap();
    assert!(plan.bases.is_empty(), "nobody has to decide");
}

#[test]
fn whoever_deletes_a_part_lets_go_of_that_and_of_nothing_else() {
    let (mut whole, mut part) = two();
    let author = part.author(start());
    part.folder.replica.delete(deleted(), &author);
    assert!(part.folder.replica.current().unwrap().deleted);
    let before: Vec<Signed> = whole.folder.replica.heads().cloned().collect();
    whole.pull(&part);
    assert_eq!(whole.folder.replica.heads().cloned().collect::<Vec<_>>(), before);
    part.take(&offer(&whole, &state(["shop", "bank"]))).unwrap();
    assert!(part.folder.replica.current().unwrap().deleted, "it stays so there");
}

#[test]
fn a_session_that_was_deleted_is_so_for_whoever_sees_a_part() {
    let (mut whole, mut part) = two();
    let author = whole.author(start());
    whole.folder.replica.delete(deleted(), &author);
    part.take(&offer(&whole, &State::default())).unwrap();
    assert!(part.folder.replica.current().unwrap().deleted);
}

#[test]
fn a_part_that_is_saved_as_it_was_after_a_deletion_lives_as_a_part() {
    let (mut whole, mut part) = two();
    let seen = part.folder.replica.current().unwrap().clone();
    let author = whole.author(start());
    whole.folder.replica.delete(deleted(), &author);
    part.take(&offer(&whole, &State::default())).unwrap();
    let author = part.author(start());
    let again = part.folder.replica.edit(Some(&seen), seen.content(), &author);
    assert!(again.is_partial() && !again.deleted);
    assert_eq!(part.folder.replica.current(), Some(&again));
}

#[test]
fn what_is_said_of_views_in_disorder_is_refused() {
    let (whole, part) = two();
    let seen = part.folder.replica.current().unwrap();
    let within = |view: View, vector: &Vector| Within { view, vector: vector.clone() };
    let whole_too = within(View::whole(), &seen.vector);
    for wrong in [
        vec![within(shop(), &Vector::default())],
        vec![whole_too.clone()],
        vec![within(shop(), &seen.vector), whole_too],
    ] {
        let forged = Revision { within: wrong, ..Revision::clone(seen) };
        let forged = Signed::new(forged, &NodeSecret::from_seed(&[9; 32]));
        let offer = Offer { heads: vec![forged], ..whole.folder.replica.offer() };
        let refused = Node::number(3).take(&offer).unwrap_err();
        assert!(matches!(refused, Refused::Views { .. }), "{refused}");
    }
}

#[test]
fn what_is_known_of_two_parts_is_known_of_both_together() {
    let [one, other, neither] =
        ["site0.test", "site1.test", "site2.test"].map(|host| Some(Site::of_host(host)));
    let view = |sites: [&Option<Site>; 2]| View {
        sites: Some(sites.into_iter().flatten().cloned().collect()),
        kinds: None,
    };
    let vector = two().0.folder.replica.current().unwrap().vector.clone();
    let within = |view: View| Within { view, vector: vector.clone() };
    let known = Knowledge::new([within(view([&one, &None])), within(view([&other, &None]))]);
    assert_eq!(known.throughout(&view([&one, &other])), Some(vector.clone()));
    assert_eq!(known.throughout(&view([&one, &neither])), None);
    assert!(known.covers(&Knowledge::new([within(view([&one, &other]))])));
}

/// A way out to this host alone.
fn to(host: &str) -> Egress {
    Egress { only: vec![host.to_owned()], ..Egress::default() }
}

fn led(values: [&str; 2], egress: Option<Egress>) -> State {
    let mut state = state(values);
    state.environment.egress = egress;
    state
}

#[test]
fn what_comes_back_of_a_part_neither_takes_the_way_out_nor_brings_one() {
    let (whole, mut part) = two();
    let base = part.folder.replica.current().cloned();
    let author = part.author(start());
    let new = shop().of(&state(["new", "bank"]));
    let changed = part.folder.replica.edit(base.as_ref(), content(&new), &author);
    let by_whole = whole.folder.replica.current().unwrap().knowledge();
    let by_part = changed.knowledge();
    for (kept, came, counts) in [
        // An older node has lost it on its way.
        (Some(to("shop.test")), None, Some(to("shop.test"))),
        (Some(to("shop.test")), Some(to("bank.test")), Some(to("shop.test"))),
        (None, Some(to("bank.test")), None),
    ] {
        let kept = led(["shop", "bank"], kept);
        let came = shop().of(&led(["new", "bank"], came));
        let one = Side { knowledge: &by_whole, state: &kept };
        let other = Side { knowledge: &by_part, state: &came };
        for (winner, loser) in [(one, other), (other, one)] {
            let merged = merge_views(None, winner, loser).state;
            assert_eq!(merged.environment.egress, counts);
            assert_eq!(merged.cookies, led(["new", "bank"], None).cookies);
        }
    }
}

#[test]
fn of_two_parts_the_one_that_has_a_way_out_counts() {
    let vector = two().0.folder.replica.current().unwrap().vector.clone();
    let known = |kind: StateKind| {
        let view = View { sites: None, kinds: Some([kind].into()) };
        Knowledge::new([Within { view, vector: vector.clone() }])
    };
    let [cookies, storage] = [StateKind::Cookies, StateKind::LocalStorage].map(known);
    let (fenced, other) = (led(["shop", "bank"], Some(to("shop.test"))), State::default());
    let one = Side { knowledge: &cookies, state: &fenced };
    let other = Side { knowledge: &storage, state: &other };
    for (winner, loser) in [(one, other), (other, one)] {
        let merged = merge_views(None, winner, loser).state;
        assert_eq!(merged.environment.egress, Some(to("shop.test")));
        assert_eq!(merged.cookies, fenced.cookies);
    }
}
