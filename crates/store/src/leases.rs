//! Leases: which node holds a session, and in which term.

use crate::StoreError;
use baton_session::{SessionId, Term};
use sqlx::AnyConnection;

/// The term that runs, or ran last, for a session; none when nobody ever held it.
pub(crate) async fn current(
    connection: &mut AnyConnection,
    session: SessionId,
) -> Result<Option<Term>, StoreError> {
    let term = sqlx::query_scalar("select term from leases where session = $1")
        .bind(session.to_string())
        .fetch_optional(connection)
        .await?;
    Ok(term.map(Term::from_i64))
}
