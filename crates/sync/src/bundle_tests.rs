//! Bundles: sealed for one, opened by nobody else, and never by half.

use super::{
    BundleError, Identity, Recipient, is_by_passphrase, is_sealed, open, open_by_passphrase, seal,
    seal_by_passphrase,
};
use age::secrecy::ExposeSecret;

fn somebody() -> (Recipient, Vec<Identity>) {
    let identity = age::x25519::Identity::generate();
    let recipient = Recipient::parse(&identity.to_public().to_string()).unwrap();
    let file = format!("# a comment\n\n{}\n", identity.to_string().expose_secret());
    (recipient, Identity::parse_all(&file).unwrap())
}

const LIMIT: usize = 1 << 20;

#[test]
fn what_was_sealed_is_opened_by_whom_it_is_for_and_by_nobody_else() {
    let [(ada, hers), (bob, his), (_, others)] = [somebody(), somebody(), somebody()];
    let file = vec![7; 200_000];
    let sealed = seal(&file, &[ada, bob]).unwrap();
    assert!(is_sealed(&sealed) && !is_sealed(&file));
    assert_eq!(open(&sealed, &hers, LIMIT).unwrap(), file);
    assert_eq!(open(&sealed, &his, LIMIT).unwrap(), file);
    assert!(matches!(open(&sealed, &others, LIMIT), Err(BundleError::ForOthers)));
    assert!(matches!(open(&sealed, &his, 199_999), Err(BundleError::TooLarge { .. })));
}

#[test]
fn what_was_cut_off_or_changed_is_not_opened() {
    let (ada, hers) = somebody();
    let sealed = seal(&vec![7; 150_000], &[ada]).unwrap();
    for end in [0, 10, 100, 200, 300, 65_000, 66_000, 140_000, sealed.len() - 1] {
        let cut = open(&sealed[..end], &hers, LIMIT);
        assert!(matches!(cut, Err(BundleError::Damaged(_))), "cut at {end}: {cut:?}");
    }
    for place in (0..sealed.len()).step_by(9_973).chain([sealed.len() - 1]) {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        assert!(open(&changed, &hers, LIMIT).is_err(), "changed at {place}");
    }
    let longer = [sealed.as_slice(), b"x"].concat();
    assert!(open(&longer, &hers, LIMIT).is_err());
}

#[test]
fn what_names_nobody_says_what_would() {
    let told = |error: BundleError| error.to_string();
    let text = told(Recipient::parse("ada").unwrap_err());
    assert!(text.contains("\"ada\"") && text.contains("age-keygen"), "{text}");
    let secret = "AGE-SECRET-KEY-1NOTREALLYONE";
    let text = Identity::parse_all(secret).err().map(told).unwrap();
    assert!(!text.contains("NOTREALLYONE") && text.contains("age-keygen"), "{text}");
}

#[test]
fn a_passphrase_opens_what_it_sealed_and_nothing_else() {
    let sealed = seal_by_passphrase(b"dear Ada", "correct horse battery".into()).unwrap();
    assert!(is_sealed(&sealed) && is_by_passphrase(&sealed));
    let opened = open_by_passphrase(&sealed, "correct horse battery".into(), LIMIT);
    assert_eq!(opened.unwrap(), b"dear Ada");
    let refused = open_by_passphrase(&sealed, "another horse".into(), LIMIT);
    assert!(matches!(refused, Err(BundleError::OtherPassphrase)), "{refused:?}");
    let (ada, hers) = somebody();
    assert!(matches!(open(&sealed, &hers, LIMIT), Err(BundleError::ForOthers)));
    assert!(!is_by_passphrase(&seal(b"dear Ada", &[ada]).unwrap()));
}
