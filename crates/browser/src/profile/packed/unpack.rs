//! The state of a profile that comes back from where it was used.

use super::bounded::BoundedTar;
use super::pages::PageFolders;
use super::written::write;
use crate::profile::compile::DEFAULT;
use crate::profile::read::{OPEN_TABS, SESSION_STORAGE};
use crate::profile::{Fault, cookies, local_storage};
use std::io;
use std::io::Read;
use std::path::{Component, Path};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tar::{Entry, EntryType};

/// The most that is taken out of an archive, in bytes and in files.
const MOST_BYTES: u64 = 256 << 20;
const MOST_FILES: usize = 20_000;
/// The most that is read to find that, in bytes: there is all that a browser keeps, its caches, too.
const MOST_READ: u64 = 4 << 30;

/// What of a profile is taken back: the files that hold state, databases with what their browser
/// keeps beside them while it writes.
const FOLDERS: [&str; 3] = ["Local Storage", OPEN_TABS, SESSION_STORAGE.0];
const DATABASES: [&str; 4] =
    [cookies::PLACES[0], cookies::PLACES[1], local_storage::SQLITE, SESSION_STORAGE.1];
const BESIDE: [&str; 3] = ["", "-journal", "-wal"];
const OTHERS: [&str; 2] = ["Preferences", cookies::MOVED];

/// The attribute by which an archive says of an empty file that what stands in its place could not be read where it was
/// packed, and why.
pub const UNREAD: &str = "BATON.unread";
/// How much is shown of why, in characters.
const SHOWN: usize = 200;

/// Takes the state-bearing files of a profile out of an archive into `profile`, an empty folder, and what only
/// pages made into `pages`. Says whether there was all of the former: past the bounds nothing more is taken.
/// Fails where one of the former could not be read there: it would count as deleted. Blocks on the disk.
pub fn unpack(archive: impl Read, profile: &Path, pages: &mut PageFolders) -> Result<bool, Fault> {
    let (mut left, mut files) = (MOST_BYTES, 0);
    let failed = |error: io::Error| Fault::Bytes(error.to_string());
    let archive = BoundedTar::new(archive, MOST_READ);
    for entry in tar::Archive::new(archive).entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let path = entry.path().map_err(failed)?.into_owned();
        if let Some(why) = unread(&mut entry).map_err(failed)? {
            leave(&path, &why, pages)?;
            continue;
        }
        let Some(names) = names(&path, entry.header().entry_type()) else { continue };
        // How much of it is read, whatever its header says.
        let size = entry.size();
        if !is_known(&names) {
            let at = written_at(&mut entry).map_err(failed)?;
            pages.take(&mut entry, &names, size, at)?;
            continue;
        }
        files += 1;
        if size > left || files > MOST_FILES {
            return Ok(false);
        }
        left -= size;
        let at = written_at(&mut entry).map_err(failed)?;
        let path = names.iter().fold(profile.join(DEFAULT), |path, name| path.join(name));
        write(&mut entry, &path, at)?;
    }
    Ok(true)
}

/// When a file was written where it comes from, if the archive says so to the nanosecond (POSIX, `pax`).
fn written_at(entry: &mut Entry<'_, impl Read>) -> io::Result<Option<SystemTime>> {
    for extension in entry.pax_extensions()?.into_iter().flatten() {
        let extension = extension?;
        if extension.key_bytes() == b"mtime" {
            let since: Option<f64> = extension.value().ok().and_then(|text| text.parse().ok());
            let since = since.and_then(|since| Duration::try_from_secs_f64(since).ok());
            return Ok(since.and_then(|since| UNIX_EPOCH.checked_add(since)));
        }
    }
    Ok(None)
}

/// Why what stands in the place of an entry could not be read where it was packed; none where it was.
fn unread(entry: &mut Entry<'_, impl Read>) -> io::Result<Option<String>> {
    for extension in entry.pax_extensions()?.into_iter().flatten() {
        let extension = extension?;
        if extension.key_bytes() == UNREAD.as_bytes() {
            let why = String::from_utf8_lossy(extension.value_bytes());
            return Ok(Some(why.chars().take(SHOWN).collect()));
        }
    }
    Ok(None)
}

/// Leaves out what could not be read where it was packed: a folder of what only pages made costs itself, one of all else
/// the profile, and one that is none of both nothing.
fn leave(path: &Path, why: &str, pages: &mut PageFolders) -> Result<(), Fault> {
    let Some(names) = plain(path) else { return Ok(()) };
    match names.split_first() {
        None => Err(Fault::Bytes(format!("its folder cannot be read: {why}"))),
        Some((&DEFAULT, below)) if below.is_empty() || may_hold_known(below) => {
            Err(Fault::Bytes(format!("{} in it cannot be read: {why}", names.join("/"))))
        }
        Some((&DEFAULT, below)) => pages.leave_unread(below, why),
        Some(_) => Ok(()),
    }
}

/// The names on the way to an entry; none where one is no text, or leads elsewhere.
fn plain(path: &Path) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => names.push(name.to_str()?),
            _ => return None,
        }
    }
    Some(names)
}

/// Where an entry lies below the folder `Default`, if it is a file there.
fn names(path: &Path, kind: EntryType) -> Option<Vec<&str>> {
    let mut names = plain(path)?;
    let is_below = names.len() > 1 && names[0] == DEFAULT;
    (kind == EntryType::Regular && is_below).then(|| names.split_off(1))
}

/// Whether that is one of these files, or a folder that may hold some.
fn may_hold_known(names: &[&str]) -> bool {
    let folder = format!("{}/", names.join("/"));
    is_known(names)
        || matches!(names, [only] if FOLDERS.contains(only))
        || DATABASES.iter().chain(&OTHERS).any(|place| place.starts_with(&folder))
}

/// Whether a file there is one of cookies, localStorage, tabs or settings.
fn is_known(names: &[&str]) -> bool {
    let is_beside = |name: &str, database| {
        name.strip_prefix(database).is_some_and(|rest: &str| BESIDE.contains(&rest))
    };
    let known =
        |name: &str| OTHERS.contains(&name) || DATABASES.iter().any(|one| is_beside(name, one));
    match names {
        [] => false,
        [folder, _, ..] if FOLDERS.contains(folder) => true,
        file => known(&file.join("/")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::written::copy;
    use super::*;
    use crate::profile::is_ours;
    use std::fs;
    use std::fs::File;
    use std::io::Write;
    use std::path::PathBuf;
    use tar::Header;

    /// Without what only pages made.
    fn unpack(archive: impl Read, profile: &Path) -> Result<bool, Fault> {
        let mut pages = PageFolders::new(profile.join("pages"));
        super::unpack(archive, profile, &mut pages)
    }

    fn packed(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for (path, kind, bytes) in entries {
            let mut header = Header::new_ustar();
            header.set_entry_type(*kind);
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            if *kind != EntryType::Regular {
                header.set_link_name("/etc/passwd").unwrap();
            }
            // As a stranger would write it: the setter of the library refuses some.
            header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            archive.append(&header, *bytes).unwrap();
        }
        archive.into_inner().unwrap()
    }

    fn found(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                assert!(!path.is_symlink(), "{path:?}");
                if path.is_dir() { folders.push(path) } else { found.push(path) }
            }
        }
        let below = |path: PathBuf| path.strip_prefix(folder).unwrap().display().to_string();
        let mut found: Vec<String> = found.into_iter().map(below).collect();
        found.sort();
        found
    }

    #[test]
    fn only_the_files_of_a_profile_come_out_of_an_archive() {
        let file = EntryType::Regular;
        let archive = packed(&[
            ("./Default/Cookies", file, b"one"),
            ("Default/Cookies", file, b"two"),
            ("Default/Local Storage/leveldb/CURRENT", file, b"x"),
            ("Default/Preferences", EntryType::Symlink, b""),
            ("Default/Local Storage/leveldb/LOG", EntryType::Link, b""),
            ("Default/../../escaped", file, b"x"),
            ("/Default/Cookies-journal", file, b"x"),
            ("Default/History", file, b"x"),
            ("Default/Sessions/Session_1", file, b"x"),
            ("Default/Session Storage/CURRENT", file, b"x"),
            ("Default/SessionStorage-wal", file, b"x"),
            ("Default/LocalStorage", file, b"x"),
            ("Default/LocalStorage-wal", file, b"x"),
            ("Default/LocalStorage-x", file, b"x"),
            ("Profile 1/Cookies", file, b"x"),
            ("Default/Network/Cookies", file, b"x"),
            ("Default/Network/Cookies-wal", file, b"x"),
            ("Default/Network/NetworkDataMigrated", file, b""),
            ("Default/Network/Trust Tokens", file, b"x"),
            ("Default/Network/Cookies/below", file, b"x"),
        ]);
        let folder = tempfile::tempdir().unwrap();
        assert!(unpack(&*archive, folder.path()).unwrap());
        let expected = [
            "Default/Cookies",
            "Default/Local Storage/leveldb/CURRENT",
            "Default/LocalStorage",
            "Default/LocalStorage-wal",
            "Default/Network/Cookies",
            "Default/Network/Cookies-wal",
            "Default/Network/NetworkDataMigrated",
            "Default/Session Storage/CURRENT",
            "Default/SessionStorage-wal",
            "Default/Sessions/Session_1",
        ];
        assert_eq!(found(folder.path()), expected);
        assert_eq!(fs::read(folder.path().join("Default/Cookies")).unwrap(), b"one");
    }

    #[test]
    fn what_was_written_later_there_is_later_here_whatever_comes_first() {
        let one = |files: &mut tar::Builder<Vec<u8>>, path: &str, at: &str| {
            files.append_pax_extensions([("mtime", at.as_bytes())]).unwrap();
            let mut header = Header::new_ustar();
            header.set_size(1);
            header.set_mode(0o644);
            files.append_data(&mut header, path, &b"x"[..]).unwrap();
        };
        let (earlier, later) = ("1000000000.000001000", "1000000000.000002000");
        let names = ["Default/LocalStorage", "Default/Local Storage/leveldb/CURRENT"];
        for [first, second] in [[earlier, later], [later, earlier]] {
            let mut files = tar::Builder::new(Vec::new());
            one(&mut files, names[0], first);
            one(&mut files, names[1], second);
            let folder = tempfile::tempdir().unwrap();
            assert!(unpack(&*files.into_inner().unwrap(), folder.path()).unwrap());
            let [one, other] = names.map(|name| folder.path().join(name).metadata().unwrap());
            let order = one.modified().unwrap().cmp(&other.modified().unwrap());
            assert_eq!(order, first.cmp(second));
        }
        let mut files = tar::Builder::new(Vec::new());
        one(&mut files, names[0], "-1e400");
        let folder = tempfile::tempdir().unwrap();
        assert!(unpack(&*files.into_inner().unwrap(), folder.path()).unwrap());
    }

    /// An archive that names what could not be read where it was packed.
    fn lacking(places: &[&str]) -> Vec<u8> {
        let mut files = tar::Builder::new(Vec::new());
        for place in places {
            files.append_pax_extensions([(UNREAD, &b"Permission denied"[..])]).unwrap();
            let mut header = Header::new_gnu();
            header.set_size(0);
            files.append_data(&mut header, place, io::empty()).unwrap();
        }
        files.into_inner().unwrap()
    }

    #[test]
    fn what_could_not_be_read_where_it_was_packed_was_not_deleted_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut told = Vec::new();
        for place in [
            ".",
            "Default",
            "Default/Cookies",
            "Default/Local Storage",
            "Default/Local Storage/leveldb/CURRENT",
            "Default/Network",
            "Default/Preferences",
        ] {
            let mut pages = PageFolders::new(folder.path().join("pages"));
            let error = super::unpack(&*lacking(&[place]), folder.path(), &mut pages).unwrap_err();
            assert!(matches!(error, Fault::Bytes(_)), "{error:?}");
            told.push(error.to_string());
        }
        insta::assert_snapshot!(told.join("\n"), @r"
        its folder cannot be read: Permission denied
        Default in it cannot be read: Permission denied
        Default/Cookies in it cannot be read: Permission denied
        Default/Local Storage in it cannot be read: Permission denied
        Default/Local Storage/leveldb/CURRENT in it cannot be read: Permission denied
        Default/Network in it cannot be read: Permission denied
        Default/Preferences in it cannot be read: Permission denied
        ");
        // What only pages made costs itself, and what is nothing of both costs nothing.
        let places = [
            "Default/IndexedDB/https_app.test_0.indexeddb.leveldb/CURRENT",
            "Default/IndexedDB/https_app.test_0.indexeddb.leveldb/LOCK",
            "Default/Service Worker",
            "Default/WebStorage",
            "Default/Cache/deep",
            "Default/Cookies-x",
            "Profile 1/Cookies",
        ];
        let mut pages = PageFolders::new(folder.path().join("pages"));
        assert!(super::unpack(&*lacking(&places), folder.path(), &mut pages).unwrap());
        let left: Vec<_> = pages.left_out().map(|(left, why)| (left.place(), why)).collect();
        let why = "it cannot be read: Permission denied";
        assert_eq!(
            left,
            [
                ("https://app.test/".to_owned(), why),
                ("the folder Service Worker".to_owned(), why),
                ("other folders in WebStorage".to_owned(), why),
            ]
        );
    }

    #[test]
    fn an_archive_that_is_none_or_ends_early_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        unpack(&[7; 5000][..], folder.path()).unwrap_err();
        let mut archive = packed(&[("Default/Cookies", EntryType::Regular, &[1; 4000])]);
        archive.truncate(2000);
        unpack(&*archive, folder.path()).unwrap_err();
    }

    #[test]
    fn a_disk_that_is_full_is_not_the_fault_of_an_archive() {
        /// A disk without room.
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                File::options().write(true).open("/dev/full")?.write(b"x")
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let not_written = |error: io::Error| Fault::of(is_ours(&error), error);
        let error = copy(&mut &b"bytes"[..], &mut Full, not_written).unwrap_err();
        assert!(matches!(error, Fault::Ours(_)), "{error:?}");
        // What breaks off does so however often it is read.
        let mut archive = packed(&[("Default/Cookies", EntryType::Regular, &[1; 4000])]);
        archive.truncate(2000);
        let folder = tempfile::tempdir().unwrap();
        let error = unpack(&*archive, folder.path()).unwrap_err();
        assert!(matches!(error, Fault::Bytes(_)), "{error:?}");
        // Nor can a file be a folder as well.
        let file = EntryType::Regular;
        let archive = packed(&[
            ("Default/Local Storage/a", file, b"x"),
            ("Default/Local Storage/a/b", file, b"x"),
        ]);
        let folder = tempfile::tempdir().unwrap();
        let error = unpack(&*archive, folder.path()).unwrap_err();
        assert!(matches!(error, Fault::Bytes(_)), "{error:?}");
    }

    /// Counts what is read of it.
    struct Counted<'a, R>(R, &'a mut u64);

    impl<R: Read> Read for Counted<'_, R> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(into)?;
            *self.1 += read as u64;
            Ok(read)
        }
    }

    /// A header as a stranger would write it.
    fn header(path: &str, kind: EntryType, size: u64) -> Vec<u8> {
        let mut header = Header::new_gnu();
        header.set_path(path).unwrap();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(0o644);
        header.set_cksum();
        header.as_bytes().to_vec()
    }

    fn attributes(kind: EntryType, text: &str) -> Vec<u8> {
        let mut bytes = header("x", kind, text.len() as u64);
        bytes.extend(text.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        bytes
    }

    #[test]
    fn no_description_of_a_file_is_taken_into_memory_however_long_it_says_to_be() {
        let long = 1 << 40;
        for kind in [EntryType::XHeader, EntryType::XGlobalHeader, EntryType::GNULongName] {
            let (folder, mut read) = (tempfile::tempdir().unwrap(), 0);
            let endless = header("x", kind, long);
            let endless = endless.chain(io::repeat(b'x')).take(64 << 20);
            let error = unpack(Counted(endless, &mut read), folder.path()).unwrap_err();
            let why = error.to_string();
            assert!(why.contains("found a longer description"), "{kind:?}: {why}");
            assert!(read < 64 << 10, "{kind:?}: {read} bytes were read");
        }
        // A file of which the parts are described one after the other, without an end.
        let mut sparse = header("Default/Cookies", EntryType::GNUSparse, 0);
        sparse[482] = 1;
        let mut sum = Header::new_old();
        sum.as_mut_bytes().copy_from_slice(&sparse);
        sum.set_cksum();
        let (folder, mut read) = (tempfile::tempdir().unwrap(), 0);
        let endless = sum.as_bytes().chain(io::repeat(1)).take(64 << 20);
        unpack(Counted(endless, &mut read), folder.path()).unwrap_err();
        assert!(read < 64 << 10, "{read} bytes were read");
    }

    #[test]
    fn no_file_is_larger_than_its_header_says() {
        let size = MOST_BYTES + (64 << 20);
        let mut archive = attributes(EntryType::XHeader, &format!("18 size={size}\n"));
        archive.extend(header("Default/Cookies", EntryType::Regular, 0));
        let folder = tempfile::tempdir().unwrap();
        let error = unpack(archive.chain(io::repeat(b'x')), folder.path()).unwrap_err();
        assert!(error.to_string().contains("found another size"), "{error}");
        assert_eq!(found(folder.path()), [""; 0]);
        // One that is as large as it says, and larger than is taken, is not begun.
        let large = header("Default/Cookies", EntryType::Regular, MOST_BYTES + 1);
        assert!(!unpack(large.chain(io::repeat(b'x')), folder.path()).unwrap());
        assert_eq!(found(folder.path()), [""; 0]);
    }

    #[test]
    fn an_archive_without_an_end_has_one() {
        // Files that are not wanted are passed over, but not for ever.
        let folder = tempfile::tempdir().unwrap();
        let cache = header("Default/Cache/x", EntryType::Regular, u64::MAX / 4);
        let mut archive = BoundedTar::new(cache.chain(io::repeat(b'x')), 1 << 20);
        let error = io::copy(&mut archive, &mut io::sink()).unwrap_err();
        insta::assert_snapshot!(error, @"expected an archive of at most 1048576 bytes, found more");
        let names = [("Default/Cookies", EntryType::Regular, &b"one"[..])];
        let exact = packed(&names);
        let mut archive = BoundedTar::new(&*exact, exact.len() as u64);
        assert_eq!(io::copy(&mut archive, &mut io::sink()).unwrap(), exact.len() as u64);
        assert!(unpack(&*exact, folder.path()).unwrap());
    }

    #[test]
    fn more_than_may_be_is_not_taken() {
        let file = EntryType::Regular;
        let names: Vec<String> =
            (0..=MOST_FILES).map(|at| format!("Default/Local Storage/{at}")).collect();
        let entries: Vec<_> = names.iter().map(|name| (&**name, file, &b""[..])).collect();
        let folder = tempfile::tempdir().unwrap();
        assert!(!unpack(&*packed(&entries), folder.path()).unwrap());
        assert_eq!(found(folder.path()).len(), MOST_FILES);
    }
}
