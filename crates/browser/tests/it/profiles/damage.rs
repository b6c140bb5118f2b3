//! Databases that are damaged, or of another kind than was expected: what of them is told.

use super::place::{Place, state};
use super::{read_plain, times};
use baton_browser::profile::compile::merge;
use std::fs;

type Change = fn(&mut Vec<u8>);

/// A store that says that it is of a version, and that others than that can read it or not.
fn of_version(version: u32, compatible: u32) -> Place {
    let place = Place::new();
    place.run(
        "Cookies",
        &format!(
            "update meta set value = '{version}' where key = 'version';
         update meta set value = '{compatible}' where key = 'last_compatible_version'"
        ),
    );
    place
}

#[test]
fn stores_of_other_versions_are_told() {
    insta::assert_snapshot!(of_version(22, 22).both(), @r"
    cookie all cookies: expected a cookie store of version 23 or 24, found version 22, which is too old: open the profile once in a browser of today
    could not use here/profile/Default/Cookies: expected a cookie store of version 24, found version 22: open the profile once in a browser of today, then merge
    ");
    insta::assert_snapshot!(of_version(25, 25).both(), @r"
    cookie all cookies: expected a cookie store of version 23 or 24, found version 25, which is too new: use a newer Baton
    could not use here/profile/Default/Cookies: expected a cookie store of version 23 or 24, found version 25, which is too new: use a newer Baton
    ");
    // Old enough for the browser to bring up to date, and new but written so that we can read it.
    let refused = [23, 25].map(|version| {
        let place = of_version(version, 23);
        assert_eq!(place.read(), "");
        assert_eq!(read_plain(&place.profile).state.cookies.len(), 1);
        place.merge()
    });
    insta::assert_snapshot!(refused.join("\n"), @r"
    could not use here/profile/Default/Cookies: expected a cookie store of version 24, found version 23: open the profile once in a browser of today, then merge
    could not use here/profile/Default/Cookies: expected a cookie store of version 23 or 24, found version 25, which is too new: use a newer Baton
    ");
}

#[test]
fn what_is_no_cookie_store_is_told() {
    let changes = [
        "drop table cookies",
        "drop table cookies; create view cookies as select 1 as host_key",
        "drop table meta",
        "drop table cookies; create table cookies(name, host_key as (printf('%.*c', 900000000, 'x')))",
        "alter table cookies drop column has_cross_site_ancestor",
    ];
    let lines = changes.map(|change| {
        let place = Place::new();
        place.run("Cookies", &format!("drop index cookies_unique_index; {change}"));
        place.both()
    });
    insta::assert_snapshot!(lines.join("\n\n"), @r"
    cookie all cookies: expected a cookie store of Chromium, found a database without a table of cookies
    could not use here/profile/Default/Cookies: expected a cookie store of Chromium, found a database without a table of cookies

    cookie all cookies: expected a cookie store of Chromium, found a database without a table of cookies
    could not use here/profile/Default/Cookies: expected a cookie store of Chromium, found a database without a table of cookies

    cookie all cookies: expected a cookie store of Chromium, found a database without a table of cookies
    could not use here/profile/Default/Cookies: expected a cookie store of Chromium, found a database without a table of cookies

    cookie all cookies: expected a cookie store of Chromium, found a database without a table of cookies
    could not use here/profile/Default/Cookies: expected a cookie store of Chromium, found a database without a table of cookies

    cookie all cookies: expected a whole SQLite database, found one that cannot be read: no such column: has_cross_site_ancestor
    could not use here/profile/Default/Cookies: expected a whole SQLite database, found one that cannot be read: no such column: has_cross_site_ancestor
    ");
}

#[test]
fn a_damaged_cookie_store_is_told() {
    let changes: [Change; 6] = [
        Vec::clear,
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes[0] ^= 1,
        |bytes| bytes[17] ^= 0xff,
        // The first page: where its rows begin. The others: what they are.
        |bytes| bytes[105..107].fill(0xff),
        |bytes| bytes.iter_mut().skip(4096).step_by(4096).for_each(|byte| *byte ^= 0x55),
    ];
    let lines = changes.map(|change| {
        let place = Place::new();
        place.change("Cookies", change);
        place.both()
    });
    insta::assert_snapshot!(lines.join("\n\n"), @r"
    cookie all cookies: expected a cookie store of Chromium, found a database without a table of cookies
    could not use here/profile/Default/Cookies: expected a cookie store of Chromium, found a database without a table of cookies

    cookie all cookies: expected a whole SQLite database, found one that cannot be read: database disk image is malformed
    could not use here/profile/Default/Cookies: expected a whole SQLite database, found one that cannot be read: database disk image is malformed

    cookie all cookies: expected a whole SQLite database, found one that cannot be read: file is not a database
    could not use here/profile/Default/Cookies: expected a whole SQLite database, found one that cannot be read: file is not a database

    cookie all cookies: expected a whole SQLite database, found one that cannot be read: file is not a database
    could not use here/profile/Default/Cookies: expected a whole SQLite database, found one that cannot be read: file is not a database

    cookie all cookies: expected a whole SQLite database, found it damaged: *** in database main *** Tree 1 page 1: free space corruption
    could not use here/profile/Default/Cookies: expected a whole SQLite database, found it damaged: *** in database main *** Tree 1 page 1: free space corruption

    cookie all cookies: expected a whole SQLite database, found it damaged: *** in database main *** Tree 4 page 4: btreeInitPage() returns error code 11
    could not use here/profile/Default/Cookies: expected a whole SQLite database, found it damaged: *** in database main *** Tree 4 page 4: btreeInitPage() returns error code 11
    ");
}

#[test]
fn a_damaged_leveldb_is_told() {
    let changes: [(&str, Change); 7] = [
        ("CURRENT", Vec::clear),
        ("CURRENT", |bytes| *bytes = b"MANIFEST-../../../etc/passwd\n".to_vec()),
        ("CURRENT", |bytes| *bytes = b"MANIFEST-000009\n".to_vec()),
        ("MANIFEST-000001", Vec::clear),
        ("MANIFEST-000001", |bytes| bytes[9] ^= 1),
        ("000002.ldb", |bytes| bytes.truncate(bytes.len() / 2)),
        ("000002.ldb", |bytes| bytes[20] ^= 1),
    ];
    let lines = changes.map(|(name, change)| {
        let place = Place::with_leveldb();
        place.change(&format!("Local Storage/leveldb/{name}"), change);
        place.both()
    });
    insta::assert_snapshot!(lines.join("\n\n"), @r"
    local_storage all localStorage: expected a whole LevelDB, found in here/profile/Default/Local Storage/leveldb/CURRENT no name of a manifest
    could not read the localStorage of here/profile: expected a whole LevelDB, found in here/profile/Default/Local Storage/leveldb/CURRENT no name of a manifest

    local_storage all localStorage: expected a whole LevelDB, found in here/profile/Default/Local Storage/leveldb/CURRENT no name of a manifest
    could not read the localStorage of here/profile: expected a whole LevelDB, found in here/profile/Default/Local Storage/leveldb/CURRENT no name of a manifest

    local_storage all localStorage: could not read or write here/profile/Default/Local Storage/leveldb/MANIFEST-000009: No such file or directory (os error 2)
    could not read the localStorage of here/profile: could not read or write here/profile/Default/Local Storage/leveldb/MANIFEST-000009: No such file or directory (os error 2)

    local_storage all localStorage: expected a whole LevelDB, found in here/profile/Default/Local Storage/leveldb/MANIFEST-000001 a manifest without an entry
    could not read the localStorage of here/profile: expected a whole LevelDB, found in here/profile/Default/Local Storage/leveldb/MANIFEST-000001 a manifest without an entry

    local_storage all localStorage: expected a whole LevelDB, found in here/profile/Default/Local Storage/leveldb/MANIFEST-000001 a record whose checksum is another
    could not read the localStorage of here/profile: expected a whole LevelDB, found in here/profile/Default/Local Storage/leveldb/MANIFEST-000001 a record whose checksum is another

    local_storage 1 damaged place: expected a whole LevelDB, found 131 bytes damaged, first in 000002.ldb a table without an index; what is behind was read, as a browser does: entries may be missing, or be older
    could not read the localStorage of here/profile: expected a whole LevelDB, found 131 bytes damaged, first in 000002.ldb a table without an index

    local_storage 1 damaged place: expected a whole LevelDB, found 148 bytes damaged, first in 000002.ldb a block whose checksum is another; what is behind was read, as a browser does: entries may be missing, or be older
    could not read the localStorage of here/profile: expected a whole LevelDB, found 148 bytes damaged, first in 000002.ldb a block whose checksum is another
    ");
    let place = Place::with_leveldb();
    fs::write(place.at("Local Storage/leveldb/000009.log"), [1, 2, 3, 4, 1, 0, 1, 9]).unwrap();
    insta::assert_snapshot!(place.both(), @r"
    local_storage 1 damaged place: expected a whole LevelDB, found 8 bytes damaged, first in 000009.log a record whose checksum is another; what is behind was read, as a browser does: entries may be missing, or be older
    could not read the localStorage of here/profile: expected a whole LevelDB, found 8 bytes damaged, first in 000009.log a record whose checksum is another
    ");
}

#[test]
fn a_damaged_database_of_local_storage_is_told() {
    let changes = [
        "update meta set value = '2' where key = 'last_compatible_version'",
        "delete from meta",
        "drop table maps",
        "update map_entries set value_compression_type = 7",
        "update map_entries set value_compression_type = 1",
        "update map_entries set key = x'07'",
        "update map_entries set map_id = 9",
    ];
    let mut lines = Vec::from(changes.map(|change| {
        let place = Place::new();
        place.run("LocalStorage", change);
        place.both()
    }));
    let place = Place::new();
    place.change("LocalStorage", |bytes| bytes.truncate(100));
    lines.push(place.both());
    insta::assert_snapshot!(lines.join("\n\n"), @r#"
    local_storage all localStorage: expected localStorage of version 1, found version "2", which this Baton does not know
    could not read the localStorage of here/profile: expected localStorage of version 1, found version "2", which this Baton does not know

    local_storage all localStorage: expected localStorage of version 1, found version "0", which this Baton does not know
    could not read the localStorage of here/profile: expected localStorage of version 1, found version "0", which this Baton does not know

    local_storage all localStorage: expected a database of localStorage, found none with a table "maps"
    could not read the localStorage of here/profile: expected a database of localStorage, found none with a table "maps"

    local_storage 1 entries: they are of a form that is not known
    could not read the localStorage of here/profile: 1 entries are of a form that this Baton does not know

    local_storage 1 entries: they are of a form that is not known
    could not read the localStorage of here/profile: 1 entries are of a form that this Baton does not know

    local_storage 1 entries: they are of a form that is not known
    could not read the localStorage of here/profile: 1 entries are of a form that this Baton does not know

    local_storage 1 entries: they are of a form that is not known
    could not read the localStorage of here/profile: 1 entries are of a form that this Baton does not know

    local_storage all localStorage: expected a whole SQLite database, found one that cannot be read: database disk image is malformed
    could not read the localStorage of here/profile: expected a whole SQLite database, found one that cannot be read: database disk image is malformed
    "#);
}

#[test]
fn a_cookie_that_cannot_be_opened_costs_itself() {
    let place = Place::new();
    place.run(
        "Cookies",
        "
        insert into cookies select 1, 'v11.test', '', name, '', cast('v11' || zeroblob(16) as blob),
            path, 0, 1, 0, 1, 0, 1, 1, -1, 2, 443, 1, 0, 1 from cookies where host_key = 'app.test';
        insert into cookies select 2, 'v99.test', '', name, '', cast('v99' || zeroblob(16) as blob),
            path, 0, 1, 0, 1, 0, 1, 1, -1, 2, 443, 1, 0, 1 from cookies where host_key = 'app.test';
        insert into cookies select 3, 'both.test', '', name, 'x', x'00', path, 0, 1, 0, 1, 0, 1, 1,
            -1, 2, 443, 1, 0, 1 from cookies where host_key = 'app.test';
        insert into cookies select 4, 'words.test', '', name, 'x', x'', path, 'soon', 1, 0, 1, 0, 1,
            1, -1, 2, 443, 1, 0, 1 from cookies where host_key = 'app.test';
        insert into cookies select 5, 'Upper.test', '', name, 'x', x'', path, 0, 1, 0, 1, 0, 1, 1,
            -1, 2, 443, 1, 0, 1 from cookies where host_key = 'app.test'",
    );
    insta::assert_snapshot!(place.read(), @r#"
    cookie Upper.test/ old: expected a lower-case ASCII host without a port as domain, found "Upper.test"
    cookie both.test/ old: expected a value or an encrypted one, not both, found something else
    cookie v11.test/ old: expected an unlocked keyring, found it locked; unlock it, as logging in to the desktop or starting the browser does, and try again
    cookie v99.test/ old: expected an encrypted value that begins with v10 or v11, found v99
    cookie words.test/ old: expected numbers where the schema has some, found something else
    "#);
    let read = read_plain(&place.profile).state;
    assert_eq!(read.cookies.iter().map(|c| &*c.name).collect::<Vec<_>>(), ["old"]);
    // They are the profile's: a merge leaves them as they are.
    merge(&state("new", "2"), &place.profile, times()).unwrap();
    assert_eq!(read_plain(&place.profile).left_out.losses().count(), 5);
}

#[test]
fn a_store_runs_nothing_of_its_own() {
    let place = Place::new();
    place.run(
        "Cookies",
        "
        create trigger greedy after insert on cookies begin delete from cookies; end",
    );
    merge(&state("new", "2"), &place.profile, times()).unwrap();
    assert_eq!(read_plain(&place.profile).state.cookies.len(), 2);
}

#[test]
fn a_page_that_is_reached_twice_is_told() {
    let place = Place::new();
    place.run(
        "Cookies",
        "
        insert into cookies with recursive numbers(n) as
            (select 1 union all select n + 1 from numbers where n < 300)
        select n, host_key, '', 'n' || n, 'v', x'', path, 0, 1, 0, 1, 0, 1, 1, -1, 2, 443, 1, 0, 1
            from numbers, cookies",
    );
    let root = "select rootpage from sqlite_master where name = 'cookies'";
    let store = rusqlite::Connection::open(place.at("Cookies")).unwrap();
    let root: u32 = store.query_row(root, [], |row| row.get(0)).unwrap();
    let root = usize::try_from(root).unwrap();
    drop(store);
    place.change("Cookies", |bytes| {
        let page = &mut bytes[(root - 1) * 4096..root * 4096];
        assert_eq!(page[0], 5, "a page with others below it");
        // Its last child is to be its first one as well.
        let first = usize::from(u16::from_be_bytes([page[12], page[13]]));
        page.copy_within(first..first + 4, 8);
    });
    insta::assert_snapshot!(place.both(), @r"
    cookie all cookies: expected a whole SQLite database, found it damaged: *** in database main *** Tree 4 page 4 cell 2: Rowid 272 out of order
    could not use here/profile/Default/Cookies: expected a whole SQLite database, found it damaged: *** in database main *** Tree 4 page 4 cell 2: Rowid 272 out of order
    ");
}

#[test]
fn values_that_are_compressed_take_no_more_than_is_said() {
    let place = Place::new();
    // Each takes 31 MB, and is no text.
    let value = zstd::encode_all(&vec![7; 31 << 20][..], 1).unwrap();
    let store = rusqlite::Connection::open(place.at("LocalStorage")).unwrap();
    let mut row = store.prepare("insert into map_entries values(1, 1, ?1, ?2)").unwrap();
    for number in 0..20_u8 {
        row.execute(rusqlite::params![[1, number], value]).unwrap();
    }
    drop(row);
    drop(store);
    insta::assert_snapshot!(place.both(), @r"
    local_storage all localStorage: expected at most 512 MiB of rows, found more
    could not read the localStorage of here/profile: expected at most 512 MiB of rows, found more
    ");
}
