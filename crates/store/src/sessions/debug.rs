//! Notes whether what a session's tabs do is recorded.

use super::{fetch_row, not_found};
use crate::error::StoreError;
use crate::store::Store;
use baton_session::{Session, SessionId};
use jiff::Timestamp;

impl Store {
    /// Notes whether what the tabs of a session do is recorded while its browser runs. Fails with
    /// `SessionNotFound`.
    pub async fn switch_debug(
        &self,
        id: SessionId,
        on: bool,
        at: Timestamp,
    ) -> Result<Session, StoreError> {
        let mut write = self.write().await?;
        let done = sqlx::query("update sessions set debug = $2, updated_at = $3 where id = $1")
            .bind(id.to_string())
            .bind(i64::from(on))
            .bind(at.as_millisecond())
            .execute(write.connection())
            .await?;
        if done.rows_affected() == 0 {
            return Err(not_found(id));
        }
        let after = fetch_row(write.connection(), id).await?;
        write.changes(id);
        write.commit().await?;
        Ok(after)
    }
}
