//! What only pages make goes into a profile and comes back from one that no session's browser has.

use crate::round_trip::start;
use crate::story::Running;
use crate::{round_trip, stored};
use baton_browser::keeper::{self, Role};
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::{StoreArchive, Times};
use baton_browser::profile::packed::{AtHand, Pack, PageFolders, unpack};
use baton_browser::restore::offstage;
use baton_session::receipt::{ItemKind, Outcome, ReceiptItem};
use baton_session::state::OriginState;
use baton_session::{Environment, Pages, Receipt, State, StorageKey};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What two sites keep, one of them in databases, the other one in all else.
async fn everything(profile: &Path) -> State {
    let mut state = round_trip::fill(&round_trip::site().await, &profile.join("first")).await;
    let site = stored::site().await;
    let running = Running::start(&profile.join("second")).await;
    state.origins.extend(stored::fill(&running, &site).await.origins);
    running.crash().await;
    state
}

/// Fills it into a new profile, whose browser then ends.
async fn filled(pages: Pages, profile: &Path) -> StoreArchive {
    let running = start(profile, Environment::default()).await;
    let receipt = offstage::fill(running.connect(Role::Node).await, pages).await.unwrap();
    let lost: Vec<_> =
        receipt.items.iter().filter(|item| item.outcome != Outcome::Restored).collect();
    assert!(lost.is_empty(), "{lost:#?}");
    keeper::close(&running.connect(Role::Node).await.connection).await.unwrap();
    running.joined().await;
    StoreArchive::of_pages(profile, receipt).unwrap()
}

/// What comes back of a profile that was handed out and not used.
async fn read_back(folders: &PageFolders, known: Pages) -> (Pages, Receipt) {
    read_within(folders, known, offstage::MOST_READ).await
}

/// The same, where no more than so many bytes are read.
async fn read_within(folders: &PageFolders, known: Pages, most: usize) -> (Pages, Receipt) {
    let running = start(folders.profile(), Environment::default()).await;
    let kinds = |key: &StorageKey| offstage::Kinds::without(key, folders);
    let known = known.into_iter().map(|(key, origin)| {
        let kinds = kinds(&key);
        (key, (origin, kinds))
    });
    let link = running.connect(Role::Node).await;
    let (origins, unread) = offstage::read(link, known.collect(), most).await.unwrap();
    keeper::close(&running.connect(Role::Node).await.connection).await.unwrap();
    running.joined().await;
    (origins, unread)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_pages_make_goes_out_and_comes_back() {
    let scratch = tempfile::tempdir().unwrap();
    let place = |name: &str| scratch.path().join(name);
    let mut state = everything(&place("own")).await;
    state.normalize();
    let wanted = state.take_pages();
    let has = |holds: fn(&OriginState) -> bool| wanted.values().any(holds);
    assert!(has(|one| !one.databases.is_empty()) && has(|one| !one.caches.is_empty()));
    assert!(has(|one| !one.files.is_empty()) && has(|one| !one.service_workers.is_empty()));
    assert!(wanted.keys().any(|key| !key.is_first_party()), "and a partition");

    let pages = filled(wanted.clone(), &place("filled")).await;
    let at_hand = AtHand { pages: Some(pages), ..AtHand::default() };
    let times = Times::at(Instant(jiff::Timestamp::now().as_microsecond()));
    fs::create_dir(place("scratch")).unwrap();
    let pack = Pack::make(&state, &place("scratch"), times, None, &at_hand).unwrap();
    let unpacked = |name: &str| {
        let mut folders = PageFolders::new(place(name).join("pages"));
        for archive in pack.open().unwrap() {
            assert!(unpack(archive, &place(name).join("rows"), &mut folders).unwrap());
        }
        folders
    };

    // The scripts of a worker are seen by nobody: they are as they were known.
    let known: Pages = wanted
        .iter()
        .map(|(key, origin)| {
            let service_workers = origin.service_workers.clone();
            (key.clone(), OriginState { service_workers, ..OriginState::default() })
        })
        .collect();
    let mut folders = unpacked("whole");
    folders.leave_damaged(&wanted.keys().cloned().collect()).unwrap();
    assert_eq!(folders.left_out().collect::<Vec<_>>(), []);
    let (origins, unread) = read_back(&folders, known).await;
    assert_eq!(unread, Receipt::default());
    let mut back = State { origins, ..State::default() };
    back.normalize();
    assert_eq!(back.origins, wanted);

    // What is damaged is as it was known, and named; the rest comes back.
    let mut folders = unpacked("hurt");
    let (key, _) = wanted.iter().find(|(_, origin)| !origin.databases.is_empty()).unwrap();
    let base = folders.profile().join("Default/IndexedDB");
    let hurt = fs::read_dir(&base).unwrap().map(|entry| entry.unwrap().path());
    let host = key.origin().split("//").nth(1).unwrap().split(':').next().unwrap();
    let hurt = hurt.filter(|path| path.to_string_lossy().contains(host));
    let hurt = hurt.filter(|path| path.extension().is_some_and(|end| end == "leveldb"));
    hurt.for_each(|path| fs::remove_file(path.join("CURRENT")).unwrap());
    folders.leave_damaged(&BTreeSet::from([key.clone()])).unwrap();
    let left: Vec<_> = folders.left_out().map(|(folder, _)| folder.place()).collect();
    assert_eq!(left, [key.to_string()]);
    let (origins, _) = read_back(&folders, wanted.clone()).await;
    let mut back = State { origins, ..State::default() };
    back.normalize();
    assert_eq!(back.origins, wanted, "{key} was known, and the rest is there");

    // What is more than is read of all together is as it was known, and named.
    let folders = unpacked("narrow");
    let (origins, unread) = read_within(&folders, wanted.clone(), 1).await;
    let mut back = State { origins, ..State::default() };
    back.normalize();
    assert_eq!(back.origins, wanted);
    let reasons = unread.items.iter().filter_map(|item| item.reason.as_deref());
    let no_room = reasons.filter(|why| why.contains("there was no room"));
    assert!(no_room.count() > wanted.len(), "{unread:#?}");

    // What held something before has the room, whatever sorts before it.
    let folders = unpacked("greedy");
    let (last, _) = wanted.last_key_value().unwrap();
    let mut known: Pages = wanted.keys().map(|key| (key.clone(), OriginState::default())).collect();
    known.insert(last.clone(), wanted[last].clone());
    let (origins, unread) = read_within(&folders, known, 1).await;
    let of_databases = |item: &&ReceiptItem| item.kind == ItemKind::IndexedDb;
    let beside = |item: &&ReceiptItem| {
        item.reason.as_deref().is_some_and(|why| why.contains("there was no room for it"))
    };
    let without = unread.items.iter().filter(of_databases).filter(beside);
    let without: BTreeSet<_> = without.map(|item| item.place.clone()).collect();
    let others = wanted.keys().filter(|key| *key != last);
    assert_eq!(without, others.map(ToString::to_string).collect());
    let mut back = State { origins, ..State::default() };
    back.normalize();
    assert_eq!(back.origins, BTreeMap::from([(last.clone(), wanted[last].clone())]));
}
