//! Sessions as rows: `create fetch list update adopt rename debug fail delete`, one verb a file; `mark`
//! tells whether they are others than before.
//!
//! Times are kept to the millisecond.

mod adopt;
mod create;
mod debug;
mod delete;
mod fail;
mod fetch;
mod list;
mod mark;
mod names;
mod rename;
mod update;

pub(crate) use create::insert;
pub(crate) use delete::delete;
pub use mark::SessionsMark;

use crate::error::StoreError;
use crate::row::{flag, instant, word};
use baton_session::{Owner, Session, SessionId, SessionName};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

/// A query for whole sessions; the argument is what follows `from sessions`.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select id, name, description, owner, node, headed, debug, lifecycle, created_at, \
             updated_at from sessions ",
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
        debug: flag(row, "debug")?,
        lifecycle: word(row, "lifecycle")?,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}

fn decode_all(rows: &[AnyRow]) -> Result<Vec<Session>, StoreError> {
    rows.iter().map(decode).collect()
}

/// The row of a session, of whatever owner and node.
pub(crate) async fn fetch_row(
    connection: &mut AnyConnection,
    id: SessionId,
) -> Result<Session, StoreError> {
    let row = sqlx::query(select!("where id = $1"))
        .bind(id.to_string())
        .fetch_optional(connection)
        .await?;
    decode(&row.ok_or_else(|| not_found(id))?)
}

fn not_found(id: SessionId) -> StoreError {
    StoreError::SessionNotFound { reference: id.to_string() }
}
