//! Operations that carry sessions out of a node and into it.

use super::error::ClientError;
use super::{BROWSER_LIMIT, Client};
use crate::carry::{
    ContextList, ExportSession, ExportView, ImportSession, ImportView, KeepContext,
};
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

    /// The contexts that clients made in a session's browser.
    pub async fn list_contexts(&self, reference: &str) -> Result<ContextList, ClientError> {
        self.fetch(self.request(Method::GET, &["sessions", reference, "contexts"])?).await
    }

    /// Makes a session of its own of what a context holds now.
    pub async fn keep_context(
        &self,
        reference: &str,
        request: &KeepContext,
    ) -> Result<ImportView, ClientError> {
        let call = self.request(Method::POST, &["sessions", reference, "contexts", "keep"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(request)).await
    }

    /// Makes a session of a file.
    pub async fn import_session(&self, request: &ImportSession) -> Result<ImportView, ClientError> {
        let call = self.request(Method::POST, &["sessions", "import"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(request)).await
    }
}
