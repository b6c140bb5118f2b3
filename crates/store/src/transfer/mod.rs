//! All rows of a database, carried to another one, whatever engine each has.
//!
//! The one idea: the copy shows one moment. Everything is read in one transaction that sees nothing
//! of what others write meanwhile, and counts only when all of it has arrived. Rows go in batches that are
//! bounded in rows and in bytes, for a part can have megabytes: each batch is measured before it is read. The
//! database says how large the next rows are, and we take as many as fit, or a single one that is larger.

mod tables;

use crate::config::{DatabaseUrl, Engine};
use crate::connect::{connect, tune_new};
use crate::error::{SOMEWHERE, StoreError};
use crate::master_key::create_private;
use crate::open::KNOWN;
use crate::row::{places, refuse_nul};
use crate::store::Store;
use crate::{copy, open, write};
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Connection, Row};
use std::path::Path;
use tables::{Column, Kind, TABLES, Table};

/// What an error calls the database of an open store.
const SOURCE: &str = "the database that is copied";

/// Writes all rows of the PostgreSQL database `from` into a new SQLite file of the newest schema, with
/// mode 0600, and syncs it.
pub(crate) async fn to_file(from: &mut AnyConnection, to: &Path) -> Result<(), StoreError> {
    let place = to.display().to_string();
    tune_new(from, Engine::Postgres).await?;
    let mut reading = from.begin_with(read(Engine::Postgres)).await?;
    let version = open::version(&mut reading, Engine::Postgres).await?;
    let mut file = new_file(to, version).await.map_err(|error| error.at(&place))?;
    let mut writing = file.begin().await?;
    copy_rows((&mut reading, SOMEWHERE), (&mut writing, &place), version).await?;
    writing.commit().await.map_err(|error| StoreError::from(error).at(&place))?;
    reading.rollback().await?;
    let migrated = open::apply(&mut file, Engine::Sqlite, KNOWN).await;
    migrated.map_err(|error| error.at(&place))?;
    file.close().await?;
    copy::sync(to)
}

/// Whether the rows of a backup can be put into the PostgreSQL database `to`: it is empty.
pub async fn refuse_filled(to: &DatabaseUrl) -> Result<(), StoreError> {
    let looked = async {
        let (mut server, _) = open::connect_to(to).await?;
        refuse_rows(&mut server).await?;
        Ok(server.close().await?)
    };
    looked.await.map_err(|error: StoreError| error.at(&to.to_string()))
}

impl Store {
    /// Copies every row into the PostgreSQL database `to`, in one transaction. One that is not empty
    /// is left alone.
    pub async fn copy_to(&self, to: &DatabaseUrl) -> Result<(), StoreError> {
        let place = to.to_string();
        let mut from = self.pool().acquire().await?;
        let mut reading = from.itself().begin_with(read(self.inner.engine)).await?;
        let copied = async {
            let (mut server, _) = open::connect_to(to).await?;
            tune_new(&mut server, Engine::Postgres).await?;
            let mut writing = server.begin_with(write::begin_statement(Engine::Postgres)).await?;
            // A node that opens the database meanwhile waits, and then makes no key of its own.
            write::lock(&mut *writing, Engine::Postgres, open::DATA_KEY_LOCK).await?;
            refuse_rows(&mut writing).await?;
            open::apply(&mut writing, Engine::Postgres, KNOWN).await?;
            copy_rows((&mut reading, SOURCE), (&mut writing, &place), KNOWN).await?;
            writing.commit().await?;
            Ok(server.close().await?)
        };
        copied.await.map_err(|error: StoreError| error.at(&place))?;
        Ok(reading.rollback().await?)
    }
}

/// Copies table after table. Each side has a name for errors.
async fn copy_rows(
    (from, source): (&mut AnyConnection, &str),
    (to, place): (&mut AnyConnection, &str),
    version: i64,
) -> Result<(), StoreError> {
    for table in &TABLES {
        let columns = table.columns(version);
        if columns.is_empty() {
            continue;
        }
        let mut batches = Batches::new(table, columns);
        while let Some(batch) = batches.next(from).await.map_err(|error| error.at(source))? {
            batch.insert(to).await.map_err(|error| error.at(place))?;
        }
    }
    Ok(())
}

/// How a transaction begins that sees one moment. SQLite's see nothing else.
fn read(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "begin",
        Engine::Postgres => "begin isolation level repeatable read, read only",
    }
}

/// A file with the tables of a version. It counts only when it is whole and synced, so until then
/// SQLite keeps no journal of it.
async fn new_file(path: &Path, version: i64) -> Result<AnyConnection, StoreError> {
    create_private(path)
        .map_err(|source| StoreError::NoAccess { path: path.to_owned(), source })?;
    let mut file = connect(&DatabaseUrl::Sqlite(path.to_owned()).options()?).await?;
    let settings = "pragma journal_mode = off; pragma synchronous = off";
    sqlx::raw_sql(settings).execute(&mut file).await?;
    open::apply(&mut file, Engine::Sqlite, version).await?;
    Ok(file)
}

/// Refuses a PostgreSQL database with a row of ours, or with tables of the same names that are not.
async fn refuse_rows(server: &mut AnyConnection) -> Result<(), StoreError> {
    let version = open::version(server, Engine::Postgres).await?;
    for table in &TABLES {
        let here: i64 = sqlx::query_scalar(
            "select count(*) from pg_tables
             where schemaname = current_schema() and tablename = $1",
        )
        .bind(table.name)
        .fetch_one(&mut *server)
        .await?;
        if here == 0 {
            continue;
        }
        if version == 0 {
            return Err(StoreError::NotOurs { place: SOMEWHERE.to_owned() });
        }
        let name = table.name;
        let sql = format!("select count(*) from (select 1 from {name} limit 1) as found");
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut *server).await?;
        if rows > 0 {
            return Err(StoreError::Filled { place: SOMEWHERE.to_owned(), table: name });
        }
    }
    Ok(())
}

/// The most rows of one batch. What SQLite takes for a statement grows with the square of its values.
const BATCH_ROWS: usize = 100;

/// The most bytes of one batch of more than one row.
const BATCH_BYTES: i64 = 4 << 20;

/// What is in one column of one row.
#[derive(Debug, Clone)]
enum Value {
    Text(Option<String>),
    Integer(Option<i64>),
    Bytes(Option<Vec<u8>>),
}

/// The rows of a table, from the first key to the last.
struct Batches<'a> {
    table: &'a Table,
    columns: Vec<Column>,
    /// The key of the last row that was read.
    last: Option<Vec<Value>>,
}

/// Rows of one table.
struct Batch<'a> {
    table: &'a Table,
    columns: &'a [Column],
    rows: Vec<Vec<Value>>,
}

impl<'a> Batches<'a> {
    /// The rows of `table`, which has these columns.
    fn new(table: &'a Table, columns: Vec<Column>) -> Self {
        Self { table, columns, last: None }
    }

    /// Reads the next rows; none when there are no more.
    async fn next(&mut self, from: &mut AnyConnection) -> Result<Option<Batch<'_>>, StoreError> {
        let fitting = self.measure(from).await?;
        if fitting == 0 {
            return Ok(None);
        }
        let sql = self.select(&names(&self.columns), fitting);
        let found = self.after_last(&sql).fetch_all(from).await?;
        let rows = found.iter().map(|row| decode(&self.columns, row)).collect::<Result<_, _>>();
        let rows: Vec<Vec<Value>> = rows?;
        self.last = rows.last().map(|row| row[..self.table.key].to_vec());
        Ok(Some(Batch { table: self.table, columns: &self.columns, rows }))
    }

    /// How many of the next rows fit into one batch.
    async fn measure(&self, from: &mut AnyConnection) -> Result<usize, StoreError> {
        let sizes = self.columns.iter().filter(|column| column.kind != Kind::Integer);
        let sizes = sizes.map(|column| format!("coalesce(octet_length({}), 0)", column.name));
        let sum = sizes.collect::<Vec<_>>().join(" + ");
        let sql = self.select(&format!("cast({sum} as bigint)"), BATCH_ROWS);
        let rows = self.after_last(&sql).fetch_all(from).await?;
        let (mut fitting, mut bytes) = (0, 0_i64);
        for row in &rows {
            bytes = bytes.saturating_add(row.try_get(0)?);
            if fitting > 0 && bytes > BATCH_BYTES {
                break;
            }
            fitting += 1;
        }
        Ok(fitting)
    }

    /// Selects from the rows behind the last one.
    fn select(&self, what: &str, limit: usize) -> String {
        let (table, key) = (self.table.name, names(&self.columns[..self.table.key]));
        let behind = match &self.last {
            Some(last) => format!("where ({key}) > ({})", places(1, last.len())),
            None => String::new(),
        };
        format!("select {what} from {table} {behind} order by {key} limit {limit}")
    }

    fn after_last(&self, sql: &str) -> Query<'static, Any, AnyArguments> {
        let query = sqlx::query(AssertSqlSafe(sql.to_owned()));
        self.last.iter().flatten().cloned().fold(query, bind)
    }
}

impl Batch<'_> {
    /// Writes the rows.
    async fn insert(self, to: &mut AnyConnection) -> Result<(), StoreError> {
        let (table, width) = (self.table.name, self.columns.len());
        let row = |number| format!("({})", places(1 + number * width, width));
        let rows = (0..self.rows.len()).map(row).collect::<Vec<_>>().join(", ");
        let names = names(self.columns);
        let sql = format!("insert into {table} ({names}) values {rows}");
        for (column, value) in self.rows.iter().flat_map(|row| self.columns.iter().zip(row)) {
            if let Value::Text(Some(text)) = value {
                refuse_nul(column.name, text)?;
            }
        }
        let query = sqlx::query(AssertSqlSafe(sql));
        self.rows.into_iter().flatten().fold(query, bind).execute(to).await?;
        Ok(())
    }
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
}

fn decode(columns: &[Column], row: &AnyRow) -> Result<Vec<Value>, StoreError> {
    let value = |column: &Column| {
        Ok(match column.kind {
            Kind::Text => Value::Text(row.try_get(column.name)?),
            Kind::Integer => Value::Integer(row.try_get(column.name)?),
            Kind::Bytes => Value::Bytes(row.try_get(column.name)?),
        })
    };
    columns.iter().map(value).collect()
}

fn bind(query: Query<'_, Any, AnyArguments>, value: Value) -> Query<'_, Any, AnyArguments> {
    match value {
        Value::Text(text) => query.bind(text),
        Value::Integer(number) => query.bind(number),
        Value::Bytes(bytes) => query.bind(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::new_file;
    use super::tables::{Kind, TABLES};
    use crate::config::{DatabaseUrl, Engine};
    use crate::connect::connect;
    use crate::open;
    use crate::open::KNOWN;
    use sqlx::{AnyConnection, Row};

    /// What SQLite says of the columns of all tables.
    const SQLITE: &str = "
        select t.name as tbl, c.name as col, lower(c.type) as kind, c.pk as key
        from sqlite_master as t, pragma_table_info(t.name) as c
        where t.type = 'table' and t.name <> '_sqlx_migrations'";

    /// And PostgreSQL. A column that counts by itself would have to be set after rows were put in.
    const POSTGRES: &str = "
        select cast(c.table_name as text) as tbl, cast(c.column_name as text) as col,
            c.data_type || case when c.is_identity = 'YES' or c.column_default like 'nextval%'
                then ' that counts' else '' end as kind,
            coalesce((select cast(k.ordinal_position as bigint)
                from information_schema.key_column_usage as k
                join information_schema.table_constraints as p using (constraint_name, table_name)
                where p.constraint_type = 'PRIMARY KEY' and k.table_name = c.table_name
                    and k.column_name = c.column_name), 0) as key
        from information_schema.columns as c
        where c.table_schema = current_schema() and c.table_name <> '_sqlx_migrations'";

    async fn found(connection: &mut AnyConnection, sql: &'static str) -> Vec<String> {
        let rows = sqlx::query(sql).fetch_all(connection).await.unwrap();
        let line = |row: &sqlx::any::AnyRow| {
            let word = |column| row.get::<String, _>(column).replace("bytea", "blob");
            format!("{}.{} {} {}", word("tbl"), word("col"), word("kind"), row.get::<i64, _>("key"))
        };
        let mut lines: Vec<_> = rows.iter().map(line).collect();
        lines.sort();
        lines
    }

    fn listed(version: i64) -> Vec<String> {
        let mut lines = Vec::new();
        for table in &TABLES {
            for (number, column) in table.columns(version).into_iter().enumerate() {
                let kind = match column.kind {
                    Kind::Text => "text",
                    Kind::Integer => "bigint",
                    Kind::Bytes => "blob",
                };
                let key = if number < table.key { number + 1 } else { 0 };
                lines.push(format!("{}.{} {kind} {key}", table.name, column.name));
            }
        }
        lines.sort();
        lines
    }

    #[tokio::test]
    async fn every_table_and_column_of_both_engines_is_listed() {
        sqlx::any::install_default_drivers();
        let folder = tempfile::tempdir().unwrap();
        for version in 1..=KNOWN {
            let path = folder.path().join(format!("{version}.db"));
            let mut sqlite = new_file(&path, version).await.unwrap();
            assert_eq!(found(&mut sqlite, SQLITE).await, listed(version), "SQLite, {version}");
            let server: DatabaseUrl = baton_postgres::create_database().unwrap().parse().unwrap();
            let mut postgres = connect(&server.options().unwrap()).await.unwrap();
            open::apply(&mut postgres, Engine::Postgres, version).await.unwrap();
            assert_eq!(
                found(&mut postgres, POSTGRES).await,
                listed(version),
                "PostgreSQL, {version}"
            );
        }
    }
}
