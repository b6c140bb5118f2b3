//! Names: one text for one thing, read as it is written.

use super::node::Node;
use baton_session::revision::vector::COUNTER_MAX;
use baton_session::{
    Actor, Epoch, Fingerprint, NodeKey, NodeSecret, NodeSignature, RevisionId, Vector,
};

/// The first test of RFC 8032, section 7.1: an empty message.
#[test]
fn a_key_signs_as_the_standard_says() {
    let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    let seed: Fingerprint = seed.parse().unwrap();
    let digits = seed.to_string().replace(' ', "");
    let bytes: Vec<u8> =
        (0..64).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect();
    let secret = NodeSecret::from_seed(&bytes.try_into().unwrap());
    let signature = secret.sign(b"");
    insta::assert_snapshot!(
        format!("{}\n{}\n{}", secret.key(), signature, secret.key().node_id()),
        @r"
        11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo
        5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc-bRr0lv18FlbviRlUUFDjnoQCw
        dd457a96-5730-8d47-9fc8-a7ae791d9bd1
        "
    );
    secret.key().verify(b"", &signature).unwrap();
    secret.key().verify(b"other", &signature).unwrap_err();
    assert!(!format!("{secret:?}").contains(&seed.to_string()[..9]));
}

#[test]
fn a_key_and_a_signature_are_read_as_they_are_written() {
    let secret = NodeSecret::from_seed(&[7; 32]);
    let (key, signature) = (secret.key(), secret.sign(b"message"));
    assert_eq!(key.to_string().parse::<NodeKey>().unwrap(), key);
    assert_eq!(signature.to_string().parse::<NodeSignature>().unwrap(), signature);
    let short = &key.to_string()[1..];
    assert_eq!(
        short.parse::<NodeKey>().unwrap_err().to_string(),
        "expected the key of a node: 43 characters of base64url"
    );
    key.to_string().parse::<NodeSignature>().unwrap_err();
}

#[test]
fn a_fingerprint_is_compared_by_people() {
    let fingerprint = NodeSecret::from_seed(&[7; 32]).key().fingerprint();
    let text = fingerprint.to_string();
    assert_eq!(text.split(' ').map(str::len).collect::<Vec<_>>(), [4; 16]);
    for text in [text.to_uppercase(), text.replace(' ', ""), text.replace(' ', ":")] {
        assert_eq!(text.parse::<Fingerprint>().unwrap(), fingerprint);
    }
    for text in ["", &text[1..], &text.replace(&text[..1], "+"), &text.replace(&text[..1], "é")] {
        text.parse::<Fingerprint>().unwrap_err();
    }
}

#[test]
fn an_actor_and_a_revision_have_one_name() {
    let node = Node::number(0);
    let line = Actor { line: 3, ..node.actor };
    for actor in [node.actor, line] {
        assert_eq!(actor.to_string().parse::<Actor>().unwrap(), actor);
    }
    assert!(line.to_string().ends_with("#0000000000000000.3"), "{line}");
    let name = node.actor.to_string();
    let bad =
        [name.to_uppercase(), format!("{name}.0"), format!("{name}.03"), format!("{name}.-1")];
    for text in bad.iter().map(String::as_str).chain(["", "#", "a#b"]) {
        assert!(text.parse::<Actor>().is_err(), "{text}");
    }
    let id = Node::number(0).save(None, "first").id();
    assert_eq!((id.to_string().parse::<RevisionId>().unwrap(), id.version()), (id, 1));
    for text in [format!("+{id}"), format!("0{id}"), format!("{id}0"), "1-".to_owned()] {
        assert!(text.parse::<RevisionId>().is_err(), "{text}");
    }
}

#[test]
fn a_counter_is_a_number_that_somebody_counted_to() {
    let actor = Actor::new(Node::number(0).actor.node, Epoch::new([1; 8]));
    let vector = |counter: u64| {
        serde_json::from_value::<Vector>(serde_json::json!({ actor.to_string(): counter }))
    };
    assert_eq!(vector(COUNTER_MAX).unwrap().get(&actor), COUNTER_MAX);
    for counter in [0, COUNTER_MAX + 1] {
        let error = vector(counter).unwrap_err().to_string();
        assert_eq!(error, format!("expected counters from 1 to 9007199254740991, found {counter}"));
    }
}

#[test]
fn a_revision_comes_back_as_it_was_signed() {
    let written = Node::number(0).save(None, "first");
    let text = serde_json::to_string(&written).unwrap();
    let again: baton_session::Signed = serde_json::from_str(&text).unwrap();
    assert_eq!(again, written);
    again.verify().unwrap();
    let unknown = text.replacen("{\"revision\":{", "{\"revision\":{\"new\":1,", 1);
    serde_json::from_str::<baton_session::Signed>(&unknown).unwrap_err();
}
