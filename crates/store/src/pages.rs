//! Who is signed in to the page of a cluster, as rows: `create find delete`.
//!
//! The one idea: any node may be asked, and the one at which a page was signed in may be gone, so the database says
//! which pages there are, and by its own clock for how long. It holds hashes of what opens them and nothing else that
//! does. A page is there as long as its key: one whose key was revoked is not found.

use crate::cluster::now;
use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::row::{CHUNK, instant, maybe_instant, places, refuse_nul, word};
use crate::store::Store;
use crate::write::{Write, lock};
use baton_session::Owner;
use jiff::Timestamp;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use std::collections::BTreeSet;
use std::time::Duration;

/// What is kept of a secret.
type Hash = [u8; 32];

/// A page that is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedInPage {
    /// The hash of the half that the browser keeps.
    pub cookie_hash: Hash,
    /// That of the half that the page keeps.
    pub value_hash: Hash,
    /// That of the secret of the key behind it.
    pub key_hash: Hash,
    /// The id of the key.
    pub key_id: String,
    /// Whose it is.
    pub owner: Owner,
    /// For whom a node made the key; none where somebody has it.
    pub person: Option<PersonOfPage>,
    /// When it ends, by the clock of the database.
    pub ends_at: Timestamp,
}

/// A person of a provider who is signed in to a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonOfPage {
    /// A hash of who they are.
    pub id: Hash,
    /// That of the rule that let them in.
    pub rule: Hash,
    /// When all their pages end, by the clock of the database.
    pub ends_at: Timestamp,
}

/// How many pages may be signed in at once. One more ends the one that ends first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// With one key.
    pub of_a_key: u32,
    /// In the whole cluster.
    pub in_all: u32,
}

/// All columns of a page.
const COLUMNS: &str =
    "cookie_hash, value_hash, key_hash, key_id, owner, person, rule, person_ends_at, ends_at";
/// That the key behind a page is good.
const HAS_KEY: &str =
    "exists (select 1 from api_keys where api_keys.secret_hash = page_sessions.key_hash
         and api_keys.revoked_at is null)";

impl Store {
    /// Signs a page of a cluster in. None when its key is gone; else how many others ended so that there is room.
    pub async fn create_page(
        &self,
        cluster: &str,
        page: &SignedInPage,
        limits: PageLimits,
    ) -> Result<Option<u64>, StoreError> {
        refuse_nul("the name of a cluster", cluster)?;
        refuse_nul("a key's id", &page.key_id)?;
        let mut write = self.write_pages(cluster).await?;
        let good: i64 = sqlx::query_scalar(
            "select count(*) from api_keys where secret_hash = $1 and revoked_at is null",
        )
        .bind(page.key_hash.as_slice())
        .fetch_one(write.connection())
        .await?;
        if good == 0 {
            return Ok(None);
        }
        let sql = format!(
            "delete from page_sessions where cluster = $1 and ends_at <= {}",
            now(self.inner.engine)
        );
        sqlx::query(AssertSqlSafe(sql)).bind(cluster).execute(write.connection()).await?;
        let of_key = make_room(&mut write, cluster, Some(&page.key_id), limits.of_a_key).await?;
        let of_all = make_room(&mut write, cluster, None, limits.in_all).await?;
        insert(write.connection(), cluster, page).await?;
        write.commit().await?;
        Ok(Some(of_key + of_all))
    }

    /// The page with this half, while it lasts.
    pub async fn find_page(
        &self,
        cluster: &str,
        cookie_hash: Hash,
    ) -> Result<Option<SignedInPage>, StoreError> {
        let sql = format!(
            "select {COLUMNS} from page_sessions
             where cookie_hash = $1 and cluster = $2 and ends_at > {} and {HAS_KEY}",
            now(self.inner.engine)
        );
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(cookie_hash.as_slice())
            .bind(cluster)
            .fetch_optional(self.pool())
            .await?;
        row.as_ref().map(decode).transpose()
    }

    /// A page that a person has by this rule, if there is one.
    pub async fn find_page_of(
        &self,
        cluster: &str,
        person: Hash,
        rule: Hash,
    ) -> Result<Option<SignedInPage>, StoreError> {
        let sql = format!(
            "select {COLUMNS} from page_sessions
             where person = $1 and rule = $2 and cluster = $3 and ends_at > {} and {HAS_KEY}
             order by ends_at desc limit 1",
            now(self.inner.engine)
        );
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(person.as_slice())
            .bind(rule.as_slice())
            .bind(cluster)
            .fetch_optional(self.pool())
            .await?;
        row.as_ref().map(decode).transpose()
    }

    /// Which of these pages, by their halves, are still there.
    pub async fn living_pages(
        &self,
        cluster: &str,
        cookie_hashes: &[Hash],
    ) -> Result<BTreeSet<Hash>, StoreError> {
        let mut living = BTreeSet::new();
        for chunk in cookie_hashes.chunks(CHUNK) {
            let sql = format!(
                "select cookie_hash from page_sessions
                 where cluster = $1 and ends_at > {} and {HAS_KEY} and cookie_hash in ({})",
                now(self.inner.engine),
                places(2, chunk.len())
            );
            let mut query = sqlx::query(AssertSqlSafe(sql)).bind(cluster);
            for hash in chunk {
                query = query.bind(hash.as_slice());
            }
            for row in query.fetch_all(self.pool()).await? {
                living.insert(hash(&row, "cookie_hash")?);
            }
        }
        Ok(living)
    }

    /// Signs a page out. False where it was not there.
    pub async fn delete_page(&self, cluster: &str, cookie_hash: Hash) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        let gone = sqlx::query("delete from page_sessions where cookie_hash = $1 and cluster = $2")
            .bind(cookie_hash.as_slice())
            .bind(cluster)
            .execute(write.connection())
            .await?;
        write.commit().await?;
        Ok(gone.rows_affected() > 0)
    }

    /// Signs out persons whom none of these rules let in; returns how many pages that were.
    pub async fn delete_pages_of_other_rules(
        &self,
        cluster: &str,
        rules: &BTreeSet<Hash>,
    ) -> Result<u64, StoreError> {
        let mut write = self.write_pages(cluster).await?;
        let sql = "select distinct rule from page_sessions where cluster = $1 and rule is not null";
        let rows = sqlx::query(sql).bind(cluster).fetch_all(&mut *write.connection()).await?;
        let found = rows.iter().map(|row| hash(row, "rule")).collect::<Result<Vec<_>, _>>()?;
        let mut gone = 0;
        for rule in found.into_iter().filter(|rule| !rules.contains(rule)) {
            let done = sqlx::query("delete from page_sessions where cluster = $1 and rule = $2")
                .bind(cluster)
                .bind(rule.as_slice())
                .execute(&mut *write.connection())
                .await?;
            gone += done.rows_affected();
        }
        write.commit().await?;
        Ok(gone)
    }

    /// Removes the keys of this age whose ids begin so and behind which there is no page any more; returns how many that
    /// were. It is for keys that nodes of a cluster make for the pages of people, by the clock of the database.
    pub async fn remove_keys_without_page(
        &self,
        cluster: &str,
        beginning: &str,
        age: Duration,
    ) -> Result<usize, StoreError> {
        refuse_nul("the beginning of a key's id", beginning)?;
        let length = i64::try_from(beginning.chars().count()).unwrap_or(i64::MAX);
        let mut write = self.write_pages(cluster).await?;
        let sql = format!(
            "delete from api_keys where substr(id, 1, cast($1 as integer)) = $2
             and created_at <= {now} - $3
             and not exists (select 1 from page_sessions
                 where page_sessions.key_id = api_keys.id and page_sessions.ends_at > {now})",
            now = now(self.inner.engine)
        );
        let gone = sqlx::query(AssertSqlSafe(sql))
            .bind(length)
            .bind(beginning)
            .bind(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
            .execute(write.connection())
            .await?;
        write.commit().await?;
        Ok(usize::try_from(gone.rows_affected()).unwrap_or(usize::MAX))
    }

    /// Begins a transaction that counts the pages of a cluster, or the keys without any: one after the other.
    async fn write_pages(&self, cluster: &str) -> Result<Write, StoreError> {
        let mut write = self.write().await?;
        let name = format!("pages of {cluster}");
        lock(write.connection(), self.inner.engine, &name).await?;
        Ok(write)
    }
}

/// Ends pages of a key, or of all, until there is room for one more; those first that end first.
async fn make_room(
    write: &mut Write,
    cluster: &str,
    key: Option<&str>,
    most: u32,
) -> Result<u64, StoreError> {
    let counted = match key {
        Some(_) => "cluster = $1 and key_id = $2",
        None => "cluster = $1 and $2 = ''",
    };
    let sql = format!(
        "delete from page_sessions where cookie_hash in (
             select cookie_hash from page_sessions where {counted}
             order by ends_at desc, cookie_hash limit {UNBOUNDED} offset $3)"
    );
    let kept = i64::from(most.saturating_sub(1));
    let gone = sqlx::query(AssertSqlSafe(sql))
        .bind(cluster)
        .bind(key.unwrap_or_default())
        .bind(kept)
        .execute(write.connection())
        .await?;
    Ok(gone.rows_affected())
}

/// SQLite takes no offset without a limit.
const UNBOUNDED: i64 = i64::MAX;

async fn insert(
    connection: &mut PooledConnection,
    cluster: &str,
    page: &SignedInPage,
) -> Result<(), StoreError> {
    let person = page.person.as_ref();
    sqlx::query(AssertSqlSafe(format!(
        "insert into page_sessions ({COLUMNS}, cluster) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
    )))
    .bind(page.cookie_hash.as_slice())
    .bind(page.value_hash.as_slice())
    .bind(page.key_hash.as_slice())
    .bind(&page.key_id)
    .bind(page.owner.as_str())
    .bind(person.map(|person| person.id.as_slice()))
    .bind(person.map(|person| person.rule.as_slice()))
    .bind(person.map(|person| person.ends_at.as_millisecond()))
    .bind(page.ends_at.as_millisecond())
    .bind(cluster)
    .execute(connection)
    .await?;
    Ok(())
}

fn decode(row: &AnyRow) -> Result<SignedInPage, StoreError> {
    let person = match maybe_instant(row, "person_ends_at")? {
        Some(ends_at) => {
            Some(PersonOfPage { id: hash(row, "person")?, rule: hash(row, "rule")?, ends_at })
        }
        None => None,
    };
    Ok(SignedInPage {
        cookie_hash: hash(row, "cookie_hash")?,
        value_hash: hash(row, "value_hash")?,
        key_hash: hash(row, "key_hash")?,
        key_id: row.try_get("key_id")?,
        owner: word(row, "owner")?,
        person,
        ends_at: instant(row, "ends_at")?,
    })
}

fn hash(row: &AnyRow, column: &'static str) -> Result<Hash, StoreError> {
    let bytes: Vec<u8> = row.try_get(column)?;
    bytes.try_into().map_err(|bytes: Vec<u8>| StoreError::InvalidRow {
        column,
        expected: "a hash of 32 bytes".to_owned(),
        found: format!("{} bytes", bytes.len()),
    })
}
