//! Values that another implementation encrypted, and what must hold for any bytes.

use super::crypt::{CryptError, Key, Keys, open, seal};
use baton_testing::cases;
use proptest::prelude::*;

const HOST: &str = ".app.test";
const PASSWORD: &[u8] = b"bG9yZW0gaXBzdW0gZA==";

/// `kept` for `.app.test` with the fixed password, behind its host.
const FIXED: &str = "763130\
    50b7baa9c2ab6dd45558ad28b4b238bb022b8be9ab5c56e2a3c04f19347d4116\
    3d4de5557d90c1d6158c9e5e99674957";
/// `grüße` for `.app.test` with `PASSWORD`, behind its host.
const KEYRING: &str = "763131\
    b7c754af45f8a9b8b178410c609c85cb892c9a78a205fd5aed50488289813daf\
    f12ad91c635e4c6bceddbe6a35fb5314";
/// `kept` with `PASSWORD`, without a host.
const OLD: &str = "7631311c68f961e01316533f02bd6b4a3f971b";
/// `kept` for `.app.test` with an empty password, behind its host.
const EMPTY: &str = "763131\
    ec2145d5472f4a7c15c272ee4d0a2b56999d7cb8c50383b31139b98713e76935\
    a0f490161cc8b44c861caae06facd6f7";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn keys() -> Keys {
    Keys::new(Some(Key::from_password(PASSWORD)))
}

#[test]
fn keys_are_those_of_chromium() {
    // Both stand in its source, as what they are and as what they are made of.
    let expected = bytes("fd621fe5a2b402539dfa147ca9272778");
    assert_eq!(Key::v10().0.as_slice(), expected);
    let expected = bytes("d0d0ec9c7d77d43ac54187fa4818d17f");
    assert_eq!(Key::from_password(b"").0.as_slice(), expected);
}

#[test]
fn values_of_each_form_open() {
    let keys = keys();
    assert_eq!(open(&bytes(FIXED), HOST, &keys, 24).unwrap(), "kept");
    assert_eq!(open(&bytes(KEYRING), HOST, &keys, 24).unwrap(), "grüße");
    assert_eq!(open(&bytes(OLD), HOST, &keys, 23).unwrap(), "kept");
    assert_eq!(open(&bytes(EMPTY), HOST, &keys, 24).unwrap(), "kept");
    assert_eq!(open(&bytes(FIXED), HOST, &Keys::new(None), 24).unwrap(), "kept");
}

#[test]
fn what_does_not_open_says_why() {
    let (keys, none) = (keys(), Keys::new(None));
    let refused = |value: &[u8], host, keys| open(value, host, keys, 24).unwrap_err();
    assert_eq!(refused(&bytes(KEYRING), ".evil.test", &keys), CryptError::OtherHost);
    assert_eq!(refused(&bytes(KEYRING), HOST, &none), CryptError::NoKeyringKey);
    let other = Keys::new(Some(Key::from_password(b"other")));
    assert_eq!(refused(&bytes(KEYRING), HOST, &other), CryptError::WrongKey);
    assert_eq!(refused(&bytes(KEYRING)[..40], HOST, &keys), CryptError::WrongKey);
    assert_eq!(refused(b"v11", HOST, &keys), CryptError::WrongKey);
    // Without a host in front, a value of today's form is too short.
    assert_eq!(refused(&bytes(OLD), HOST, &keys), CryptError::WrongKey);
    assert_eq!(refused(b"v12rest", HOST, &keys), CryptError::SecretPortal);
    let latin = seal("v11", &Key::from_password(PASSWORD), HOST, b"gr\xfc");
    assert_eq!(refused(&latin, HOST, &keys), CryptError::NotText);
}

#[test]
fn an_unknown_mark_is_named_and_a_bare_value_is_not() {
    let found = |value: &[u8]| match open(value, HOST, &keys(), 24).unwrap_err() {
        CryptError::UnknownForm { found } => found,
        other => panic!("expected an unknown form, found {other}"),
    };
    assert_eq!(found(b"v20rest"), "v20");
    for bare in ["", "v1", "secret", "vin"] {
        assert_eq!(found(bare.as_bytes()), "no mark of a version");
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn what_was_sealed_opens_for_its_host_alone(
        password: Vec<u8>, host in "[a-z.]{1,20}", value in ".{0,100}", fixed: bool,
    ) {
        let key = if fixed { Key::v10() } else { Key::from_password(&password) };
        let mark = if fixed { "v10" } else { "v11" };
        let sealed = seal(mark, &key, &host, value.as_bytes());
        let keys = Keys::new(Some(Key::from_password(&password)));
        prop_assert_eq!(open(&sealed, &host, &keys, 24), Ok(value));
        prop_assert_eq!(open(&sealed, "other0", &keys, 24), Err(CryptError::OtherHost));
    }

    #[test]
    fn no_bytes_are_too_odd(
        mark in "v1[0-3]|", rest: Vec<u8>, host: String, schema in 20_u32..30,
    ) {
        let value = [mark.as_bytes(), &rest].concat();
        let _ = open(&value, &host, &keys(), schema);
    }

    #[test]
    fn a_value_that_was_changed_does_not_open_to_another_of_today(
        at in 0_usize..32, change in 1_u8..,
    ) {
        let mut sealed = bytes(KEYRING);
        sealed[3 + at] ^= change;
        prop_assert!(open(&sealed, HOST, &keys(), 24).is_err());
    }
}
