//! Sessions as rows: `create fetch list update delete`, one verb a file.
//!
//! Times are kept to the millisecond.

mod create;
mod delete;
mod fetch;
mod list;
mod update;

use crate::StoreError;
use crate::row::{flag, instant, word};
use baton_session::{Owner, Session, SessionId, SessionName};
use sqlx::Row;
use sqlx::any::AnyRow;

/// A query for whole sessions; the argument is what follows `from sessions`.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select id, name, description, owner, node, headed, lifecycle, created_at, updated_at \
             from sessions ",
            $rest
        )
    };
}
use select;

fn decode(row: &AnyRow) -> Result<Session, StoreError> {
    Ok(Session {
        id: word(row, "id")?,
        name: word::<SessionName>(row, "name")?,
        description: row.try_get("description")?,
        owner: word::<Owner>(row, "owner")?,
        node: word(row, "node")?,
        headed: flag(row, "headed")?,
        lifecycle: word(row, "lifecycle")?,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}

fn decode_all(rows: &[AnyRow]) -> Result<Vec<Session>, StoreError> {
    rows.iter().map(decode).collect()
}

fn not_found(id: SessionId) -> StoreError {
    StoreError::SessionNotFound { reference: id.to_string() }
}
