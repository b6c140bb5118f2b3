//! A disk that is full, and one that takes no writes any more: the node says so, nothing that was
//! acknowledged is lost, and browsers live on.
//!
//! Both mount a small disk in the place of the data folder, which takes root. `cargo xtask soak`
//! runs them.

use crate::notes::{Notes, eventually, state_of};
use crate::test_nodes::build;
use baton_api::ErrorCode;
use baton_playground::{TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use baton_testing::skip;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::NamedTempFile;

/// A disk in the place of a data folder. It goes when this is dropped, whoever still uses it.
struct Disk(PathBuf);

impl Disk {
    /// Mounts what these arguments say; why not, when that is not allowed.
    fn mount(arguments: &[&OsStr], test_node: &TestNode) -> Result<Self, String> {
        let place = test_node.data().path().to_owned();
        std::fs::create_dir_all(&place).unwrap();
        let mounted = Command::new("mount").args(arguments).arg(&place).output().unwrap();
        let why =
            || format!("no disk could be mounted: {}", String::from_utf8_lossy(&mounted.stderr));
        mounted.status.success().then_some(Self(place)).ok_or_else(why)
    }

    /// Makes it fail like a disk with a fault: whatever is written from now on is refused.
    fn break_down(&self) {
        let broken = Command::new("mount").args(["-o", "remount,abort"]).arg(&self.0).status();
        assert!(broken.unwrap().success(), "could not break {}", self.0.display());
    }

    /// Takes it away once nobody uses it any more. A sandbox that somebody on this machine made meanwhile
    /// has the disk, too: while that lives, whoever mounts the image again gets the disk as it was.
    async fn take_away(self, image: &Path) {
        let unmount = || Command::new("umount").arg(&self.0).output().unwrap().status.success();
        eventually("nobody uses the disk", async || unmount()).await;
        let devices = || Command::new("losetup").arg("--associated").arg(image).output().unwrap();
        eventually("no sandbox has the disk", async || devices().stdout.is_empty()).await;
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}

/// Takes all the room there is.
fn fill(disk: &Path) -> PathBuf {
    let path = disk.join("filler");
    let mut file = File::create(&path).unwrap();
    for size in [1 << 20, 1 << 12, 1] {
        while file.write_all(&vec![1; size]).is_ok() {}
    }
    path
}

/// A note that is too long for whatever room a database keeps for itself.
async fn write_much(notes: &Notes, test_node: &TestNode, id: SessionId) {
    let page = notes.page(test_node, id).await;
    let long = "localStorage.setItem('much', Array.from({ length: 170_000 }, Math.random)); true";
    assert!(page.evaluate::<bool>(long).await.unwrap());
}

/// What a capture is refused with, first its code.
async fn refusal(test_node: &TestNode) -> (Option<ErrorCode>, String) {
    let refused = test_node.client().unwrap().capture_session("disk").await.unwrap_err();
    (refused.code(), refused.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a mount; cargo xtask soak runs it"]
async fn a_full_disk_costs_no_snapshot_and_no_browser() {
    let notes = Notes::start().await;
    let mut test_node = build();
    let arguments = ["-t", "tmpfs", "-o", "size=128m,mode=700", "tmpfs"].map(OsStr::new);
    let disk = match Disk::mount(&arguments, &test_node) {
        Ok(disk) => disk,
        Err(why) => skip!("{why}"),
    };
    test_node.start_node().await.unwrap();
    let id = notes.open(&test_node, "disk", "kept").await;
    let client = test_node.client().unwrap().clone();
    let kept = client.fetch_session("disk").await.unwrap().snapshot.unwrap();
    let holders = test_node.holders(id).await.unwrap();

    let filler = fill(&disk.0);
    write_much(&notes, &test_node, id).await;
    let (code, said) = refusal(&test_node).await;
    assert_eq!(code, Some(ErrorCode::StorageFull), "{said}");
    insta::assert_snapshot!(said, @"no space is left for the database");
    let shown = client.fetch_session("disk").await.unwrap();
    assert_eq!((shown.session.state, shown.snapshot), (Lifecycle::Active, Some(kept)));

    std::fs::remove_file(filler).unwrap();
    let much = client.capture_session("disk").await.unwrap();
    assert!(much.bytes > 1 << 20, "{much:?}");
    assert_eq!(test_node.holders(id).await.unwrap(), holders, "another keeper or browser");
    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    test_node.client().unwrap().resume_session("disk").await.unwrap();
    assert_eq!(notes.read(&test_node, id).await, "kept");
    assert!(!test_node.log().contains("panicked"), "{}", test_node.log());
    test_node.kill_everybody(&[id]).await.unwrap();
    drop(disk);
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a mount; cargo xtask soak runs it"]
async fn a_disk_that_takes_no_writes_costs_no_snapshot_and_no_browser() {
    let notes = Notes::start().await;
    let mut test_node = build();
    let image = NamedTempFile::new().unwrap();
    image.as_file().set_len(192 << 20).unwrap();
    let made = Command::new("mkfs.ext4").arg("-q").arg(image.path()).output();
    if !made.is_ok_and(|made| made.status.success()) {
        skip!("mkfs.ext4 is needed to make a disk");
    }
    let mount = [OsStr::new("-o"), OsStr::new("loop"), image.path().as_os_str()];
    let disk = match Disk::mount(&mount, &test_node) {
        Ok(disk) => disk,
        Err(why) => skip!("{why}"),
    };
    test_node.start_node().await.unwrap();
    let id = notes.open(&test_node, "disk", "kept").await;
    let client = test_node.client().unwrap().clone();
    let kept = client.fetch_session("disk").await.unwrap().snapshot.unwrap();
    let holders = test_node.holders(id).await.unwrap();

    disk.break_down();
    notes.write(&test_node, id, "late").await;
    let (code, said) = refusal(&test_node).await;
    assert_eq!(code, Some(ErrorCode::StorageUnavailable), "{said}");
    insta::assert_snapshot!(said, @"cannot reach the database: disk I/O error: its disk is full, fails, or takes no writes");
    let shown = client.fetch_session("disk").await.unwrap();
    assert_eq!((shown.session.state, shown.snapshot), (Lifecycle::Active, Some(kept)));
    test_node.kill_node().await.unwrap();
    test_node.start_node().await.unwrap_err();
    let log = test_node.log().replace(disk.0.to_str().unwrap(), "DATA");
    let said = log.lines().last().unwrap();
    insta::assert_snapshot!(said, @"error: DATA/node.lock: Read-only file system (os error 30)");
    assert_eq!(notes.read(&test_node, id).await, "late", "the browser lives on");
    assert_eq!(test_node.holders(id).await.unwrap(), holders);
    assert!(!test_node.log().contains("panicked"), "{}", test_node.log());

    // The disk is mended: what was acknowledged is there.
    victims::kill_all(&holders).await.unwrap();
    disk.take_away(image.path()).await;
    let disk = Disk::mount(&mount, &test_node).unwrap();
    test_node.start_node().await.unwrap_or_else(|error| panic!("{error}: {}", test_node.log()));
    assert_eq!(state_of(&test_node, "disk").await, Lifecycle::Recoverable);
    test_node.client().unwrap().resume_session("disk").await.unwrap();
    assert_eq!(notes.read(&test_node, id).await, "kept");
    test_node.kill_everybody(&[id]).await.unwrap();
    drop(disk);
    test_node.clear().await.unwrap();
}
