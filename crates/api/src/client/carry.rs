//! Operations that carry sessions out of a node and into it.

use super::{BROWSER_LIMIT, Client, ClientError};
use crate::{ExportSession, ExportView, ImportSession, ImportView};
use reqwest::Method;

impl Client {
    /// A session as a file; an active one is captured first. Needs the scope `reveal`.
    pub async fn export_session(
        &self,
        reference: &str,
        query: &ExportSession,
    ) -> Result<ExportView, ClientError> {
        let call = self.request(Method::GET, &["sessions", reference, "export"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).query(query)).await
    }

    /// Makes a session of a file.
    pub async fn import_session(&self, request: &ImportSession) -> Result<ImportView, ClientError> {
        let call = self.request(Method::POST, &["sessions", "import"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(request)).await
    }
}
