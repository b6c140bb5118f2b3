//! Rows on their way from one database to another, in batches that are bounded in rows and in bytes.
//!
//! A part can have megabytes. So each batch is measured before it is read: the database says how
//! large the next rows are, and we take as many as fit, or a single one that is larger.

use super::tables::{Column, Kind, Table};
use crate::error::StoreError;
use crate::row::{places, refuse_nul};
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Row};

/// The most rows of one batch. What SQLite takes for a statement grows with the square of its values.
const BATCH_ROWS: usize = 100;

/// The most bytes of one batch of more than one row.
const BATCH_BYTES: i64 = 4 << 20;

/// What stands in one column of one row.
#[derive(Debug, Clone)]
enum Value {
    Text(Option<String>),
    Integer(Option<i64>),
    Bytes(Option<Vec<u8>>),
}

/// The rows of a table, from the first key to the last.
pub(super) struct Batches<'a> {
    table: &'a Table,
    columns: Vec<Column>,
    /// The key of the last row that was read.
    last: Option<Vec<Value>>,
}

/// Rows of one table.
pub(super) struct Batch<'a> {
    table: &'a Table,
    columns: &'a [Column],
    rows: Vec<Vec<Value>>,
}

impl<'a> Batches<'a> {
    /// The rows of `table`, which has these columns.
    pub(super) fn new(table: &'a Table, columns: Vec<Column>) -> Self {
        Self { table, columns, last: None }
    }

    /// Reads the next rows; none when there are no more.
    pub(super) async fn next(
        &mut self,
        from: &mut AnyConnection,
    ) -> Result<Option<Batch<'_>>, StoreError> {
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
    pub(super) async fn insert(self, to: &mut AnyConnection) -> Result<(), StoreError> {
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
