//! A flat CDP session: the browser itself, or one target that was attached.

use super::connection::Connection;
use super::error::CdpError;
use super::session_id::CdpSessionId;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// How long [`CdpSession::call`] waits for an answer.
pub const CALL_LIMIT: Duration = Duration::from_secs(10);

/// Where calls go: one flat session of one connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CdpSession {
    connection: Connection,
    id: Option<CdpSessionId>,
}

impl Connection {
    /// The browser itself.
    pub fn browser(&self) -> CdpSession {
        CdpSession { connection: self.clone(), id: None }
    }

    /// A target that was attached with `flatten: true`.
    pub fn session(&self, id: CdpSessionId) -> CdpSession {
        CdpSession { connection: self.clone(), id: Some(id) }
    }
}

impl CdpSession {
    /// Calls `method` and waits at most [`CALL_LIMIT`] for its result.
    pub async fn call<P: Serialize>(
        &self,
        method: &'static str,
        params: P,
    ) -> Result<Value, CdpError> {
        self.call_within(CALL_LIMIT, method, params).await
    }

    /// Calls `method` and waits at most `limit` for its result.
    pub async fn call_within<P: Serialize>(
        &self,
        limit: Duration,
        method: &'static str,
        params: P,
    ) -> Result<Value, CdpError> {
        let raw = self.call_raw(limit, method, params).await?;
        serde_json::from_str(raw.get()).map_err(|source| CdpError::Decode { method, source })
    }

    /// Calls `method` and returns its result as it came, for results that may hold lone surrogates.
    pub async fn call_raw<P: Serialize>(
        &self,
        limit: Duration,
        method: &'static str,
        params: P,
    ) -> Result<Box<RawValue>, CdpError> {
        let params =
            serde_json::to_string(&params).map_err(|source| CdpError::Encode { method, source })?;
        let call = self.connection.call(self.id.as_ref(), method, &params);
        tokio::time::timeout(limit, call).await.unwrap_or(Err(CdpError::TimedOut { method, limit }))
    }

    /// Sends a call and does not wait: an error reply is only logged, at debug level. One that cannot be
    /// sent ends the connection.
    pub fn post<P: Serialize>(&self, method: &'static str, params: P) {
        match serde_json::to_string(&params) {
            Ok(params) => self.connection.post(self.id.as_ref(), method, &params),
            Err(error) => self.connection.fail(method, &error.to_string()),
        }
    }

    /// The session's id; none for the browser itself.
    pub fn id(&self) -> Option<&CdpSessionId> {
        self.id.as_ref()
    }

    /// The connection that carries this session.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }
}
