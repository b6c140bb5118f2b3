//! One writer at a time: a lock that the system drops with its process, where locks can be trusted.
//!
//! The one idea: a lock that only this machine sees lets two machines write at once, unnoticed.
//! `/proc/self/mountinfo` tells how a folder is mounted; the kernel's own pages say what the options mean
//! (`nfs(5)`, `mount.cifs(8)`, `Documentation/filesystems/9p.rst`).

use crate::error::{FederationError, Tried};
use crate::folder::{Folder, open_plain, open_to_read, options};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{fs, io};

/// How long a writer waits for the others.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);
/// The longest pause between two attempts.
const LONGEST_PAUSE: u64 = 8_000;

/// The right to write, as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock, at most for `limit`.
    pub(crate) fn acquire(
        folder: &Folder,
        limit: Duration,
        random: fn() -> u64,
    ) -> Result<Self, FederationError> {
        let end = Instant::now() + limit;
        let mut longest = 500;
        loop {
            if let Some(lock) = Self::try_acquire(folder)? {
                return Ok(lock);
            }
            if Instant::now() >= end {
                return Err(FederationError::Busy {
                    seconds: limit.as_secs(),
                    holder: holder(folder),
                    path: folder.lock(),
                });
            }
            sleep(Duration::from_micros(200 + random() % longest));
            longest = (longest * 2).min(LONGEST_PAUSE);
        }
    }

    /// The lock, if it is free now.
    pub(crate) fn try_acquire(folder: &Folder) -> Result<Option<Self>, FederationError> {
        let path = folder.lock();
        let mut how = options();
        how.read(true).write(true).create(true).truncate(false);
        let file = open_plain(&path, how).tried("open the lock", &path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(not_locked(folder, source)),
        }
        // Who deletes the lock makes a second one possible: only the file that is there counts.
        match is_same(&file, &path) {
            Ok(true) => Ok(Some(Self { _file: signed(file) })),
            _ => Ok(None),
        }
    }
}

/// Notes who holds it; nothing depends on that.
fn signed(mut file: File) -> File {
    let line = format!("process {}\n", std::process::id());
    let _ =
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(line.as_bytes()));
    file
}

fn holder(folder: &Folder) -> String {
    let mut text = String::new();
    let read =
        open_to_read(&folder.lock()).and_then(|file| file.take(64).read_to_string(&mut text));
    match read {
        Ok(_) if text.starts_with("process ") => text.trim().to_owned(),
        _ => "another process".to_owned(),
    }
}

#[cfg(unix)]
fn is_same(file: &File, path: &std::path::Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let (ours, there) = (file.metadata()?, fs::metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_same(_: &File, path: &std::path::Path) -> io::Result<bool> {
    fs::exists(path)
}

/// A file system that knows no locks says so here.
fn not_locked(folder: &Folder, source: io::Error) -> FederationError {
    use rustix::io::Errno;
    let unknown = [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP].map(Errno::raw_os_error);
    let is_unknown = source.raw_os_error().is_some_and(|code| unknown.contains(&code));
    if is_unknown || source.kind() == io::ErrorKind::Unsupported {
        let found = format!("a file system without locks ({source})");
        return FederationError::NoLocks { path: folder.root().to_owned(), found };
    }
    FederationError::Io { what: "take the lock", path: folder.lock(), source }
}

/// How a folder is mounted.
#[derive(Debug, PartialEq, Eq)]
struct Mount<'a> {
    kind: &'a str,
    /// The options of the mount and of the file system.
    options: Vec<&'a str>,
}

/// Why locks in `folder` are not to be trusted, by the text of `/proc/self/mountinfo`.
pub(crate) fn without_locks(mountinfo: &str, folder: &Path) -> Option<String> {
    let mount = mount_of(mountinfo, folder)?;
    let kind = mount.kind;
    let why = match kind {
        "nfs" | "nfs4" => mount.one_of(&["nolock"]).or_else(|| mount.local_lock()),
        "cifs" | "smb3" => mount.one_of(&["nobrl", "nolock"]),
        "9p" => mount.of_9p(),
        "lustre" => mount.one_of(&["localflock", "noflock"]),
        "gfs2" | "ocfs2" => mount.one_of(&["localflocks"]),
        "fuse.sshfs" | "fuse.gcsfuse" | "fuse.s3fs" | "fuse.rclone" | "fuse.grpcfuse" | "davfs"
        | "fuse.davfs2" => Some("its locks stay on this machine".to_owned()),
        _ => None,
    }?;
    Some(format!("{kind}, and {why}"))
}

impl Mount<'_> {
    fn one_of(&self, names: &[&str]) -> Option<String> {
        let found = self.options.iter().find(|option| names.contains(option))?;
        Some(format!("mounted with {found}: locks stay on this machine"))
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }

    fn local_lock(&self) -> Option<String> {
        let value = self.value("local_lock").filter(|value| *value != "none")?;
        Some(format!("mounted with local_lock={value}: locks stay on this machine"))
    }

    /// A host's folder in a virtual machine: coherent only without a cache of file contents.
    fn of_9p(&self) -> Option<String> {
        let cached = self.value("cache").filter(|value| !["none", "0x0", "0"].contains(value));
        if let Some(value) = cached {
            return Some(format!("mounted with cache={value}: what the host writes is seen late"));
        }
        let old = self.value("version").filter(|value| *value != "9p2000.L");
        let old =
            old.or_else(|| self.options.iter().find(|o| **o == "version=9p2000.u").copied())?;
        Some(format!("its protocol {old} has no locks"))
    }
}

/// The mount that a folder is on: the longest of those that lead to it, the latest of equal ones.
fn mount_of<'a>(mountinfo: &'a str, folder: &Path) -> Option<Mount<'a>> {
    let mut found: Option<(usize, Mount)> = None;
    for line in mountinfo.lines() {
        let Some((place, mount)) = parse(line) else { continue };
        let depth = place.components().count();
        if folder.starts_with(&place) && found.as_ref().is_none_or(|(other, _)| depth >= *other) {
            found = Some((depth, mount));
        }
    }
    found.map(|(_, mount)| mount)
}

/// `36 35 98:0 /root /place rw,noatime shared:1 - ext4 /dev/sda rw,errors=continue`
fn parse(line: &str) -> Option<(PathBuf, Mount<'_>)> {
    let (first, second) = line.split_once(" - ")?;
    let mut first = first.split(' ').skip(4);
    let (place, options) = (first.next()?, first.next()?);
    let mut second = second.split(' ');
    let kind = second.next()?;
    let more = second.nth(1).unwrap_or_default();
    let options = options.split(',').chain(more.split(',')).collect();
    Some((PathBuf::from(unescape(place)), Mount { kind, options }))
}

/// Blanks and backslashes stand as three octal digits.
fn unescape(text: &str) -> String {
    let mut pieces = text.split('\\');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let code = piece.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(code) = code {
            plain.push(char::from(code));
            plain.push_str(&piece[3..]);
        } else {
            plain.push('\\');
            plain.push_str(piece);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::not_locked;
    use super::without_locks;
    use crate::folder::Folder;
    use crate::verbs::check_mount;
    use rustix::io::Errno;
    use std::io;
    use std::path::Path;

    const MOUNTS: &str = "\
22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
30 22 0:26 / /tmp rw,nosuid shared:5 - tmpfs tmpfs rw,size=8G
40 22 0:50 / /home/ada rw,relatime shared:9 - nfs4 server:/home rw,vers=4.2,local_lock=none,addr=10.0.0.1
41 22 0:51 / /srv/old rw,relatime - nfs server:/old rw,vers=3,nolock,local_lock=all,addr=10.0.0.1
42 22 0:52 / /srv/flock rw,relatime - nfs server:/f rw,vers=3,local_lock=flock,addr=10.0.0.1
43 22 0:53 / /mnt/win rw,relatime - cifs //server/share rw,vers=3.0,nobrl,uid=0
44 22 0:54 / /mnt/good\\040share rw,relatime - cifs //server/good rw,vers=3.0,uid=0
45 22 0:55 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync,aname=drvfs;path=C:\\,cache=mmap,access=client
46 22 0:56 / /mnt/host rw - 9p host rw,access=any,trans=virtio,version=9p2000.L
47 22 0:57 / /mnt/ssh rw,nosuid - fuse.sshfs ada@server:/ rw,user_id=0
48 22 0:58 / /mnt/host/deep rw - ext4 /dev/sdb rw";

    fn found(folder: &str) -> Option<String> {
        without_locks(MOUNTS, Path::new(folder))
    }

    #[test]
    fn disks_and_shares_with_locks_are_trusted() {
        for folder in ["/root", "/tmp/x", "/home/ada/.federation", "/mnt/good share/x", "/mnt/host"]
        {
            assert_eq!(found(folder), None, "{folder}");
        }
        assert_eq!(found("/mnt/host/deep/x"), None, "the deepest mount counts");
    }

    #[test]
    fn shares_whose_locks_stay_on_this_machine_are_not() {
        let folders = ["/srv/old/x", "/srv/flock", "/mnt/win/x", "/mnt/c/x", "/mnt/ssh/home"];
        let why = folders.map(|folder| found(folder).unwrap()).join("\n");
        insta::assert_snapshot!(why, @"
        nfs, and mounted with nolock: locks stay on this machine
        nfs, and mounted with local_lock=flock: locks stay on this machine
        cifs, and mounted with nobrl: locks stay on this machine
        9p, and mounted with cache=mmap: what the host writes is seen late
        fuse.sshfs, and its locks stay on this machine
        ");
    }

    #[test]
    fn what_is_no_mount_is_passed_over() {
        for text in ["", "-", "1 2 3", "a b c d / rw - ", "x - y - z", "1 1 0:1 / \\9 rw - nfs"] {
            assert_eq!(without_locks(text, Path::new("/home")), None, "{text:?}");
        }
    }

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
}
