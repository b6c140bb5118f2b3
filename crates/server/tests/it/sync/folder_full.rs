//! The disk of the sync directory is full: the node says so, loses nothing, and goes on once there is room.
//!
//! It mounts a small disk, which takes root. `cargo xtask soak` runs it.

use super::folder::{file_of, folder, keepers, says, there_is};
use super::pair::{edit, logged_in, save, seed, state, token};
use crate::fixture::until;
use baton_testing::skip;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small disk, which goes when this is dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(place: &Path) -> Option<Self> {
        fs::create_dir_all(place).unwrap();
        let mount = ["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs"];
        let mounted = Command::new("mount").args(mount).arg(place).status();
        mounted.is_ok_and(|mounted| mounted.success()).then(|| Self(place.to_owned()))
    }

    /// Takes all the room there is.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = File::create(&path).unwrap();
        for size in [1 << 12, 1] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}

#[tokio::test]
#[ignore = "needs a mount; cargo xtask soak runs it"]
async fn a_full_disk_costs_no_session_and_no_file() {
    let (_folder, directory) = folder();
    let Some(disk) = Disk::mount(&directory) else { skip!("no disk could be mounted") };
    let [one, other] = keepers([&directory; 2]).await;
    let id = seed(&one, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&one, "shop").await;
    let path = file_of(&directory, id);
    there_is(&path).await;
    until("the other one has it", async || other.admin().fetch_session("shop").await.ok()).await;
    let before = fs::read(&path).unwrap();

    let filler = disk.fill();
    edit(&one, id, &logged_in(&[("shop.test", "two")])).await;
    let told = says(&one, "it says why", |view| view.failed.is_some()).await;
    let why = told.failed.unwrap();
    assert!(why.contains("No space left on device"), "{why}");
    assert_eq!(fs::read(&path).unwrap(), before, "what lay there lies there still");
    assert_eq!(token(&state(&one, "shop").await, "shop.test").unwrap(), "two");

    fs::remove_file(filler).unwrap();
    until("the other one has what was saved meanwhile", async || {
        let found = token(&state(&other, "shop").await, "shop.test");
        found.filter(|found| found == "two")
    })
    .await;
    says(&one, "all is well", |view| view.failed.is_none()).await;
    one.stop().await;
    other.stop().await;
    drop(disk);
}
