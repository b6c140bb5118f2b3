//! The list of tables is what the migrations make, at every version and on both engines.

use super::new_file;
use super::tables::{Kind, TABLES};
use crate::config::{DatabaseUrl, Engine};
use crate::connect::connect;
use crate::migrate::{self, KNOWN};
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
        migrate::apply(&mut postgres, Engine::Postgres, version).await.unwrap();
        assert_eq!(found(&mut postgres, POSTGRES).await, listed(version), "PostgreSQL, {version}");
    }
}
