//! Whatever happens to the files of a profile: what of it is read, is read, the rest has a line, and
//! nothing panics or takes long.

use super::place::{Place, state, tree};
use super::{read_plain, times};
use baton_browser::profile::AtRest;
use baton_browser::profile::compile::merge;
use baton_testing::{asked_rounds, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::fs;
use std::time::{Duration, Instant};

/// How long all work on one small profile may take, on a machine that is busy.
const LIMIT: Duration = Duration::from_secs(20);

const FILES: [&str; 8] = [
    "Cookies",
    "LocalStorage",
    "Local Storage/leveldb/CURRENT",
    "Local Storage/leveldb/MANIFEST-000001",
    "Local Storage/leveldb/000002.ldb",
    "Local Storage/leveldb/000003.log",
    "Preferences",
    "Sessions/Session_1",
];

/// What happens to the bytes of a file.
#[derive(Debug, Clone)]
enum Change {
    Flip(Index, u8),
    Cut(Index),
    /// Bytes of one place stand in another one.
    Splice(Index, Index, usize),
    /// A length that nothing can have.
    Huge(Index, usize),
    Random(Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        1 => any::<Index>().prop_map(Change::Cut),
        3 => (any::<Index>(), any::<Index>(), 1..5000_usize)
            .prop_map(|(from, to, length)| Change::Splice(from, to, length)),
        2 => (any::<Index>(), 1..9_usize).prop_map(|(at, length)| Change::Huge(at, length)),
        1 => vec(any::<u8>(), 0..600).prop_map(Change::Random),
    ]
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        let put = |bytes: &mut Vec<u8>, at: usize, new: &[u8]| {
            let end = length.min(at + new.len());
            bytes[at..end].copy_from_slice(&new[..end - at]);
        };
        match self {
            Self::Random(random) => bytes.clone_from(random),
            _ if bytes.is_empty() => {}
            Self::Flip(at, bit) => bytes[at.index(length)] ^= 1 << bit,
            Self::Cut(at) => bytes.truncate(at.index(length)),
            Self::Splice(from, to, size) => {
                let from = from.index(length);
                let piece = bytes[from..length.min(from + size)].to_vec();
                put(bytes, to.index(length), &piece);
            }
            Self::Huge(at, size) => put(bytes, at.index(length), &vec![255; *size]),
        }
    }
}

/// A file of one tab.
fn tabs() -> Vec<u8> {
    let numbers = |all: &[i32]| all.iter().flat_map(|one| one.to_le_bytes()).collect::<Vec<u8>>();
    let address = [numbers(&[0, 7, 0, 20]), b"https://app.test/abc".to_vec(), numbers(&[1, 0x41])];
    let commands = [
        (0, numbers(&[1, 7])),
        (6, address.concat()),
        (7, numbers(&[7, 0])),
        (24, numbers(&[7, 1, 2])),
        (255, vec![]),
    ];
    let mut file = [&b"SNSS"[..], &3_i32.to_le_bytes()].concat();
    for (id, content) in commands {
        file.extend(u16::try_from(content.len() + 1).unwrap().to_le_bytes());
        file.push(id);
        file.extend(content);
    }
    file
}

/// A profile with each of the files.
fn place(has_sqlite: bool) -> Place {
    let place = if has_sqlite { Place::new() } else { Place::with_leveldb() };
    fs::create_dir_all(place.at("Sessions")).unwrap();
    fs::write(place.at("Sessions/Session_1"), tabs()).unwrap();
    fs::write(place.at("Local Storage/leveldb/000003.log"), "").unwrap();
    let camera = r#"{"https://app.test:443,*":{"last_modified":"1","setting":1}}"#;
    let exceptions = format!(r#"{{"exceptions":{{"media_stream_camera":{camera}}}}}"#);
    let settings = format!(r#"{{"profile":{{"content_settings":{exceptions}}}}}"#);
    fs::write(place.at("Preferences"), settings).unwrap();
    place
}

#[test]
fn the_files_that_are_changed_are_all_read() {
    for has_sqlite in [true, false] {
        let place = place(has_sqlite);
        assert_eq!(place.read(), "");
        let read = read_plain(&place.profile).state;
        assert_eq!((read.cookies.len(), read.origins.len(), read.tabs.len()), (1, 1, 1));
        assert_eq!(read.environment.permissions.len(), 1);
    }
}

/// How many profiles: the usual number, or many for each round that `cargo xtask soak` asks for.
fn rounds() -> u32 {
    asked_rounds().map_or(256, |rounds| u32::try_from(rounds.saturating_mul(16)).unwrap())
}

proptest! {
    #![proptest_config(cases(rounds()))]

    #[test]
    fn whatever_happens_to_a_profile_it_is_read_or_told(
        has_sqlite: bool, changes in vec((select(&FILES), change()), 1..4)
    ) {
        let place = place(has_sqlite);
        for (name, change) in &changes {
            if place.at(name).exists() {
                place.change(name, |bytes| change.apply(bytes));
            }
        }
        let start = Instant::now();
        place.read();
        AtRest::read(&place.profile);
        let before = tree(&place.profile);
        if merge(&state("new", "2"), &place.profile, times()).is_err() {
            prop_assert_eq!(tree(&place.profile), before);
        } else {
            let read = read_plain(&place.profile).state;
            prop_assert!(read.cookies.iter().any(|cookie| cookie.name == "new"));
        }
        prop_assert!(start.elapsed() < LIMIT);
    }
}
