//! Tokens: what opens a debug tab counts once, in time, unchanged, for what it was signed for.

use baton_api::debug::{EpochMs, TabToken};
use baton_debug::token::{
    DebugSecret, MAX_TOKEN_BYTES, Nonce, PageToken, SecretError, TabGrant, TokenError, UsedNonces,
    sign, verify,
};
use baton_testing::cases;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;

fn secret() -> DebugSecret {
    DebugSecret::from_bytes([7; 32])
}

fn at(second: u64) -> EpochMs {
    EpochMs::new(1_800_000_000_000 + second * 1000)
}

fn page() -> PageToken {
    let (cocoon, owner) = ("shop".parse().unwrap(), "ada".parse().unwrap());
    PageToken::new(cocoon, owner, "/cart/ä", Nonce::new([3; 16]))
}

fn grant() -> TabGrant {
    TabGrant {
        tab: TabToken::new([1; 16]),
        cocoon: "shop".parse().unwrap(),
        owner: "ada".parse().unwrap(),
        browser: "browser-1".to_owned(),
    }
}

fn look(token: &str, now: EpochMs) -> Result<PageToken, TokenError> {
    verify(&secret(), token, now).map(|(page, _)| page)
}

#[test]
fn a_page_opens_its_tab_once_and_within_a_minute() {
    let token = page().sign(&secret(), at(0)).unwrap();
    let mut used = UsedNonces::default();
    assert_eq!(PageToken::take(&secret(), &mut used, &token, at(59)).unwrap(), page());
    let again = PageToken::take(&secret(), &mut used, &token, at(59));
    assert_eq!(again.unwrap_err(), TokenError::Used);
    let late = PageToken::take(&secret(), &mut UsedNonces::default(), &token, at(60));
    assert_eq!(late.unwrap_err(), TokenError::Expired);
}

#[test]
fn a_browser_takes_its_tab_up_again_for_a_day_and_no_other_browser_does() {
    let token = grant().sign(&secret(), at(0)).unwrap();
    let day = 24 * 60 * 60;
    for moment in [0, 1, 1, day - 1] {
        let opened = TabGrant::open(&secret(), &token, "browser-1", at(moment));
        assert_eq!(opened.unwrap(), grant());
    }
    let other = TabGrant::open(&secret(), &token, "browser-2", at(1));
    assert_eq!(other.unwrap_err(), TokenError::OtherBrowser);
    let late = TabGrant::open(&secret(), &token, "browser-1", at(day));
    assert_eq!(late.unwrap_err(), TokenError::Expired);
}

#[test]
fn neither_kind_passes_as_the_other() {
    let page = page().sign(&secret(), at(0)).unwrap();
    let grant = grant().sign(&secret(), at(0)).unwrap();
    assert_eq!(
        look(&grant, at(1)).unwrap_err(),
        TokenError::Audience { expected: "baton debug page" }
    );
    assert_eq!(
        TabGrant::open(&secret(), &page, "browser-1", at(1)).unwrap_err(),
        TokenError::Audience { expected: "baton debug tab" }
    );
}

#[test]
fn clocks_may_differ_by_half_a_minute() {
    let token = page().sign(&secret(), at(30)).unwrap();
    look(&token, at(0)).unwrap();
    let token = page().sign(&secret(), at(31)).unwrap();
    assert_eq!(look(&token, at(0)).unwrap_err(), TokenError::NotYetValid);
}

#[test]
fn who_does_not_know_the_secret_is_told_what_to_do_and_nothing_else() {
    let token = page().sign(&DebugSecret::from_bytes([8; 32]), at(0)).unwrap();
    let (payload, mac) = token.split_once('.').unwrap();
    let told = |token: &str| look(token, at(1)).unwrap_err();
    insta::assert_snapshot!(told(&token), @"
    expected a token that this node's proxy signed, found another one
    if they run apart, give both the same HIVE_SECRET
    ");
    for part in ["", payload, &format!("{payload}."), &format!(".{mac}")] {
        assert_eq!(told(part), TokenError::Truncated);
    }
    assert_eq!(told(&"a".repeat(MAX_TOKEN_BYTES)), TokenError::Truncated);
    assert_eq!(told(&"a".repeat(MAX_TOKEN_BYTES + 1)), TokenError::Oversized);
    assert_eq!(format!("{:?}", secret()), "DebugSecret(***)");
}

#[test]
fn the_longest_path_and_owner_still_fit() {
    let owner = "o".repeat(128).parse().unwrap();
    let cocoon = "c".repeat(63).parse().unwrap();
    let page = PageToken::new(cocoon, owner, &"/ä".repeat(5000), Nonce::new([3; 16]));
    let token = page.sign(&secret(), at(0)).unwrap();
    assert!(look(&token, at(1)).unwrap().path.len() <= 1024);
    let long = TabGrant { browser: "b".repeat(5000), ..grant() };
    assert_eq!(sign(&secret(), &long, at(0)).unwrap_err(), TokenError::Oversized);
}

#[test]
fn a_secret_of_a_folder_is_made_once_and_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("debug.key");
    let first = DebugSecret::load_or_create(&path, [1; 32]).unwrap();
    let second = DebugSecret::load_or_create(&path, [2; 32]).unwrap();
    let token = page().sign(&first, at(0)).unwrap();
    verify::<PageToken>(&second, &token, at(1)).unwrap();

    let mode =
        |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    mode(0o640);
    let exposed = DebugSecret::load_or_create(&path, [1; 32]).unwrap_err();
    assert!(matches!(exposed, SecretError::Exposed { mode: 0o640, .. }), "{exposed}");
    mode(0o600);
    std::fs::write(&path, [0; 33]).unwrap();
    let length = DebugSecret::load_or_create(&path, [1; 32]).unwrap_err();
    assert!(matches!(length, SecretError::Length { .. }), "{length}");
}

#[test]
fn the_same_text_is_the_same_secret_elsewhere() {
    let of = |text: &str| DebugSecret::from_text(&text.into());
    let token = page().sign(&of("shared by both programs").unwrap(), at(0)).unwrap();
    let read = |text: &str| verify::<PageToken>(&of(text).unwrap(), &token, at(1));
    read("shared by both programs").unwrap();
    assert_eq!(read("shared by both Programs").unwrap_err(), TokenError::Forged);
    assert!(matches!(of("too short").unwrap_err(), SecretError::TooShort { found: 9 }));
}

#[test]
fn every_flipped_bit_is_refused() {
    let token = page().sign(&secret(), at(0)).unwrap();
    for position in 0..token.len() {
        for bit in 0..7 {
            let mut bytes = token.clone().into_bytes();
            bytes[position] ^= 1 << bit;
            let changed = String::from_utf8(bytes).unwrap();
            look(&changed, at(1)).expect_err(&changed);
        }
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_part_of_a_token_and_more_than_one_are_refused(
        begin in 0..60usize, end in 0..60usize, before in ".{0,3}", after in ".{0,3}"
    ) {
        let token = page().sign(&secret(), at(0)).unwrap();
        let changed = format!("{before}{}{after}", &token[begin..token.len() - end]);
        prop_assume!(changed != token);
        prop_assert!(look(&changed, at(1)).is_err());
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,80}") {
        prop_assert!(look(&text, at(1)).is_err());
    }

    #[test]
    fn what_was_signed_is_what_is_read(path in "/\\PC{0,400}", random: [u8; 16], owner in "[!-~]{1,128}") {
        let owner = owner.parse().unwrap();
        let page = PageToken::new("shop".parse().unwrap(), owner, &path, Nonce::new(random));
        let token = page.sign(&secret(), at(0)).unwrap();
        prop_assert_eq!(look(&token, at(1)).unwrap(), page);
    }
}
