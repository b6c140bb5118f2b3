//! What a node does not believe: each refusal has its story, and takes nothing.

use super::node::{Node, advance, saying, start};
use baton_session::revision::replica::{HEADS_MAX, OFFER_MAX};
use baton_session::revision::{Offer, Origin, Refused};
use baton_session::{Revision, Signed};
use jiff::SignedDuration;

/// Two nodes, what the second one wrote on top of what the first one did, and its offer.
struct Scene {
    victim: Node,
    writer: Node,
    written: Revision,
    offer: Offer,
}

/// Something that is done to a revision.
type Change<'a> = Box<dyn Fn(&mut Revision) + 'a>;

impl Scene {
    fn new() -> Self {
        let (mut victim, mut writer) = (Node::number(0), Node::number(1));
        let first = victim.save(None, "first");
        writer.pull(&victim);
        let written = (*writer.save(Some(&first), "second")).clone();
        let offer = writer.folder.replica.offer();
        Self { victim, writer, written, offer }
    }

    /// The writer's offer with another revision in the place of its head.
    fn with(&self, change: impl FnOnce(&mut Revision)) -> Offer {
        let mut revision = self.written.clone();
        change(&mut revision);
        Offer { heads: vec![Signed::new(revision, &self.writer.secret)], ..self.offer.clone() }
    }

    /// Why the victim refuses an offer, which changes nothing there.
    fn refusal(&self, offer: &Offer) -> Refused {
        let mut victim = self.victim.clone();
        let refused = victim.take(offer).unwrap_err();
        assert_eq!(victim.folder.replica, self.victim.folder.replica);
        refused
    }
}

#[test]
fn an_honest_offer_is_taken() {
    let mut scene = Scene::new();
    let offer = scene.with(|_| {});
    assert_eq!(scene.victim.take(&offer).unwrap().gained.len(), 1);
}

#[test]
fn a_revision_that_was_changed_on_its_way_is_refused() {
    let scene = Scene::new();
    let mut changed = serde_json::to_value(&scene.offer).unwrap();
    changed["heads"][0]["revision"]["checksum"] = saying("other").checksum.to_string().into();
    let refused = scene.refusal(&serde_json::from_value(changed).unwrap());
    assert!(matches!(refused, Refused::Signature { .. }), "{refused}");
}

#[test]
fn a_revision_that_another_key_signed_is_refused() {
    let scene = Scene::new();
    let mut changed = serde_json::to_value(&scene.offer).unwrap();
    changed["heads"][0]["signer"] = scene.victim.secret.key().to_string().into();
    changed["heads"][0]["revision"]["author"] = scene.victim.actor.to_string().into();
    let refused = scene.refusal(&serde_json::from_value(changed).unwrap());
    assert!(matches!(refused, Refused::Signature { .. }), "{refused}");
}

#[test]
fn a_revision_of_another_session_is_refused() {
    let scene = Scene::new();
    let other = "0197c0de-5100-7000-8000-000000000003".parse().unwrap();
    let refused = scene.refusal(&scene.with(|revision| revision.session = other));
    assert!(matches!(refused, Refused::OtherSession { .. }), "{refused}");
}

#[test]
fn nobody_covers_what_a_node_will_ever_write() {
    let scene = Scene::new();
    let victim = scene.victim.actor;
    let refused = scene.refusal(&scene.with(|revision| advance(revision, victim, 1 << 50)));
    assert!(matches!(refused, Refused::Forged { actor, .. } if actor == victim), "{refused}");
    // Nor does what joins others, although any node may sign that.
    let mut offer = scene.offer.clone();
    offer.heads.push(
        scene
            .with(|revision| {
                revision.author = None;
                advance(revision, victim, 2);
            })
            .heads
            .remove(0),
    );
    let refused = scene.refusal(&offer);
    assert!(matches!(refused, Refused::Forged { counter: 2, .. }), "{refused}");
}

#[test]
fn a_counter_that_its_author_never_advanced_is_refused() {
    let scene = Scene::new();
    let unwritten = Node::number(1).actor;
    let elsewhere = baton_session::Actor { epoch: Node::number(7).actor.epoch, ..unwritten };
    let refused = scene.refusal(&scene.with(|revision| revision.author = Some(elsewhere)));
    assert!(matches!(refused, Refused::Forged { counter: 0, .. }), "{refused}");
    // A join of the writer's own may not advance its counter either.
    let refused = scene.refusal(&scene.with(|revision| revision.author = None));
    assert!(matches!(refused, Refused::Forged { counter: 1, .. }), "{refused}");
}

#[test]
fn an_offer_without_the_witness_of_its_claims_is_refused() {
    let scene = Scene::new();
    let mut stranger = Node::number(2);
    let bare = Offer { history: Vec::new(), ..scene.offer.clone() };
    let refused = stranger.take(&bare).unwrap_err();
    assert!(matches!(refused, Refused::Forged { .. }), "{refused}");
    stranger.take(&scene.offer).unwrap();
}

#[test]
fn nobody_writes_in_the_name_of_another_node() {
    let scene = Scene::new();
    let victim = scene.victim.actor;
    let refused = scene.refusal(&scene.with(|revision| revision.author = Some(victim)));
    assert!(matches!(refused, Refused::OtherAuthor { actor, .. } if actor == victim), "{refused}");
}

#[test]
fn a_head_from_the_future_is_refused_and_an_old_revision_from_there_is_not() {
    let scene = Scene::new();
    let ahead = start() + SignedDuration::from_hours(25);
    let future = scene.with(|revision| revision.modified_at = ahead);
    let refused = scene.refusal(&future);
    assert!(matches!(refused, Refused::AheadOfClock { found, .. } if found == ahead), "{refused}");
    let mut old = scene.offer.clone();
    old.history.extend(future.heads);
    scene.victim.clone().take(&old).unwrap();
}

#[test]
fn a_revision_that_is_larger_than_any_is_refused() {
    let scene = Scene::new();
    let id = Signed::new(scene.written.clone(), &scene.writer.secret).id();
    let epoch = |number: u64| baton_session::Epoch::new(number.to_be_bytes());
    let actor = |number| baton_session::Actor { epoch: epoch(number), ..scene.writer.actor };
    let oversize: [(&str, Change<'_>); 6] = [
        ("actors", Box::new(|of| (0..300).for_each(|number| advance(of, actor(number), 1)))),
        ("parents", Box::new(move |of| of.parents = vec![id; 65])),
        ("siblings", Box::new(move |of| of.conflicts = vec![id; 65])),
        ("bytes of text", Box::new(|of| of.description = "a".repeat(17 * 1024))),
        ("as version", Box::new(|of| of.version = 1 << 53)),
        ("as size", Box::new(|of| of.size = 1 << 53)),
    ];
    for (expected, change) in oversize {
        let refused = scene.refusal(&scene.with(change));
        let Refused::TooMany { what, .. } = refused else { panic!("{refused}") };
        assert_eq!(what, expected);
    }
    let by = |of: &mut Revision| {
        of.origin = Origin { created_by: "a".repeat(1 << 15), ..of.origin.clone() }
    };
    assert!(matches!(scene.refusal(&scene.with(by)), Refused::TooMany { .. }));
}

#[test]
fn a_loser_that_did_not_come_along_is_asked_for() {
    let scene = Scene::new();
    let missing = Signed::new(scene.written.clone(), &scene.writer.secret).id();
    let named = scene.with(|revision| {
        revision.conflicts = vec![missing];
        revision.description = "a merge".to_owned();
    });
    let refused = scene.refusal(&named);
    assert!(matches!(refused, Refused::Incomplete { missing: id, .. } if id == missing));
    // A header alone is not its content.
    let mut header = named.clone();
    header.history.extend(scene.offer.heads.clone());
    assert!(matches!(scene.refusal(&header), Refused::Incomplete { .. }));
    let mut whole = named;
    whole.kept.extend(scene.offer.heads.clone());
    let change = scene.victim.clone().take(&whole).unwrap();
    assert_eq!(change.gained.len(), 2);
}

#[test]
fn more_conflicts_than_anyone_looks_through_are_refused() {
    let scene = Scene::new();
    let mut crowd = Node::number(2);
    let offers: Vec<Offer> = (0..=HEADS_MAX)
        .map(|number| {
            let mut one = crowd.clone();
            one.actor.epoch = baton_session::Epoch::new([u8::try_from(number).unwrap(); 8]);
            one.save(None, &number.to_string());
            one.folder.replica.offer()
        })
        .collect();
    let taken = offers.iter().take_while(|offer| crowd.take(offer).is_ok()).count();
    assert_eq!(taken, HEADS_MAX);
    let refused = crowd.take(&offers[HEADS_MAX]).unwrap_err();
    assert!(matches!(refused, Refused::TooManyHeads { limit: HEADS_MAX }), "{refused}");
    // Whoever ends them can take again.
    let author = crowd.author(start());
    crowd.folder.replica.resolve(saying("decided"), &author);
    crowd.take(&scene.offer).unwrap();
}

#[test]
fn an_offer_without_end_is_refused() {
    let scene = Scene::new();
    let history = vec![scene.offer.heads[0].clone(); OFFER_MAX];
    let refused = scene.refusal(&Offer { history, ..scene.offer.clone() });
    assert!(matches!(refused, Refused::TooLong { found, .. } if found == OFFER_MAX + 1));
}

#[test]
fn a_refusal_says_what_was_expected_and_what_to_do() {
    let scene = Scene::new();
    let victim = scene.victim.actor;
    let forged = scene.refusal(&scene.with(|revision| advance(revision, victim, 7)));
    let text = forged.to_string();
    let (_, claim) = text.split_once(": ").unwrap();
    let expected = format!(
        "expected a revision by {} that vouches for its counter 7, found none\n\
         ask the peer to offer its history too",
        victim.node
    );
    assert_eq!(claim, expected);
}
