//! Operations on the snapshots of a session. A snapshot is named by its id or a unique prefix of it.

use super::error::ClientError;
use super::{BROWSER_LIMIT, Client};
use crate::history::{CompareSnapshots, DiffView, History, ListHistory, RollBack};
use crate::session::ResumeResult;
use reqwest::Method;

impl Client {
    /// One page of a session's snapshots, newest first.
    pub async fn list_history(
        &self,
        reference: &str,
        query: &ListHistory,
    ) -> Result<History, ClientError> {
        self.fetch(self.request(Method::GET, &["sessions", reference, "history"])?.query(query))
            .await
    }

    /// Captures a session, ends its browser, and brings it back from the snapshot `to`.
    pub async fn roll_back_session(
        &self,
        reference: &str,
        to: &str,
    ) -> Result<ResumeResult, ClientError> {
        let call = self.request(Method::POST, &["sessions", reference, "rollback"])?;
        let request = RollBack { to: to.to_owned() };
        self.fetch(call.timeout(BROWSER_LIMIT).json(&request)).await
    }

    /// What differs between the snapshots `a` and `b` of a session.
    pub async fn diff_snapshots(
        &self,
        reference: &str,
        a: &str,
        b: &str,
    ) -> Result<DiffView, ClientError> {
        let query = CompareSnapshots { a: a.to_owned(), b: b.to_owned() };
        self.fetch(self.request(Method::GET, &["sessions", reference, "diff"])?.query(&query)).await
    }
}
