//! What the snapshots of a session name, for those who collect parts.
//!
//! The one idea: a place (the cookies of one site, one tab) holds the same part in most snapshots, so
//! what is written is from which snapshot to which it does. A snapshot writes a row for what changed,
//! and none for what was carried over.

use super::draft::Draft;
use crate::error::StoreError;
use crate::row::{CHUNK, places};
use baton_session::SessionId;
use sqlx::{AnyConnection, AssertSqlSafe, Row};
use std::collections::BTreeMap;

/// Notes what the snapshot with this ordinal names, the newest of its session: the spans of what it
/// no longer names end with the snapshot before it.
pub(super) async fn extend(
    connection: &mut AnyConnection,
    draft: &Draft,
    ordinal: i64,
) -> Result<(), StoreError> {
    let session = draft.snapshot.session;
    let open = fetch_open(connection, session).await?;
    let changed = |(place, part): &(&String, &String)| draft.places.get(*place) != Some(*part);
    let ended: Vec<&String> = open.iter().filter(changed).map(|(place, _)| place).collect();
    let begun = draft.places.iter().filter(|(place, part)| open.get(*place) != Some(*part));
    end(connection, session, &ended, ordinal - 1).await?;
    begin(connection, session, &begun.collect::<Vec<_>>(), ordinal).await
}

/// Removes the spans of a session in which no snapshot is left, and returns the parts in them: those
/// that may have lost their last name.
pub(super) async fn prune(
    connection: &mut AnyConnection,
    session: SessionId,
) -> Result<Vec<String>, StoreError> {
    let parts = sqlx::query_scalar(
        "delete from part_spans where session = $1 and until is not null and not exists (
             select 1 from snapshots where snapshots.session = part_spans.session
             and snapshots.ordinal between part_spans.since and part_spans.until
         )
         returning part",
    )
    .bind(session.to_string())
    .fetch_all(connection)
    .await?;
    Ok(parts)
}

/// The parts that the newest snapshot names, by place.
async fn fetch_open(
    connection: &mut AnyConnection,
    session: SessionId,
) -> Result<BTreeMap<String, String>, StoreError> {
    let sql = "select place, part from part_spans where session = $1 and until is null";
    let rows = sqlx::query(sql).bind(session.to_string()).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.try_get("place")?, row.try_get("part")?))).collect()
}

async fn end(
    connection: &mut AnyConnection,
    session: SessionId,
    ended: &[&String],
    until: i64,
) -> Result<(), StoreError> {
    for chunk in ended.chunks(CHUNK) {
        let sql = format!(
            "update part_spans set until = $1
             where session = $2 and until is null and place in ({})",
            places(3, chunk.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
        let query = query.bind(until).bind(session.to_string());
        let query = chunk.iter().fold(query, |query, place| query.bind(place.as_str()));
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

async fn begin(
    connection: &mut AnyConnection,
    session: SessionId,
    begun: &[(&String, &String)],
    since: i64,
) -> Result<(), StoreError> {
    for chunk in begun.chunks(CHUNK) {
        // Every row has the session and the ordinal, the first two values, then a place and a part.
        let row = |row: usize| format!("($1, $2, {})", places(3 + 2 * row, 2));
        let rows: Vec<String> = (0..chunk.len()).map(row).collect();
        let sql = format!(
            "insert into part_spans (session, since, place, part) values {}",
            rows.join(", ")
        );
        let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
        let query = query.bind(session.to_string()).bind(since);
        let query = chunk
            .iter()
            .fold(query, |query, (place, part)| query.bind(place.as_str()).bind(part.as_str()));
        query.execute(&mut *connection).await?;
    }
    Ok(())
}
