//! Sealed payloads that are for others, that are something else, or that lie about what they hold.

use super::{SealContext, SealingError, ZSTD, encrypt, open, seal};
use crate::identity::Identity;
use age::x25519;
use baton_session::{Epoch, NodeId, SessionId};
use jiff::Timestamp;
use std::io::Write;

const LIMIT: usize = 1 << 20;

fn identity(seed: u8) -> Identity {
    let seal = x25519::Identity::generate().to_string();
    Identity::new(&[seed; 32], &seal, Epoch::new([seed; 8])).unwrap()
}

fn session(random: u8) -> SessionId {
    SessionId::new(Timestamp::UNIX_EPOCH, [random; 10])
}

fn context(recipient: NodeId, sender: NodeId) -> SealContext<'static> {
    SealContext {
        purpose: "exchange",
        session: Some(session(1)),
        revision: None,
        recipient,
        sender,
    }
}

/// A receiver, and the context in which the node of seed 1 sends it something.
fn receiver() -> (Identity, SealContext<'static>) {
    let receiver = identity(2);
    let context = context(receiver.node(), identity(1).node());
    (receiver, context)
}

#[test]
fn a_payload_opens_for_its_receiver_and_nobody_else() {
    let (receiver, context) = receiver();
    for (compress, plain) in
        [(false, &b""[..]), (true, b""), (true, b"dear Ada"), (false, &[7; 300])]
    {
        let sealed = seal(&receiver.seal_key(), &context, plain, compress).unwrap();
        assert_eq!(open(&receiver, &context, &sealed, LIMIT).unwrap(), plain);
        let refused = open(&identity(2), &context, &sealed, LIMIT).unwrap_err();
        assert_eq!(refused, SealingError::ForOthers, "the same id with another seal key");
        let hidden =
            !sealed.windows(8).any(|window| window == b"dear Ada" || window == b"exchange");
        assert!(hidden, "neither payload nor context can be read");
    }
}

#[test]
fn a_payload_opens_as_what_it_was_sealed_as_and_nothing_else() {
    let (receiver, as_sealed) = receiver();
    let sealed = seal(&receiver.seal_key(), &as_sealed, b"dear Ada", false).unwrap();
    let revision = "3-".to_owned() + &"ab".repeat(32);
    let others = [
        SealContext { purpose: "parts", ..as_sealed },
        SealContext { purpose: "", ..as_sealed },
        SealContext { session: Some(session(2)), ..as_sealed },
        SealContext { session: None, ..as_sealed },
        SealContext { revision: Some(revision.parse().unwrap()), ..as_sealed },
        SealContext { recipient: as_sealed.sender, ..as_sealed },
        SealContext { sender: as_sealed.recipient, ..as_sealed },
    ];
    for other in others {
        let refused = open(&receiver, &other, &sealed, LIMIT).unwrap_err();
        assert!(matches!(refused, SealingError::OtherContext(_)), "{other:?}: {refused}");
    }
}

#[test]
fn a_payload_that_was_changed_or_cut_off_does_not_open() {
    let (receiver, context) = receiver();
    let sealed = seal(&receiver.seal_key(), &context, &[7; 100], false).unwrap();
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert!(open(&receiver, &context, &changed, LIMIT).is_err(), "byte {at} was changed");
        assert!(open(&receiver, &context, &sealed[..at], LIMIT).is_err(), "cut off at {at}");
    }
    let longer = [&sealed[..], b"x"].concat();
    assert!(open(&receiver, &context, &longer, LIMIT).is_err(), "something stands behind it");
}

#[test]
fn a_payload_that_holds_more_than_it_may_is_refused_before_it_is_unpacked() {
    let (receiver, context) = receiver();
    for compress in [true, false] {
        let fits = vec![0; LIMIT];
        let sealed = seal(&receiver.seal_key(), &context, &fits, compress).unwrap();
        assert_eq!(open(&receiver, &context, &sealed, LIMIT).unwrap(), fits);
        let refused = open(&receiver, &context, &sealed, LIMIT - 1).unwrap_err();
        assert_eq!(refused, SealingError::TooLarge { limit: LIMIT - 1 });
    }
    let bomb = seal(&receiver.seal_key(), &context, &vec![0; 64 * LIMIT], true).unwrap();
    assert!(bomb.len() < LIMIT, "64 MiB of nothing are small when they are compressed");
    let refused = open(&receiver, &context, &bomb, LIMIT).unwrap_err();
    assert_eq!(refused, SealingError::TooLarge { limit: LIMIT });
}

#[test]
fn a_payload_that_does_not_say_how_much_it_holds_is_refused() {
    let (receiver, context) = receiver();
    let mut stream = zstd::Encoder::new(Vec::new(), 1).unwrap();
    stream.write_all(&[0; 4096]).unwrap();
    let endless = stream.finish().unwrap();
    let small = zstd::bulk::compress(&[0; 16], 1).unwrap();
    let two_frames = [small.clone(), small].concat();
    for body in [endless, two_frames, b"no frame".to_vec()] {
        let sealed = encrypt(&[receiver.seal_key()], &context, ZSTD, &body).unwrap();
        let refused = open(&receiver, &context, &sealed, LIMIT).unwrap_err();
        assert!(matches!(refused, SealingError::Damaged(_)), "{refused}");
    }
    let sealed = encrypt(&[receiver.seal_key()], &context, 9, b"").unwrap();
    let refused = open(&receiver, &context, &sealed, LIMIT).unwrap_err();
    insta::assert_snapshot!(refused, @"expected a whole sealed payload, found one that was cut off or changed: it is packed in an unknown way");
}

#[test]
fn a_seal_costs_less_than_a_kilobyte_and_a_thousandth() {
    let (receiver, context) = receiver();
    for size in [0, 1000, 3 << 20] {
        let noise: Vec<u8> = (0..size).map(|_| rand::random()).collect();
        let sealed = seal(&receiver.seal_key(), &context, &noise, true).unwrap();
        assert!(sealed.len() <= size + size / 1000 + 1024, "{size} became {}", sealed.len());
    }
}
