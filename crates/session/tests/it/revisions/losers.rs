//! The stories of what a merge leaves out: it is asked about until somebody has decided, and not again.

use super::node::{Node, content, saying, start};
use super::stories::state;
use super::world::World;
use baton_session::revision::merge;
use baton_session::{PartHash, Signed, State};
use jiff::SignedDuration;

#[test]
fn two_nodes_that_merge_at_once_write_the_same_and_keep_the_same_loser() {
    let (mut a, mut b) = (Node::number(0), Node::number(1));
    let [base, one, other] = [
        state(&[(0, "old"), (1, "old")]),
        state(&[(0, "new at a"), (1, "old")]),
        state(&[(0, "new at b"), (1, "new at b")]),
    ];
    let author = a.author(start());
    let first = a.folder.replica.edit(None, content(&base), &author);
    b.pull(&a);
    a.folder.replica.edit(Some(&first), content(&one), &author);
    let author = b.author(start() + SignedDuration::from_secs(1));
    b.folder.replica.edit(Some(&first), content(&other), &author);
    let [at_a, at_b] = [a.folder.replica.offer(), b.folder.replica.offer()];
    a.take(&at_b).unwrap();
    b.take(&at_a).unwrap();
    let mut written = Vec::new();
    for node in [&mut a, &mut b] {
        let plan = node.folder.replica.merge_plan().unwrap();
        assert_eq!(
            (plan.bases[0].id(), plan.winner.checksum),
            (first.id(), content(&other).checksum)
        );
        let merged = merge(&base, &other, &one);
        assert!(merged.lost);
        let author = node.author(start());
        let content = content(&merged.state);
        written.push(node.folder.replica.merge(&plan, content, &merged.decisions, &author).id());
        assert_eq!(node.folder.replica.siblings()[0].checksum, content_of(&one));
    }
    assert_eq!(written[0], written[1]);
    assert!(a.pull(&b).is_none());
    // An edit is no decision about the loser; a resolution is.
    let merged = a.folder.replica.current().cloned().unwrap();
    a.save(Some(&merged), "an edit");
    assert_eq!(a.folder.replica.siblings().len(), 1);
    let author = a.author(start());
    a.folder.replica.resolve(saying("decided"), &author);
    assert!(a.folder.replica.siblings().is_empty());
    b.pull(&a);
    assert!(b.folder.replica.siblings().is_empty());
    // An old window stands beside the decision, and does not ask for what was decided about.
    b.save(Some(&merged), "from an old window");
    assert_eq!(b.heads(&["decided", "from an old window"]).len(), 2);
    assert_eq!(b.folder.replica.siblings().len(), 1);
    Node::number(2).pull(&b);
}

#[test]
fn what_a_loser_had_left_out_before_is_no_conflict_where_the_winner_has_it() {
    let (mut a, mut b) = (Node::number(0), Node::number(1));
    let [base, one, other, later] = ["old", "a", "b", "a, later"].map(|login| state(&[(0, login)]));
    let author = |node: &Node, seconds| node.author(start() + SignedDuration::from_secs(seconds));
    let by = author(&b, 0);
    let first = b.folder.replica.edit(None, content(&base), &by);
    a.pull(&b);
    let by = author(&a, 1);
    let at_a = a.folder.replica.edit(Some(&first), content(&one), &by);
    let by = author(&b, 2);
    b.folder.replica.edit(Some(&first), content(&other), &by);
    b.pull(&a);
    let merge_at = |node: &mut Node, base: &State, winner: &State, loser: &State| {
        let plan = node.folder.replica.merge_plan().unwrap();
        assert_eq!(plan.winner.checksum, content_of(winner));
        let merged = merge(base, winner, loser);
        let by = author(node, 9);
        node.folder.replica.merge(&plan, content(&merged.state), &merged.decisions, &by)
    };
    merge_at(&mut b, &base, &other, &one);
    assert_eq!(b.folder.replica.siblings(), [&at_a]);
    // Whoever goes on from what was left out has it.
    let by = author(&a, 3);
    a.folder.replica.edit(Some(&at_a), content(&later), &by);
    a.pull(&b);
    merge_at(&mut a, &one, &later, &other);
    let kept: Vec<_> =
        a.folder.replica.siblings().into_iter().map(|sibling| sibling.checksum).collect();
    assert_eq!(kept, [content_of(&other)]);
    b.pull(&a);
    assert_eq!(b.folder.replica.siblings(), a.folder.replica.siblings());
}

/// Two nodes that merge, and share a first revision with two logins.
fn two_logins() -> (World, Signed) {
    let mut world = World::new(&[true, true]);
    let first = world.nodes[0].folder.base.clone().unwrap();
    let first = save(&mut world, 0, &first, &[(0, "old"), (1, "old")]);
    world.sync(0, 1);
    (world, first)
}

fn save(world: &mut World, at: usize, base: &Signed, logins: &[(u8, &str)]) -> Signed {
    world.time += SignedDuration::from_secs(1);
    world.save(at, Some(base), state(logins)).unwrap()
}

#[test]
fn what_was_answered_on_one_side_is_not_asked_again_because_the_other_went_on() {
    let (mut world, first) = two_logins();
    let one = save(&mut world, 0, &first, &[(0, "one"), (1, "old")]);
    save(&mut world, 1, &first, &[(0, "other"), (1, "old")]);
    world.sync(1, 0);
    world.sync(0, 1);
    let asked = world.nodes[1].folder.replica.current().cloned().unwrap();
    assert_eq!(asked.conflicts, [one.id()]);
    // Here the user takes the login that was left out; there somebody logs in elsewhere.
    world.end(0, Some(&state(&[(0, "one"), (1, "old")])));
    save(&mut world, 1, &asked, &[(0, "other"), (1, "new")]);
    world.round();
    for at in [0, 1] {
        let replica = &world.nodes[at].folder.replica;
        let both = replica.current().unwrap();
        assert_eq!(world.state(both), state(&[(0, "one"), (1, "new")]));
        assert!(replica.siblings().is_empty(), "{}", world.tell(at));
    }
}

#[test]
fn what_was_answered_on_one_side_is_asked_again_where_the_other_side_is_taken() {
    let (mut world, first) = two_logins();
    let one = save(&mut world, 0, &first, &[(0, "one"), (1, "old")]);
    save(&mut world, 1, &first, &[(0, "other"), (1, "old")]);
    world.sync(1, 0);
    world.sync(0, 1);
    let asked = world.nodes[1].folder.replica.current().cloned().unwrap();
    world.end(0, Some(&state(&[(0, "one"), (1, "old")])));
    let answer = world.nodes[0].folder.base.clone().unwrap();
    save(&mut world, 0, &answer, &[(0, "one"), (1, "new")]);
    save(&mut world, 1, &asked, &[(0, "newest"), (1, "old")]);
    world.round();
    let replica = &world.nodes[0].folder.replica;
    let both = replica.current().unwrap();
    assert_eq!(world.state(both), state(&[(0, "newest"), (1, "new")]));
    assert!(both.conflicts.contains(&one.id()), "{}", world.tell(0));
}

fn content_of(state: &State) -> PartHash {
    content(state).checksum
}

#[test]
fn what_was_left_out_and_is_said_again_is_not_asked_about() {
    let mut world = World::new(&[true, true, false]);
    let first = world.nodes[0].folder.base.clone().unwrap();
    let first = save(&mut world, 0, &first, &[(0, "old"), (1, "old")]);
    world.sync(0, 1);
    world.sync(0, 2);
    let one = save(&mut world, 0, &first, &[(0, "one"), (1, "old")]);
    save(&mut world, 1, &first, &[(0, "other"), (1, "old")]);
    world.sync(1, 0);
    let asked = world.nodes[0].folder.replica.current().cloned().unwrap();
    assert_eq!(asked.conflicts, [one.id()]);
    // A third one has made the same of the site, later, and knows nothing of the two.
    save(&mut world, 2, &first, &[(0, "one"), (1, "new")]);
    world.sync(2, 0);
    let replica = &world.nodes[0].folder.replica;
    let merged = replica.current().unwrap();
    assert_eq!(world.state(merged), state(&[(0, "one"), (1, "new")]));
    assert_eq!(replica.siblings(), [&asked], "{}", world.tell(0));
}
