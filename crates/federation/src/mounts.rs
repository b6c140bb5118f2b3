//! Which file systems share files between machines, but not their locks.
//!
//! The one idea: a lock that only this machine sees lets two machines write at once, and nobody
//! notices. `/proc/self/mountinfo` tells how a folder is mounted; the kernel's own pages say what the
//! options mean (`nfs(5)`, `mount.cifs(8)`, `Documentation/filesystems/9p.rst`).

use std::path::{Path, PathBuf};

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
    use super::without_locks;
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
}
