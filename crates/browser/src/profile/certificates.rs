//! Whom the browser of a profile trusts beside the list of its maker: `Default/ServerCertificate`
//! (`components/server_certificate_database/server_certificate_database.cc` in Chromium).
//!
//! The one idea: what we write bears a mark that Chromium keeps and does not look at, so that trust can
//! be taken back and what a person added by hand in this profile is left alone.

use super::sqlite::SqliteError;
use super::{ProfileError, create_folder, remove, sqlite};
use crate::plain;
use baton_session::Certificate;
use baton_session::certificate::MAX_CERTIFICATES;
use rusqlite::{Connection, params};
use std::io::ErrorKind;
use std::path::Path;
use std::{fs, io};

/// Its name in the folder of a profile.
pub(super) const NAME: &str = "ServerCertificate";
/// What may stand beside it.
const BESIDE: [&str; 4] = ["", "-journal", "-wal", "-shm"];
/// The version that is read and written.
const VERSION: i64 = 1;
/// The size of its pages, in bytes: that of Chromium's.
const PAGE: u32 = 4 << 10;

const SCHEMA: &str = "
    CREATE TABLE meta(key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR);
    INSERT INTO meta VALUES('mmap_status','-1'),('version','1'),('last_compatible_version','1');
    CREATE TABLE certificates(sha256hash_hex TEXT PRIMARY KEY,der_cert BLOB NOT NULL,trust_settings BLOB NOT NULL);
";

/// `CertificateMetadata { trust: { trust_type: TRUSTED } }`, without constraints
/// (`server_certificate_database.proto`). An authority so marked is an anchor; a server's certificate
/// counts for its own names.
const TRUSTED: &[u8] = &[0x0a, 0x02, 0x08, 0x03];
/// The same, and the number 1 in field 1000, which Chromium does not have.
const OURS: &[u8] = &[0x0a, 0x02, 0x08, 0x03, 0xc0, 0x3e, 0x01];

/// Why the database could not be read or written.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    #[error("expected a database of certificates, found a database without a table of them")]
    NoCertificates,
    #[error("expected certificates of version {VERSION}, found version {0}: use a newer Baton")]
    OtherVersion(i64),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        SqliteError::from(error).into()
    }
}

impl Error {
    /// Whether it is no such database at all, so that nothing is lost when it gives way.
    fn is_nothing(&self) -> bool {
        match self {
            Self::Sqlite(error) => !error.is_ours(),
            Self::NoCertificates => true,
            Self::OtherVersion(_) => false,
        }
    }

    fn at(self, action: &'static str, path: &Path) -> ProfileError {
        let kind = match &self {
            Self::Sqlite(error) if error.is_full() => ErrorKind::StorageFull,
            Self::Sqlite(error) if error.is_ours() => ErrorKind::Other,
            _ => ErrorKind::InvalidData,
        };
        ProfileError::new(action, path)(io::Error::new(kind, self.to_string()))
    }
}

/// What the profile of a person trusts.
#[derive(Debug, Default)]
pub(super) struct TrustedCertificates {
    /// The certificates that count without conditions, sorted.
    pub(super) certificates: Vec<Certificate>,
    /// How many entries are of another kind: distrusted, trusted for some names only, not readable, or
    /// more than a session has.
    pub(super) left: usize,
}

/// Whom the profile in this folder, one of several in a user data dir, trusts. Blocks on the disk.
pub(super) fn read_in(folder: &Path) -> Result<TrustedCertificates, ProfileError> {
    let path = folder.join(NAME);
    read(&path).map_err(|error| error.at("read", &path))
}

fn read(path: &Path) -> Result<TrustedCertificates, Error> {
    let Some(copy) = sqlite::open_copy(path)? else { return Ok(TrustedCertificates::default()) };
    expect_known(&copy.connection)?;
    let mut found = TrustedCertificates::default();
    let query = "select der_cert, trust_settings from certificates order by sha256hash_hex";
    let mut statement = copy.connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let trust = row.get_ref(1)?.as_blob().unwrap_or_default();
        let der = row.get_ref(0)?.as_blob().unwrap_or_default();
        let is_trusted = trust == TRUSTED || trust == OURS;
        let has_room = found.certificates.len() < MAX_CERTIFICATES;
        match Certificate::of_der(der.to_vec()) {
            Ok(certificate) if is_trusted && has_room => found.certificates.push(certificate),
            _ => found.left += 1,
        }
    }
    Ok(found)
}

/// Lets the browser of a profile, on which none runs now, trust exactly these, and whom a person added by
/// hand in it. A database that is damaged gives way to a new one. Blocks on the disk; nothing is synced,
/// for it is written again before each start.
pub fn write(profile: &Path, wanted: &[Certificate]) -> Result<(), ProfileError> {
    let folder = profile.join("Default");
    let path = folder.join(NAME);
    if path.symlink_metadata().is_ok() {
        match merge(&path, wanted) {
            Ok(()) => return Ok(()),
            Err(error) if error.is_nothing() => {
                tracing::warn!(path = %path.display(), %error, "certificates of a profile gave way");
                for end in BESIDE {
                    remove(&folder.join(format!("{NAME}{end}")))?;
                }
            }
            Err(error) => return Err(error.at("write", &path)),
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    create_folder(&folder)?;
    create(&path, wanted).map_err(|error| error.at("write", &path))
}

fn create(path: &Path, wanted: &[Certificate]) -> Result<(), Error> {
    let mut database = sqlite::create(path, PAGE)?;
    let step = database.transaction()?;
    step.execute_batch(SCHEMA)?;
    add(&step, wanted)?;
    Ok(step.commit()?)
}

fn merge(path: &Path, wanted: &[Certificate]) -> Result<(), Error> {
    fs::symlink_metadata(path)
        .and_then(|found| plain::expect_file(&found))
        .map_err(SqliteError::from)?;
    let mut database = sqlite::open(path)?;
    expect_known(&database)?;
    let step = database.transaction()?;
    step.execute("delete from certificates where trust_settings = ?1", [OURS])?;
    add(&step, wanted)?;
    Ok(step.commit()?)
}

fn add(step: &Connection, wanted: &[Certificate]) -> Result<(), Error> {
    let mut statement = step.prepare(
        "insert or replace into certificates(sha256hash_hex, der_cert, trust_settings) values(?1, ?2, ?3)",
    )?;
    for certificate in wanted {
        let hash = certificate.sha256().to_string();
        statement.execute(params![hash, certificate.der(), OURS])?;
    }
    Ok(())
}

fn expect_known(database: &Connection) -> Result<(), Error> {
    if !sqlite::has_table(database, "certificates")? || !sqlite::has_table(database, "meta")? {
        return Err(Error::NoCertificates);
    }
    match sqlite::version(database, "version")?.unwrap_or_default() {
        VERSION => Ok(()),
        found => Err(Error::OtherVersion(found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const AUTHORITY: &str =
        include_str!("../../../session/tests/it/fixtures/certificates/authority.pem");
    const SERVER: &str = include_str!("../../../session/tests/it/fixtures/certificates/server.pem");

    fn certificate(pem: &str) -> Certificate {
        pem.parse().unwrap()
    }

    /// The profile of a person who trusts a server.
    fn by_hand() -> TempDir {
        let profile = tempfile::tempdir().unwrap();
        write(profile.path(), &[certificate(SERVER)]).unwrap();
        database(&profile)
            .execute("update certificates set trust_settings = ?1", [TRUSTED])
            .unwrap();
        profile
    }

    fn database(profile: &TempDir) -> Connection {
        Connection::open(profile.path().join("Default").join(NAME)).unwrap()
    }

    fn found(profile: &TempDir) -> Vec<String> {
        let found = read_in(&profile.path().join("Default")).unwrap();
        found.certificates.iter().map(|one| one.view().subject.clone()).collect()
    }

    #[test]
    fn trust_is_taken_back_and_what_a_person_added_stays() {
        let profile = by_hand();
        write(profile.path(), &[certificate(AUTHORITY)]).unwrap();
        assert_eq!(found(&profile).len(), 2);
        write(profile.path(), &[]).unwrap();
        assert_eq!(found(&profile), ["CN=dev.test"]);
    }

    #[test]
    fn a_profile_without_trust_gets_no_file() {
        let profile = tempfile::tempdir().unwrap();
        write(profile.path(), &[]).unwrap();
        assert!(!profile.path().join("Default").exists());
    }

    #[test]
    fn a_database_that_is_none_gives_way_and_a_link_is_not_followed() {
        let profile = by_hand();
        let path = profile.path().join("Default").join(NAME);
        fs::write(&path, "no database").unwrap();
        write(profile.path(), &[certificate(AUTHORITY)]).unwrap();
        assert_eq!(found(&profile), ["O=Example, CN=Staging CA"]);
        let elsewhere = profile.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        let before = fs::read(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        write(profile.path(), &[certificate(SERVER)]).unwrap();
        assert_eq!(found(&profile), ["CN=dev.test"]);
        assert_eq!(fs::read(&elsewhere).unwrap(), before);
    }

    #[test]
    fn a_database_of_a_newer_browser_is_left_and_told() {
        let profile = by_hand();
        database(&profile)
            .execute("update meta set value = '2' where key = 'version'", [])
            .unwrap();
        let error = write(profile.path(), &[certificate(AUTHORITY)]).unwrap_err().to_string();
        let (_, what) = error.split_once("ServerCertificate: ").unwrap();
        insta::assert_snapshot!(what, @"expected certificates of version 1, found version 2: use a newer Baton");
    }

    #[test]
    fn trust_with_conditions_is_nobody_elses() {
        let profile = by_hand();
        // Trusted, for names of dev.test.
        let limited: &[u8] = b"\x0a\x02\x08\x03\x12\x0a\x0a\x08dev.test";
        database(&profile)
            .execute("update certificates set trust_settings = ?1", [limited])
            .unwrap();
        let found = read_in(&profile.path().join("Default")).unwrap();
        assert_eq!((found.certificates.len(), found.left), (0, 1));
    }
}
