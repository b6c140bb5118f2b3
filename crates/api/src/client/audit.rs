//! Reads the audit log.

use super::Client;
use super::error::ClientError;
use crate::audit::{AuditList, ListAudit};
use reqwest::Method;

impl Client {
    /// One page of the audit log, newest first: the caller's own entries, and those of every owner
    /// with the scope `admin`.
    pub async fn list_audit(&self, query: &ListAudit) -> Result<AuditList, ClientError> {
        self.fetch(self.request(Method::GET, &["audit"])?.query(query)).await
    }
}
