//! Folders whose locks cannot be trusted are refused before anything is written.

use crate::folder::Folder;
use crate::lock::not_locked;
use crate::verbs::check_mount;
use rustix::io::Errno;
use std::io;
use std::path::Path;

#[test]
fn a_share_whose_locks_stay_on_this_machine_is_refused() {
    let mounts = "42 22 0:52 / /home rw,relatime - nfs server:/home rw,vers=3,nolock\n";
    let refused = check_mount(mounts, "/home/ada/.federation".into()).unwrap_err();
    insta::assert_snapshot!(refused, @"
    expected a file system with locks that all of its users see, but /home/ada/.federation is on nfs, and mounted with nolock: locks stay on this machine
    boards there would lose what agents write: name a folder on a local disk with --dir
    ");
    check_mount(mounts, "/var/federation".into()).unwrap();
}

#[test]
fn a_file_system_that_knows_no_locks_is_refused() {
    let folder = Folder::at(Path::new("/mnt/share"));
    let say = |errno: Errno| not_locked(&folder, errno.into()).to_string();
    insta::assert_snapshot!(say(Errno::NOLCK), @"
    expected a file system with locks that all of its users see, but /mnt/share is on a file system without locks (No locks available (os error 37))
    boards there would lose what agents write: name a folder on a local disk with --dir
    ");
    for errno in [Errno::NOSYS, Errno::OPNOTSUPP] {
        assert!(say(errno).contains("without locks"));
    }
    let other = not_locked(&folder, io::Error::other("strange"));
    assert_eq!(other.to_string(), "could not take the lock /mnt/share/.baton-lock: strange");
}
